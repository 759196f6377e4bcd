package io.settlestream;

import java.util.concurrent.CompletionStage;

/**
 * Publishes messages through a broker's producer. A publish succeeds only when Kafka has accepted the record.
 *
 * <p>Thread-safe. The topic comes from {@link Outgoing} on the value's type, from the publishing site, or from
 * {@link Message#to}; exactly one of them must name it.
 *
 * @since 0.1.0
 */
public interface Publisher {

    /**
     * Publishes without waiting for Kafka's answer. Waits only for room in front of the producer.
     *
     * @return completes with what Kafka accepted, or with a {@link PublishException}; never on the producer's own
     *     thread, so that what is chained to it may block
     * @throws PublishException if the message can be refused at once: its topic, partition, size or value is not
     *     acceptable, the site's {@code queueTimeout} passed, the broker is closed, or the thread is interrupted while it
     *     waits for room (its interrupt status is set again)
     */
    CompletionStage<PublishedRecord> publish(Message<?> message);

    /** Publishes a value with nothing else. See {@link #publish(Message)}. */
    default CompletionStage<PublishedRecord> publish(Object value) {
        return publish(value instanceof Message<?> message ? message : Message.of(value));
    }

    /**
     * Publishes and waits until Kafka has accepted the record.
     *
     * @throws PublishException if Kafka did not accept it, or the message was refused before it was sent
     * @throws InterruptedException if the thread is interrupted while it waits; the record may still be written
     */
    PublishedRecord publishAndWait(Message<?> message) throws InterruptedException;

    /** Publishes a value with nothing else and waits. See {@link #publishAndWait(Message)}. */
    default PublishedRecord publishAndWait(Object value) throws InterruptedException {
        return publishAndWait(value instanceof Message<?> message ? message : Message.of(value));
    }
}
