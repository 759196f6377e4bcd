/** A real Apache Kafka that runs in the same JVM. */
@NullMarked
package io.settlestream.embedded;

import org.jspecify.annotations.NullMarked;
