@NullMarked
package io.settlestream.internal.position;

import org.jspecify.annotations.NullMarked;
