/** Measurements of what users wait for. */
@NullMarked
package io.settlestream.bench;

import org.jspecify.annotations.NullMarked;
