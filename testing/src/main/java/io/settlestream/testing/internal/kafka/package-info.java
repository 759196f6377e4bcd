/**
 * An Apache Kafka in this process: logs, groups, transactions, and the clients that see them.
 *
 * <p>State lives in {@link io.settlestream.testing.internal.kafka.Cluster} and is guarded by its lock, which is held for
 * single steps and never while something waits or while code of the application runs. Time, waiting and chance come from
 * the {@link io.settlestream.testing.internal.kafka.Host}.
 */
@NullMarked
package io.settlestream.testing.internal.kafka;

import org.jspecify.annotations.NullMarked;
