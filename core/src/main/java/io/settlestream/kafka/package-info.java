@NullMarked
package io.settlestream.kafka;

import org.jspecify.annotations.NullMarked;
