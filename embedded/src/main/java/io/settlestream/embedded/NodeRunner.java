package io.settlestream.embedded;

import java.time.Duration;

/**
 * Runs one node, in this JVM or in a child of it. {@link KafkaNode} calls all but {@link #abortStart} one at a time and
 * only in a state that allows it.
 */
sealed interface NodeRunner permits JvmNode {

    /** Returns when the broker serves clients; after a failure nothing of it is left running. */
    void start(Duration timeout);

    /** Makes a {@link #start} that another thread is in fail soon; harmless if there is none. */
    void abortStart();

    /** Stops cleanly. When that takes longer than the timeout, fails, having ended what it can. */
    void stop(Duration timeout);

    /** Ends it within a bounded time, whatever state it is in; without {@code cleanly} the quickest way there is. */
    void close(boolean cleanly);

    /** Whether it was started, and has neither been stopped nor died since. */
    boolean alive();

    void kill();

    void pause();

    void resume();
}
