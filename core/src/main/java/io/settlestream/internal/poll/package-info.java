@NullMarked
package io.settlestream.internal.poll;

import org.jspecify.annotations.NullMarked;
