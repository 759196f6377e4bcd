@NullMarked
package io.settlestream.codec;

import org.jspecify.annotations.NullMarked;
