package io.settlestream;

import io.settlestream.kafka.KafkaPosition;
import io.settlestream.kafka.RecordCopy;
import java.time.Instant;
import java.util.Optional;
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

    /** The topic the record was read from: the retry topic, for a record that has waited there. */
    String topic();

    /** The partition the record was read from. */
    int partition();

    /** The record's offset in its partition. */
    long offset();

    /** The record's timestamp, as Kafka stored it; of a record that has waited on a retry topic, its original one. */
    Instant timestamp();

    /** The record's key as it arrived, or null. The array is not copied: treat it as read-only. */
    byte @Nullable [] key();

    /**
     * The record's headers, read-only: adding or removing one throws an {@link IllegalStateException}. What the framework
     * added to a record that has waited on a retry topic is not among them; it is in {@link #origin}.
     */
    Headers headers();

    /**
     * Where the record came from, if it has waited on the subscription's retry topic; empty for a record from the topic that
     * is subscribed to.
     */
    Optional<RecordCopy> origin();

    /**
     * 1 for the first delivery of the record, one more after each attempt that failed. Goes on counting after a rebalance or
     * a restart as far as the failed attempts were committed with the position, and never counts an attempt that did not
     * fail; after a crash it may therefore be less than the number of calls.
     */
    int attempt();

    /**
     * True once nobody waits for this delivery's outcome any more: its partition was revoked or lost or moved by a seek, or
     * the service stopped without waiting longer. A blocked handler thread is interrupted at the same time, unless it has
     * asked for that seek itself; the outcome it still returns changes nothing.
     */
    boolean cancelled();

    /**
     * This record's place: a seek to it delivers the record again, unless it has waited on a retry topic, where no seek
     * goes.
     */
    KafkaPosition position();

    /**
     * Moves this record's partition to another place, as {@link SubscriptionControl#seek(String, int, KafkaPosition)} does.
     * It takes effect as soon as the subscription's own thread gets to it, so other records may be begun before. This
     * handler is not interrupted: {@link #cancelled()} tells it, and what it answers from then on changes nothing. An answer
     * given before that counts. Without effect when the delivery is not waited for any more, and, with a warning, for a
     * record that has waited on a retry topic: see {@link #origin}.
     */
    void seek(KafkaPosition position);

    /**
     * The subscription that made this delivery, to be moved or paused. Do not wait in a handler for a future that it gives:
     * what the future waits for may wait for the handler.
     */
    SubscriptionControl subscription();

    /** Publishes through the broker this delivery came from, with the broker's defaults. */
    Publisher publisher();
}
