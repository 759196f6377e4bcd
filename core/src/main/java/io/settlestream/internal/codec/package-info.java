/** Finds the codec of a type that none was named for. */
@NullMarked
package io.settlestream.internal.codec;

import org.jspecify.annotations.NullMarked;
