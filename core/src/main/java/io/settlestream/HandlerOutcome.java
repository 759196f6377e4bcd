package io.settlestream;

import java.time.Duration;
import java.util.Objects;

/**
 * How a handler answers one delivery. What an outcome does to the group's committed position is decided by the
 * subscription's {@link io.settlestream.kafka.Commit} mode.
 *
 * <p>Immutable; {@code ack}, {@code drop} and {@code retry} hand out the same instance every time and allocate nothing.
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

    /**
     * The record could not be handled now and comes back after a delay, while the records behind it go on; with {@link
     * Context#attempt()} one higher. Its offset stays open meanwhile, so nothing past it is committed; with {@link
     * Mount#retryTopic} a copy waits on that topic instead, and the offset is settled as soon as Kafka has accepted it.
     * Under {@code Commit.auto()} this is unsupported: it is reported and the record does not come back.
     *
     * @param delay how long it waits, at least; less than a millisecond counts as one
     * @throws IllegalArgumentException if the delay is negative
     */
    static HandlerOutcome retryAfter(Duration delay) {
        return new RetryAfter(delay);
    }

    /**
     * The record can never be handled: it goes to the subscription's dead-letter topic, and its offset is settled when
     * Kafka has accepted it there. Where {@link Mount#deadLetter} names no topic this counts as a thrown exception that says
     * so.
     *
     * @param reason why, for whoever looks at the dead letters; its first 1,000 characters are kept
     */
    static HandlerOutcome deadLetter(String reason) {
        return new DeadLetter(reason);
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

    /**
     * The answer of a handler that wants the record again later. See {@link HandlerOutcome#retryAfter}.
     *
     * @param delay how long it waits, at least
     */
    record RetryAfter(Duration delay) implements HandlerOutcome {

        /**
         * Checks the delay.
         *
         * @throws IllegalArgumentException if it is negative
         */
        public RetryAfter {
            if (delay.isNegative()) {
                throw new IllegalArgumentException("the delay of a retry must not be negative, but is " + delay);
            }
        }

        @Override
        public String toString() {
            return "retry after " + delay;
        }
    }

    /**
     * The answer of a handler that will never handle the record. See {@link HandlerOutcome#deadLetter}.
     *
     * @param reason why
     */
    record DeadLetter(String reason) implements HandlerOutcome {

        /** Needs a reason. */
        public DeadLetter {
            Objects.requireNonNull(reason, "reason");
        }

        /** Leaves the reason out, which may quote the record. */
        @Override
        public String toString() {
            return "dead letter";
        }
    }
}
