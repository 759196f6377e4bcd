@NullMarked
package io.settlestream.internal.lane;

import org.jspecify.annotations.NullMarked;
