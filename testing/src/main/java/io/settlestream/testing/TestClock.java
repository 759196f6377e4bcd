package io.settlestream.testing;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * The time of a test: virtual on the in-process Kafka, where it moves only as the test says and as a reaction needs it, and
 * real on a cluster. Thread-safe.
 *
 * @since 0.1.0
 */
public interface TestClock extends InstantSource {

    /** The time of the application, its Kafka and the test. */
    Instant now();

    @Override
    default Instant instant() {
        return now();
    }

    /**
     * Blocks a handler, or a fake that it calls, for a while of this time. In virtual time that takes no time, and
     * meanwhile other lanes go on. On a thread that is neither the application's nor one of its Kafka, such as the test's
     * own, time passes for all, as by {@link TestApp#advance}.
     *
     * @throws InterruptedException if the thread is interrupted, as a handler is whose delivery was given up
     */
    void sleep(Duration time) throws InterruptedException;

    /**
     * Completes after a while of this time: what an asynchronous handler, or a client that it calls, answers with. It
     * completes on a thread on which nothing may block.
     */
    default CompletableFuture<Void> after(Duration time) {
        return CompletableFuture.runAsync(
                () -> {}, CompletableFuture.delayedExecutor(time.toNanos(), TimeUnit.NANOSECONDS));
    }
}
