package io.settlestream.kafka;

/**
 * Where a partition starts for which the group has no committed offset.
 *
 * @since 0.1.0
 */
public enum StartOffset {
    /**
     * Nothing but a committed offset will do: a partition without one fails the subscription, as Kafka's
     * {@code auto.offset.reset=none} does.
     */
    COMMITTED,
    /** At the oldest record that is still there. */
    EARLIEST,
    /** Behind the newest record. The default, as in Kafka's consumer. */
    LATEST
}
