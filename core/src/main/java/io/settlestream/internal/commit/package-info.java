@NullMarked
package io.settlestream.internal.commit;

import org.jspecify.annotations.NullMarked;
