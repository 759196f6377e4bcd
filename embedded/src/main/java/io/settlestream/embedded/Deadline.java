package io.settlestream.embedded;

import java.time.Duration;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/** The moment at which waiting ends, in {@link System#nanoTime()}. */
record Deadline(long nanos) {
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(20);

    /** Says what is still missing, or null when nothing is; an {@link ExecutionException} says it too. */
    interface Check {
        @Nullable
        String missing() throws ExecutionException, InterruptedException;
    }

    static Deadline in(Duration duration) {
        return new Deadline(System.nanoTime() + duration.toNanos());
    }

    Duration left() {
        return Duration.ofNanos(Math.max(0, nanos - System.nanoTime()));
    }

    /**
     * Returns once nothing is missing.
     *
     * @param failure begins the message of the exception, to which what was missing last is added
     */
    void await(String failure, Check check) {
        try {
            String missing = look(check);
            while (missing != null) {
                if (left().isZero()) {
                    throw new EmbeddedKafkaException(failure + " in time: " + missing + ".", null);
                }
                Thread.sleep(BETWEEN_LOOKS); // Kafka's state can only be asked for, it tells nobody of a change
                missing = look(check);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new EmbeddedKafkaException(failure + ": the thread that waited for it was interrupted.", e);
        }
    }

    private static @Nullable String look(Check check) throws InterruptedException {
        try {
            return check.missing();
        } catch (ExecutionException e) {
            return EmbeddedKafkaException.rootMessage(e);
        }
    }
}
