package io.settlestream.spi;

import java.time.Duration;
import java.time.Instant;

/**
 * The time an application lives by: every deadline, back-off, interval and timestamp of the framework comes from here.
 * Thread-safe.
 *
 * @since 0.1.0
 */
public interface TimeSource {

    /** A task that was scheduled. */
    interface Timer {
        /** Makes the task not run if it has not started; otherwise does nothing. */
        void cancel();
    }

    /** Nanoseconds that only ever grow, from an arbitrary origin; as {@link System#nanoTime()}. */
    long nanoTime();

    /** The wall clock. */
    Instant now();

    /** Runs a task once after a delay, on a thread of the time source; the task must be short and not block. */
    Timer schedule(Duration delay, Runnable task);
}
