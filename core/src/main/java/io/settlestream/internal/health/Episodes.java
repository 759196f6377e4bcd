package io.settlestream.internal.health;

import io.settlestream.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;

/**
 * Keeps a failure that repeats from flooding the log: reports the first, then at most one in each interval, with how
 * many there were. Thread-safe.
 */
public final class Episodes {

    private static final long INTERVAL_NANOS = Duration.ofSeconds(10).toNanos();

    private final TimeSource time;
    private final AtomicLong unreported = new AtomicLong();
    private final AtomicLong quietUntil;

    public Episodes(TimeSource time) {
        this.time = time;
        this.quietUntil = new AtomicLong(time.nanoTime());
    }

    /** Notes one failure; calls {@code report} with the number since the last report if it is time for one. */
    public void failed(LongConsumer report) {
        unreported.incrementAndGet();
        long now = time.nanoTime();
        long until = quietUntil.get();
        if (now - until >= 0 && quietUntil.compareAndSet(until, now + INTERVAL_NANOS)) {
            report.accept(unreported.getAndSet(0));
        }
    }
}
