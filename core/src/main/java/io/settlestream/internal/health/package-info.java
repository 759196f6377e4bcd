@NullMarked
package io.settlestream.internal.health;

import org.jspecify.annotations.NullMarked;
