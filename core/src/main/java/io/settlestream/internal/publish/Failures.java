package io.settlestream.internal.publish;

import io.settlestream.PublishException;
import io.settlestream.PublishException.Reason;
import io.settlestream.internal.health.SilencedException;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.RecordBatchTooLargeException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.jspecify.annotations.Nullable;

/** What the producer throws or reports, as a typed error. */
final class Failures {

    /** Where a failure came up, which tells apart what Kafka's exceptions do not. */
    enum Stage {
        /** In a call of the producer, on the publishing thread: the record was not handed over. */
        CALL,
        /** In a report, after the producer had taken the record. */
        REPORT
    }

    private Failures() {}

    static PublishException of(String topic, Throwable failure, Stage stage, boolean closed) {
        Reason reason = reason(failure, stage, closed);
        String shown = TopicName.shown(topic);
        return new PublishException(
                reason,
                topic,
                "A record for topic " + shown + " was not accepted: " + why(reason) + cause(failure),
                told(failure));
    }

    static PublishException closed(String topic) {
        return new PublishException(
                Reason.CLOSED,
                topic,
                "A record for topic " + TopicName.shown(topic) + " was not sent: " + why(Reason.CLOSED) + ".",
                null);
    }

    static PublishException notOpened(String topic, Throwable failure) {
        return new PublishException(
                Reason.NOT_ACCEPTED,
                topic,
                "A record for topic " + TopicName.shown(topic) + " was not sent: the producer could not be opened"
                        + cause(failure),
                failure);
    }

    /** The same interrupt as the exception of the language, with the thread's flag cleared as that exception wants it. */
    static InterruptedException interrupted(InterruptException kafkas) {
        Thread.interrupted();
        InterruptedException interrupted = new InterruptedException("interrupted while the producer waited");
        interrupted.initCause(kafkas);
        return interrupted;
    }

    private static Reason reason(Throwable failure, Stage stage, boolean closed) {
        boolean answered = false;
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            Reason reason = known(cause, stage);
            if (reason != null) {
                return reason;
            }
            answered |= cause instanceof ApiException;
        }
        // A producer that closes fails what it still holds with a bare KafkaException, and calls with an IllegalState.
        if (!answered && (closed || (stage == Stage.CALL && failure instanceof IllegalStateException))) {
            return Reason.CLOSED;
        }
        return Reason.NOT_ACCEPTED;
    }

    private static @Nullable Reason known(Throwable cause, Stage stage) {
        return switch (cause) {
            case RecordTooLargeException ignored -> Reason.TOO_LARGE;
            case RecordBatchTooLargeException ignored -> Reason.TOO_LARGE;
            case AuthorizationException ignored -> Reason.NOT_AUTHORIZED;
            case InvalidTopicException ignored -> Reason.ILLEGAL_TOPIC;
            case UnknownTopicOrPartitionException ignored -> Reason.UNKNOWN_TOPIC;
            case BufferExhaustedException ignored -> Reason.QUEUE_FULL;
            // A call waits for two things: room, which is the case above, and metadata. In a report it means that the
            // cluster did not answer.
            case TimeoutException ignored when stage == Stage.CALL -> Reason.UNKNOWN_TOPIC;
            default -> null;
        };
    }

    private static String why(Reason reason) {
        return switch (reason) {
            case TOO_LARGE ->
                "it is larger than the producer (max.request.size, buffer.memory) or the topic (max.message.bytes) allows";
            case NOT_AUTHORIZED -> "this client may not write to the topic";
            case ILLEGAL_TOPIC -> "the cluster does not take the topic's name";
            case UNKNOWN_TOPIC ->
                "the topic does not exist, or its metadata did not arrive within max.block.ms; create the topic, or see"
                        + " whether the cluster can be reached";
            case QUEUE_FULL ->
                "the producer's buffer stayed full for max.block.ms; raise buffer.memory, which should hold two batch.size"
                        + " for each partition that is written to";
            case CLOSED -> "the broker is closed, as the service is stopping";
            case NOT_ACCEPTED, DESTINATION, UNKNOWN_PARTITION, NOT_ENCODABLE ->
                "Kafka refused it, or did not answer in time";
        };
    }

    /** Kafka's own exceptions; what came from elsewhere, such as a partitioner, without its words. */
    private static Throwable told(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (!(cause instanceof KafkaException)) {
                return SilencedException.of(failure);
            }
        }
        return failure;
    }

    /** What Kafka says, which names topics, sizes and times. Others' messages may quote the record, so only their kind. */
    private static String cause(Throwable failure) {
        String kind = failure.getClass().getSimpleName();
        String message = failure instanceof KafkaException ? failure.getMessage() : null;
        return message == null ? " (" + kind + ")" : " (" + kind + ": " + message + ")";
    }
}
