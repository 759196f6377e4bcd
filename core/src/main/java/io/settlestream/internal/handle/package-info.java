@NullMarked
package io.settlestream.internal.handle;

import org.jspecify.annotations.NullMarked;
