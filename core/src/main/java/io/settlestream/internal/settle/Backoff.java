package io.settlestream.internal.settle;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * How long a retried delivery waits: the second attempt comes at once, the third after {@code first}, then twice as long
 * each time up to {@code max}.
 */
public record Backoff(Duration first, Duration max) {

    public static final Backoff DEFAULT = new Backoff(Duration.ofMillis(50), Duration.ofSeconds(1));

    /** The wait between the attempt that just ended, counted from 1, and the next one; in nanoseconds. */
    public long nanosAfter(int attempt) {
        if (attempt <= 1) {
            return 0;
        }
        int doublings = Math.min(attempt - 2, 30);
        long least = TimeUnit.NANOSECONDS.convert(first);
        long most = TimeUnit.NANOSECONDS.convert(max);
        long wait = least << doublings;
        return wait < 0 || wait > most || wait >> doublings != least ? most : wait;
    }
}
