@NullMarked
package io.settlestream;

import org.jspecify.annotations.NullMarked;
