package io.settlestream.internal.settle;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class BackoffTest {

    @Test
    @DisplayName("3.6: at once, then 50 ms doubling to 1 s")
    void defaults() {
        assertThat(millis(Backoff.DEFAULT, 8)).containsExactly(0, 50, 100, 200, 400, 800, 1_000, 1_000);
    }

    @Test
    @DisplayName("3.6: the wait never passes the longest one, whatever the attempt and the first wait")
    void neverLongerThanTheLongest() {
        for (Duration first : new Duration[] {Duration.ofNanos(1), Duration.ofMinutes(1), Duration.ofDays(100_000)}) {
            Backoff backoff = new Backoff(first, Duration.ofHours(1));
            long last = backoff.nanosAfter(1);
            assertThat(last).isZero();
            for (int attempt : new int[] {2, 3, 10, 33, 64, 65, 1_000, Integer.MAX_VALUE}) {
                long wait = backoff.nanosAfter(attempt);
                assertThat(wait)
                        .as("%s, attempt %d", first, attempt)
                        .isBetween(last, Duration.ofHours(1).toNanos());
                last = wait;
            }
        }
    }

    @Test
    @DisplayName("3.6: with no first wait every retry comes at once")
    void noWait() {
        assertThat(millis(new Backoff(Duration.ZERO, Duration.ofSeconds(1)), 5)).containsOnly(0);
    }

    private static long[] millis(Backoff backoff, int attempts) {
        return IntStream.rangeClosed(1, attempts)
                .mapToLong(attempt -> backoff.nanosAfter(attempt) / 1_000_000)
                .toArray();
    }
}
