package io.settlestream.embedded;

import org.jspecify.annotations.Nullable;

/**
 * Says that an embedded Kafka, or one of its nodes, could not do what was asked of it: which node, why, and what to do.
 *
 * <p>Arguments that can never work are refused with {@link IllegalArgumentException} instead, and calls that a node's
 * state does not allow with {@link IllegalStateException}.
 *
 * @since 0.1.0
 */
public final class EmbeddedKafkaException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    EmbeddedKafkaException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    /** The message of the innermost cause, which with Kafka is the one that says something. */
    static String rootMessage(Throwable failure) {
        Throwable root = failure;
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            root = cause;
        }
        String message = root.getMessage();
        return message == null || message.isBlank() ? root.getClass().getSimpleName() : message;
    }
}
