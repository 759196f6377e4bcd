package io.settlestream;

/**
 * How a handler answers one delivery. What an outcome does to the group's committed position is decided by the
 * subscription's {@link io.settlestream.kafka.Commit} mode.
 *
 * <p>Immutable; the same instances are handed out every time, so answering allocates nothing.
 *
 * @since 0.1.0
 */
public sealed interface HandlerOutcome extends BatchOutcome {

    /** The record is done: its offset is settled. */
    static HandlerOutcome ack() {
        return Ack.INSTANCE;
    }

    /** The record is not wanted: its offset is settled, nothing is published for it, and it does not come back. */
    static HandlerOutcome drop() {
        return Drop.INSTANCE;
    }

    /**
     * The record could not be handled now and comes back before the records behind it, with {@link Context#attempt()}
     * one higher. Under {@code Commit.auto()} this is unsupported: it is reported and the record does not come back.
     */
    static HandlerOutcome retry() {
        return Retry.INSTANCE;
    }

    /** The answer of a handler that is done. See {@link HandlerOutcome#ack()}. */
    enum Ack implements HandlerOutcome {
        INSTANCE;

        @Override
        public String toString() {
            return "ack";
        }
    }

    /** The answer of a handler that does not want the record. See {@link HandlerOutcome#drop()}. */
    enum Drop implements HandlerOutcome {
        INSTANCE;

        @Override
        public String toString() {
            return "drop";
        }
    }

    /** The answer of a handler that wants the record again. See {@link HandlerOutcome#retry()}. */
    enum Retry implements HandlerOutcome {
        INSTANCE;

        @Override
        public String toString() {
            return "retry";
        }
    }
}
