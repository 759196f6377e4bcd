package io.settlestream;

import java.time.Duration;
import java.util.Objects;
import java.util.function.Function;

/**
 * What settles a delivery whose handler threw an exception; under Tracked also one whose reply can never be published. An
 * {@link Error} is not asked about: it always fails the subscription.
 *
 * <pre>{@code
 * .onException(ExceptionPolicy.byCause(cause -> switch (cause) {
 *     case TimeoutException slow -> ExceptionPolicy.RETRY;
 *     case IllegalArgumentException bad -> ExceptionPolicy.DEAD_LETTER;
 *     default -> ExceptionPolicy.FAIL_FAST;
 * }))
 * }</pre>
 *
 * @since 0.1.0
 */
public sealed interface ExceptionPolicy {

    /** The record stays open and the service stops gracefully as failed. The default without {@link Mount#maxAttempts}. */
    ExceptionPolicy FAIL_FAST = Fixed.FAIL_FAST;

    /**
     * The record comes back, as if the handler had answered {@link HandlerOutcome#retry()}. The default with {@link
     * Mount#maxAttempts}. Refused under Auto.
     */
    ExceptionPolicy RETRY = Fixed.RETRY;

    /** The record is settled, logged and counted. */
    ExceptionPolicy DROP = Fixed.DROP;

    /** The record goes to the dead-letter topic, with the exception as the reason. Refused where no such topic is named. */
    ExceptionPolicy DEAD_LETTER = Fixed.DEAD_LETTER;

    /**
     * The record comes back after a delay, as if the handler had answered {@link HandlerOutcome#retryAfter}. Refused under
     * Auto.
     *
     * @throws IllegalArgumentException if the delay is negative
     */
    static ExceptionPolicy retryAfter(Duration delay) {
        return new RetryAfter(new HandlerOutcome.RetryAfter(delay));
    }

    /**
     * Chooses by what was thrown. A choice that the subscription has no way to follow, such as {@link #DEAD_LETTER} without
     * a dead-letter topic, counts as {@link #FAIL_FAST}; so does a choice that throws or is null. What was thrown
     * then has a suppressed exception that says so.
     *
     * @param choice called on the thread that settles the delivery, which it must not block
     */
    static ExceptionPolicy byCause(Function<? super Exception, ? extends ExceptionPolicy> choice) {
        return new ByCause(choice);
    }

    /** A policy that is the same whatever was thrown. */
    enum Fixed implements ExceptionPolicy {
        FAIL_FAST,
        RETRY,
        DROP,
        DEAD_LETTER
    }

    /**
     * The policy of {@link ExceptionPolicy#retryAfter}.
     *
     * @param outcome what it stands for
     */
    record RetryAfter(HandlerOutcome.RetryAfter outcome) implements ExceptionPolicy {
        @Override
        public String toString() {
            return "RETRY_AFTER(" + outcome.delay() + ")";
        }
    }

    /**
     * The policy of {@link ExceptionPolicy#byCause}.
     *
     * @param choice chooses
     */
    record ByCause(Function<? super Exception, ? extends ExceptionPolicy> choice) implements ExceptionPolicy {

        /** Needs a function. */
        public ByCause {
            Objects.requireNonNull(choice, "choice");
        }

        @Override
        public String toString() {
            return "BY_CAUSE";
        }
    }
}
