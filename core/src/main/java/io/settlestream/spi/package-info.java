@NullMarked
package io.settlestream.spi;

import org.jspecify.annotations.NullMarked;
