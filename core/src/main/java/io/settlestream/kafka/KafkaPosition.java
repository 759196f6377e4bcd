package io.settlestream.kafka;

import java.time.Instant;
import java.util.Objects;

/**
 * A place in a partition's log, worked out anew for each partition that it is applied to.
 *
 * <pre>{@code
 * KafkaPosition yesterday = KafkaPosition.timestamp(Instant.now().minus(Duration.ofDays(1)));
 * }</pre>
 *
 * @since 0.1.0
 */
public sealed interface KafkaPosition {

    /** At the oldest record that is still there. */
    static KafkaPosition earliest() {
        return new Earliest();
    }

    /** Behind the newest record. */
    static KafkaPosition latest() {
        return new Latest();
    }

    /**
     * At an offset, in every partition. One that is not in a partition's log counts as the nearest that is.
     *
     * @throws IllegalArgumentException if {@code offset} is negative
     */
    static KafkaPosition offset(long offset) {
        return new Offset(offset);
    }

    /** At the first record whose timestamp is not before {@code time}; behind the newest record if there is none. */
    static KafkaPosition timestamp(Instant time) {
        return new Timestamp(time);
    }

    /**
     * At the oldest record that is still there.
     *
     * @since 0.1.0
     */
    record Earliest() implements KafkaPosition {}

    /**
     * Behind the newest record.
     *
     * @since 0.1.0
     */
    record Latest() implements KafkaPosition {}

    /**
     * At an offset.
     *
     * @param offset not negative
     * @since 0.1.0
     */
    record Offset(long offset) implements KafkaPosition {

        public Offset {
            if (offset < 0) {
                throw new IllegalArgumentException("offsets begin at 0, but this one is " + offset
                        + ". Use KafkaPosition.earliest() for the oldest record or latest() for the end");
            }
        }
    }

    /**
     * At the first record that is not older than a moment.
     *
     * @param time compared with records' timestamps, to the millisecond
     * @since 0.1.0
     */
    record Timestamp(Instant time) implements KafkaPosition {

        public Timestamp {
            Objects.requireNonNull(time, "time");
        }
    }
}
