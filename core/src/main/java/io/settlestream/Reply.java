package io.settlestream;

import java.util.Objects;

/**
 * What a {@link ReplyHandler} answers: a message whose acceptance by Kafka settles the delivery, or an outcome alone.
 *
 * @param <R> the reply's value
 * @since 0.1.0
 */
public sealed interface Reply<R> {

    /** Publishes {@code value}, then acks the delivery. */
    static <R> Reply<R> of(R value) {
        return new Publish<>(Message.of(value));
    }

    /** Publishes {@code message} with its key, headers, partition or topic, then acks the delivery. */
    static <R> Reply<R> message(Message<R> message) {
        return new Publish<>(message);
    }

    /** Publishes nothing and settles the delivery with {@code outcome}. */
    static <R> Reply<R> none(HandlerOutcome outcome) {
        return new None<>(outcome);
    }

    /** Publishes nothing; the record is done with. Short for {@code none(HandlerOutcome.ack())}. */
    static <R> Reply<R> ack() {
        return none(HandlerOutcome.ack());
    }

    /** Publishes nothing; the record comes back. Short for {@code none(HandlerOutcome.retry())}. */
    static <R> Reply<R> retry() {
        return none(HandlerOutcome.retry());
    }

    /** Publishes nothing; the record is settled. Short for {@code none(HandlerOutcome.drop())}. */
    static <R> Reply<R> drop() {
        return none(HandlerOutcome.drop());
    }

    /**
     * A message to publish before the delivery settles.
     *
     * @param message what to publish
     */
    record Publish<R>(Message<R> message) implements Reply<R> {
        public Publish {
            Objects.requireNonNull(message, "message");
        }
    }

    /**
     * No message.
     *
     * @param outcome what settles the delivery
     */
    record None<R>(HandlerOutcome outcome) implements Reply<R> {
        public None {
            Objects.requireNonNull(outcome, "outcome");
        }
    }
}
