@NullMarked
package io.settlestream.it;

import org.jspecify.annotations.NullMarked;
