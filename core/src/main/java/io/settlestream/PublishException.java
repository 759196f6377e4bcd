package io.settlestream;

import org.jspecify.annotations.Nullable;

/**
 * A message was not accepted by Kafka, or was refused before it was sent.
 *
 * @since 0.1.0
 */
public final class PublishException extends SettleStreamException {

    private static final long serialVersionUID = 1L;

    /**
     * Why a message was not accepted.
     *
     * @since 0.1.0
     */
    public enum Reason {
        /** No topic is named, or more than one place names it. */
        DESTINATION(false),
        /** The name is not a legal topic name. */
        ILLEGAL_TOPIC(false),
        /** The topic does not exist, or its metadata did not arrive within {@code max.block.ms}. */
        UNKNOWN_TOPIC(true),
        /** The topic has no such partition. */
        UNKNOWN_PARTITION(false),
        /** The codec could not encode the value. */
        NOT_ENCODABLE(false),
        /** The record is larger than the producer or the topic allows. */
        TOO_LARGE(false),
        /** This client may not write to the topic. */
        NOT_AUTHORIZED(false),
        /** No room in front of the producer within the site's {@code queueTimeout}. */
        QUEUE_FULL(true),
        /** The broker's connection is closed; the service is stopping. */
        CLOSED(true),
        /** Kafka refused the record or did not answer in time; publishing again may help. */
        NOT_ACCEPTED(true);

        private final boolean canHeal;

        Reason(boolean canHeal) {
            this.canHeal = canHeal;
        }

        /** Whether publishing the same message again can succeed. */
        public boolean canHeal() {
            return canHeal;
        }
    }

    private final Reason reason;
    private final @Nullable String topic;

    public PublishException(Reason reason, @Nullable String topic, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.reason = reason;
        this.topic = topic;
    }

    /** The kind of failure. */
    public Reason reason() {
        return reason;
    }

    /** The topic the message was meant for, or null when none could be told. */
    public @Nullable String topic() {
        return topic;
    }
}
