package io.settlestream;

import java.util.concurrent.CompletableFuture;

/**
 * A started application. Thread-safe.
 *
 * @since 0.1.0
 */
public interface RunningApp extends AutoCloseable {

    /** How the application is doing now; also after it stopped. */
    Health health();

    /**
     * A subscription, to be moved or paused while it runs.
     *
     * @param name the subscription's name, which is its topic's unless the application says otherwise
     * @throws IllegalArgumentException if the application has no such subscription
     */
    SubscriptionControl subscription(String name);

    /** Completes when the application begins to stop, for whatever reason. */
    CompletableFuture<StopReason> stopping();

    /**
     * Begins a graceful stop, unless one has begun: fetching stops, running handlers and the reports they wait for are
     * drained for up to {@code shutdownTimeout}, published records are flushed for up to {@code flushTimeout}, positions
     * are committed, groups are left. Does not wait, so a handler may call it.
     *
     * @return completes when everything is closed, with the same result for everyone who asks; a future of the
     *     caller's own, so that completing or cancelling it changes nothing
     */
    CompletableFuture<ShutdownResult> shutdown();

    /** {@link #shutdown() Stops} and waits until everything is closed; from a handler or a hook it does not wait, which would be for itself. */
    @Override
    void close();

    /**
     * Why an application stops.
     *
     * @since 0.1.0
     */
    enum StopReason {
        /** {@link RunningApp#shutdown} or {@link RunningApp#close} was called. */
        REQUESTED,
        /** The process was told to end. */
        SIGNAL,
        /** A subscription failed. */
        FAILURE
    }
}
