package io.settlestream;

import java.time.Instant;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * What a handler may know about the delivery in its hands.
 *
 * <p>Valid until the delivery is settled; every method may be called from any thread.
 *
 * @param <S> the application's state, made by {@link App#onStartup}
 * @since 0.1.0
 */
public interface Context<S> {

    /** The application's state. */
    S state();

    /** The topic the record was read from. */
    String topic();

    /** The partition the record was read from. */
    int partition();

    /** The record's offset in its partition. */
    long offset();

    /** The record's timestamp, as Kafka stored it. */
    Instant timestamp();

    /** The record's key as it arrived, or null. The array is not copied: treat it as read-only. */
    byte @Nullable [] key();

    /** The record's headers, read-only: adding or removing one throws an {@link IllegalStateException}. */
    Headers headers();

    /** 1 for the first delivery in this assignment of the partition, one more for each retry. */
    int attempt();

    /**
     * True once nobody waits for this delivery's outcome any more: its partition was revoked or lost, or the service
     * stopped without waiting longer. A blocked handler thread is interrupted at the same time; the outcome it still
     * returns changes nothing.
     */
    boolean cancelled();

    /** Publishes through the broker this delivery came from, with the broker's defaults. */
    Publisher publisher();
}
