@NullMarked
package io.settlestream.internal.runtime;

import org.jspecify.annotations.NullMarked;
