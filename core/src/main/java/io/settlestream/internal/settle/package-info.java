@NullMarked
package io.settlestream.internal.settle;

import org.jspecify.annotations.NullMarked;
