package io.settlestream.embedded;

import java.time.Duration;

/**
 * Runs one node, in this JVM or in a child of it. {@link KafkaNode} calls all but {@link #abortStart} one at a time and
 * only in a state that allows it.
 */
sealed interface NodeRunner permits JvmNode, ProcessNode {

    /** Closing flushes and closes all files; a machine that is busy may take a while. */
    Duration CLOSE_TIMEOUT = Duration.ofSeconds(20);

    /** Returns when the broker serves clients; after a failure nothing of it is left running. */
    void start(Duration timeout);

    /** Makes a {@link #start} that another thread is in fail soon; harmless if there is none. */
    void abortStart();

    /** Stops cleanly. When that takes longer than the timeout, fails, having ended what it can. */
    void stop(Duration timeout);

    /**
     * Begins to close it with all other nodes: what needs the controllers of the others ends while they are there. That
     * is no more than a courtesy to the logs, so it may do nothing, and does not fail.
     */
    void leave();

    /** Ends it within a bounded time, whatever state it is in; without {@code cleanly} the quickest way there is. */
    void close(boolean cleanly);

    /** Whether it was started, and has neither been stopped nor died since. */
    boolean alive();

    void kill();

    void pause();

    void resume();

    /** Why a node that was not ready in time may not have been. */
    static String late(Duration timeout) {
        return "it was not ready within %s. Is the machine busy, or are too few nodes running for a quorum? startTimeout(...) gives it longer"
                .formatted(timeout);
    }
}
