package io.settlestream.embedded;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One broker, which is a controller too, of an {@link EmbeddedKafka}. A test uses it to take the broker away and to
 * bring it back on the same port with the same records.
 *
 * <pre>{@code
 *                 pause()
 *   running ------------------> paused
 *    |  ^   <------------------   |
 *    |  |        resume()         |
 *    |  | start()                 | kill()
 *    v  |                         |
 *   stopped <---------------------+
 *       stop() or kill()
 * }</pre>
 *
 * <p>A call that the state does not allow throws {@link IllegalStateException}. Any thread may call; a call waits for
 * one that another thread has running on the same node.
 *
 * @since 0.1.0
 */
public final class KafkaNode {
    private enum State {
        STOPPED,
        RUNNING,
        PAUSED,
        CLOSED
    }

    /** A clean stop hands over leadership, flushes and closes; the rest of the cluster may be busy with the same. */
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(20);

    private final NodeSpec spec;
    private final NodeRunner runner;
    private final Duration startTimeout;
    private final ReentrantLock lock = new ReentrantLock();
    private volatile State state = State.STOPPED;

    KafkaNode(NodeSpec spec, NodeRunner runner, Duration startTimeout) {
        this.spec = spec;
        this.runner = runner;
        this.startTimeout = startTimeout;
    }

    /**
     * The broker's id, which is also its index in {@link EmbeddedKafka#nodes()}: 0 for the first.
     *
     * @return the id that Kafka's clients see
     */
    public int id() {
        return spec.id();
    }

    /**
     * Where the broker listens, for {@code bootstrap.servers}. It stays the same when the node is started again.
     *
     * @return host and port, such as {@code 127.0.0.1:29092}
     */
    public String address() {
        return spec.address();
    }

    /**
     * Where the broker keeps its records.
     *
     * @return the directory, which is deleted on close if the cluster is temporary
     */
    public Path logDirectory() {
        return spec.logDirectory();
    }

    /**
     * Whether the node is there for clients: started, and neither stopped, killed nor paused since. A node that died of
     * itself is not running.
     *
     * @return whether the node runs now
     */
    public boolean running() {
        return state == State.RUNNING && runner.alive();
    }

    /**
     * Starts the node again, with the records it had, on the port it had, and returns when it serves clients. With
     * fewer than two other nodes of three running there is no quorum: then it waits for another to be started, so start
     * them with {@link EmbeddedKafka#startNodes()}.
     *
     * @throws IllegalStateException if it is running or paused, or the cluster is closed
     * @throws EmbeddedKafkaException if it does not get ready within the start timeout
     */
    public void start() {
        locked(() -> {
            if (state == State.CLOSED) {
                throw new IllegalStateException(this + " is closed with its cluster: start a new EmbeddedKafka.");
            }
            if (state == State.PAUSED || running()) {
                throw new IllegalStateException(this + " is " + describe() + " already.");
            }
            if (state == State.RUNNING) {
                state = State.STOPPED;
                runner.close(false); // it died of itself
            }
            runner.start(startTimeout);
            state = State.RUNNING;
        });
    }

    /**
     * Stops the node as an operator would: it hands its leaderships over, flushes its records and closes. Returns when
     * that is done, after at most 20 seconds. Does nothing on a node that is stopped already.
     *
     * @throws IllegalStateException if it is paused
     * @throws EmbeddedKafkaException if it does not stop in time; the node then counts as stopped
     */
    public void stop() {
        locked(() -> {
            if (state == State.PAUSED) {
                throw new IllegalStateException(
                        this + " is paused and cannot stop cleanly: resume() it, or kill() it.");
            }
            if (state == State.RUNNING) {
                state = State.STOPPED;
                runner.stop(STOP_TIMEOUT);
            }
        });
    }

    /**
     * Ends the node's process at once, with SIGKILL where there are signals: no leadership is handed over, nothing is
     * flushed, connections break. What it acknowledged is with the operating system and survives. Does nothing on a
     * node that is stopped already.
     *
     * @throws UnsupportedOperationException if the node runs in this JVM, see {@link EmbeddedKafka.Builder#asProcess()}
     */
    public void kill() {
        locked(() -> {
            if (state == State.RUNNING || state == State.PAUSED) {
                runner.kill();
                state = State.STOPPED;
            }
        });
    }

    /**
     * Freezes the node's process until {@link #resume()}: its connections stay open and nobody answers. Once the
     * session with the controller is over (2.5 seconds by default with three nodes), other nodes take its partitions.
     *
     * @throws UnsupportedOperationException if the node runs in this JVM, see {@link EmbeddedKafka.Builder#asProcess()},
     *     or on a system without POSIX signals
     * @throws IllegalStateException if it is not running
     */
    public void pause() {
        locked(() -> {
            if (state != State.RUNNING) {
                throw new IllegalStateException(this + " is " + describe() + ": only a running node can be paused.");
            }
            runner.pause();
            state = State.PAUSED;
        });
    }

    /**
     * Lets a paused node go on where it was.
     *
     * @throws IllegalStateException if it is not paused
     */
    public void resume() {
        locked(() -> {
            if (state != State.PAUSED) {
                throw new IllegalStateException(this + " is " + describe() + ": only a paused node can be resumed.");
            }
            runner.resume();
            state = State.RUNNING;
        });
    }

    /** Makes a {@link #start} that another thread is in fail soon. */
    void abortStart() {
        runner.abortStart();
    }

    /** Begins to end the node for good, with all others; see {@link NodeRunner#leave()}. */
    void leave() {
        runner.abortStart();
        locked(() -> {
            if (running()) {
                runner.leave();
            }
        });
    }

    /** Ends the node for good: cleanly where its records are kept, else the quickest way. */
    void close(boolean cleanly) {
        runner.abortStart();
        locked(() -> {
            State before = state;
            state = State.CLOSED;
            if (before == State.RUNNING || before == State.PAUSED) {
                runner.close(cleanly && before == State.RUNNING);
            }
        });
    }

    /** Whether {@link #start} would be legal now. */
    boolean startable() {
        return state == State.STOPPED || (state == State.RUNNING && !runner.alive());
    }

    private void locked(Runnable transition) {
        lock.lock();
        try {
            transition.run();
        } finally {
            lock.unlock();
        }
    }

    private String describe() {
        return state == State.RUNNING && !runner.alive() ? "dead" : state.name().toLowerCase(Locale.ROOT);
    }

    /** Such as {@code Kafka node 0 at 127.0.0.1:29092}. */
    @Override
    public String toString() {
        return spec.toString();
    }
}
