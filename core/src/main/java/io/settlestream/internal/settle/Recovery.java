package io.settlestream.internal.settle;

import io.settlestream.internal.health.Counters;
import io.settlestream.internal.health.Episodes;
import io.settlestream.internal.health.FailureListener;
import io.settlestream.spi.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a subscription does for records that could not be handled, beyond running them again at once: gives them up after so
 * many attempts, sends them to the dead letters, lets them wait on a retry topic. Thread-safe.
 */
public final class Recovery {

    private static final Logger log = LoggerFactory.getLogger(Recovery.class);

    /** A handler that computes its delay may answer none for ever, and a record that always fails must not spin a core. */
    private static final Duration SHORTEST_DELAY = Duration.ofMillis(1);

    /** What the mount site has said. */
    public record Plan(
            @Nullable Integer maxAttempts,
            @Nullable String deadLetterTopic,
            @Nullable String retryTopic,
            @Nullable String group,
            boolean samePartition) {}

    private final String subscription;
    private final int maxAttempts;
    private final @Nullable CopyWriter deadLetters;
    private final @Nullable CopyWriter retries;
    private final Counters counters;
    private final Episodes givenUp;

    public Recovery(
            String subscription,
            Plan plan,
            CopyWriter.Sink sink,
            Counters counters,
            FailureListener failures,
            Scheduler scheduler) {
        this.subscription = subscription;
        this.maxAttempts = plan.maxAttempts() == null ? Integer.MAX_VALUE : plan.maxAttempts();
        this.counters = counters;
        this.givenUp = new Episodes(scheduler);
        this.deadLetters = plan.deadLetterTopic() == null
                ? null
                : new CopyWriter(
                        subscription,
                        "dead letter",
                        "dead letters",
                        new RecordCopies(plan.deadLetterTopic(), plan.group(), false),
                        sink,
                        counters.deadLettered,
                        counters.stale,
                        counters.failedCopies,
                        failures,
                        scheduler);
        this.retries = plan.retryTopic() == null
                ? null
                : new CopyWriter(
                        subscription,
                        "retry copy",
                        "retry copies",
                        new RecordCopies(plan.retryTopic(), plan.group(), plan.samePartition()),
                        sink,
                        counters.retryCopies,
                        counters.stale,
                        counters.failedCopies,
                        failures,
                        scheduler);
    }

    /** Whether there is a dead-letter topic. */
    public boolean hasDeadLetters() {
        return deadLetters != null;
    }

    /** Whether a delivery must not be tried any more: so many attempts at its record have failed before. */
    public boolean exhausted(Delivery delivery) {
        return delivery.attempt() > maxAttempts;
    }

    /** What is wrong, for as long as it is. Any thread. */
    public List<String> problems() {
        return Stream.of(deadLetters, retries)
                .filter(Objects::nonNull)
                .map(CopyWriter::problem)
                .filter(Objects::nonNull)
                .toList();
    }

    /** Whether the attempt that has just failed was the last one. */
    boolean wasLast(Delivery delivery) {
        return delivery.attempt() >= maxAttempts;
    }

    /**
     * Sends the record to the dead letters.
     *
     * @param attempts how many attempts have ended
     * @throws IllegalStateException if there is no such topic
     */
    Disposition deadLetter(Delivery delivery, int attempts, Reason reason) {
        if (deadLetters == null) {
            throw new IllegalStateException("subscription " + subscription + " has no dead-letter topic");
        }
        if (delivery.cancelled()) {
            counters.stale.increment();
            return Disposition.DONE;
        }
        deadLetters.write(delivery, attempts, reason, null);
        return Disposition.AWAITING_REPORT;
    }

    /**
     * Gives a record up that has met the cap.
     *
     * @param attempts how many attempts have ended
     */
    Disposition giveUp(Delivery delivery, int attempts, Reason reason) {
        if (deadLetters != null) {
            return deadLetter(delivery, attempts, reason);
        }
        if (!delivery.settle()) {
            counters.stale.increment();
            return Disposition.DONE;
        }
        counters.exhausted.increment();
        givenUp.failed(n -> log.atWarn()
                .addKeyValue("subscription", subscription)
                .addKeyValue("record", delivery)
                .addKeyValue("attempts", attempts)
                .addKeyValue("failure", reason.failure())
                .addKeyValue("records", n)
                .log("record given up after its last attempt and dropped, as no dead-letter topic is named;"
                        + " name one with deadLetter(...) to keep such records"));
        return Disposition.DONE;
    }

    /** Has a record run again after a delay, which is a millisecond at least. */
    Disposition later(Delivery delivery, Duration asked, Reason reason) {
        Duration delay = asked.compareTo(SHORTEST_DELAY) < 0 ? SHORTEST_DELAY : asked;
        if (retries != null) {
            retries.write(delivery, delivery.attempt(), reason, delay);
            return Disposition.AWAITING_REPORT;
        }
        return new Disposition.Later(nanos(delay));
    }

    private static long nanos(Duration delay) {
        // Half of what the clock can tell apart: a due time must be comparable.
        long most = Long.MAX_VALUE / 2;
        return delay.compareTo(Duration.ofNanos(most)) < 0 ? delay.toNanos() : most;
    }
}
