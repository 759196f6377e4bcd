/** JSON codec on Jackson 3. */
@NullMarked
package io.settlestream.jackson;

import org.jspecify.annotations.NullMarked;
