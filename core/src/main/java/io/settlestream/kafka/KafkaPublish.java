package io.settlestream.kafka;

import io.settlestream.Context;
import io.settlestream.Message;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A publishing site: where and how its messages are published. Immutable: every method that sets something returns a
 * new value. All sites of a broker share one producer.
 *
 * @since 0.1.0
 */
public final class KafkaPublish {

    /**
     * Changes a reply before it is published: its headers, key, partition or topic. A topic that it sets counts more than
     * that of the reply's type ({@link io.settlestream.Outgoing}), of the site and of the handler's own message.
     *
     * @since 0.1.0
     */
    @FunctionalInterface
    public interface Transform {

        /**
         * Gives the message to publish in the place of a reply.
         *
         * @param reply what the handler answered
         * @param delivery the delivery it answers
         * @return what is published instead
         */
        Message<?> apply(Message<?> reply, Context<?> delivery);
    }

    private static final KafkaPublish DEFAULTS = new KafkaPublish(null, null, false, null);

    private final @Nullable String topic;
    private final @Nullable Duration queueTimeout;
    private final boolean awaitReport;
    private final @Nullable Transform transform;

    private KafkaPublish(
            @Nullable String topic,
            @Nullable Duration queueTimeout,
            boolean awaitReport,
            @Nullable Transform transform) {
        this.topic = topic;
        this.queueTimeout = queueTimeout;
        this.awaitReport = awaitReport;
        this.transform = transform;
    }

    /** A site whose topic is named by {@link io.settlestream.Outgoing} on the message type, or by each message. */
    public static KafkaPublish create() {
        return DEFAULTS;
    }

    /** A site that publishes to {@code topic}. Refused for a message type that names its own topic. */
    public static KafkaPublish to(String topic) {
        return new KafkaPublish(Objects.requireNonNull(topic, "topic"), null, false, null);
    }

    /**
     * Bounds the wait for room in front of the producer; without it a publish waits as long as it takes, which slows
     * the handler down to what the cluster accepts.
     *
     * @throws IllegalArgumentException if the time is negative
     */
    public KafkaPublish queueTimeout(Duration queueTimeout) {
        if (queueTimeout.isNegative()) {
            throw new IllegalArgumentException("queueTimeout must not be negative, but is " + queueTimeout);
        }
        return new KafkaPublish(topic, queueTimeout, awaitReport, transform);
    }

    /**
     * Makes a reply's lane wait until Kafka has accepted it. Without this, lanes go on while reports are on their way,
     * and the order of replies holds unless a report fails. Refused at startup for a publisher, which has no replies.
     */
    public KafkaPublish awaitReport() {
        return new KafkaPublish(topic, queueTimeout, true, transform);
    }

    /** Changes each reply before it is published. What it throws is treated as thrown by the handler. */
    public KafkaPublish transform(Transform transform) {
        return new KafkaPublish(topic, queueTimeout, awaitReport, Objects.requireNonNull(transform, "transform"));
    }

    /** The topic, if the site names one. */
    public Optional<String> topic() {
        return Optional.ofNullable(topic);
    }

    /** The bound on the wait for room, if there is one. */
    public Optional<Duration> queueTimeout() {
        return Optional.ofNullable(queueTimeout);
    }

    /** Whether a reply's lane waits for the report. */
    public boolean awaitsReport() {
        return awaitReport;
    }

    /** What changes each reply, if anything. */
    public Optional<Transform> transform() {
        return Optional.ofNullable(transform);
    }
}
