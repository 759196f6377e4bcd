package io.settlestream.embedded;

import java.net.BindException;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A node in this JVM. Starting and stopping run on a thread of their own, so that a hanging server can be left behind. */
final class JvmNode implements NodeRunner {
    private static final Logger log = LoggerFactory.getLogger(JvmNode.class);

    /** For a server that failed to start there is no leadership to hand over. */
    private static final Duration AFTER_FAILURE = Duration.ofSeconds(1);

    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(20);

    private final NodeSpec spec;
    private volatile @Nullable FutureTask<NodeServer> starting;
    private volatile @Nullable NodeServer server;
    private volatile @Nullable Throwable fault;

    JvmNode(NodeSpec spec) {
        this.spec = spec;
    }

    @Override
    public void start(Duration timeout) {
        fault = null;
        var task = new FutureTask<>(this::startServer);
        starting = task;
        Thread thread = run(task, "start");
        try {
            server = task.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw notStarted(e);
        } catch (TimeoutException | CancellationException | InterruptedException e) {
            task.cancel(true);
            throw abandoned(thread, timeout, e);
        } finally {
            starting = null;
        }
    }

    private NodeServer startServer() throws Exception {
        var started = new NodeServer(spec, this::onFault);
        try {
            started.start();
            return started;
        } catch (Throwable e) {
            Thread.interrupted(); // an aborted start, which must not keep the rest from being closed
            started.stop(AFTER_FAILURE);
            throw e;
        }
    }

    private void onFault(Throwable failure) {
        fault = failure;
        log.atError()
                .addKeyValue("node", spec.id())
                .setCause(failure)
                .log("Embedded Kafka node met a fatal fault and is of no use until it is stopped and started again");
    }

    private EmbeddedKafkaException notStarted(ExecutionException cause) {
        Throwable first = fault == null ? cause : fault;
        return new EmbeddedKafkaException(
                "Kafka node %d did not start on %s: %s.%s"
                        .formatted(spec.id(), spec.address(), EmbeddedKafkaException.rootMessage(first), hint(first)),
                cause);
    }

    private static String hint(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof BindException) {
                return " Another process listens there: set another port, or none to get a free one.";
            }
        }
        return "";
    }

    private EmbeddedKafkaException abandoned(Thread thread, Duration timeout, Exception reason) {
        join(thread, AFTER_FAILURE.multipliedBy(5));
        if (reason instanceof InterruptedException) {
            Thread.currentThread().interrupt();
        }
        String why = switch (reason) {
            case TimeoutException e ->
                "it was not ready within %s. Is the machine busy, or are too few nodes running for a quorum? startTimeout(...) gives it longer"
                        .formatted(timeout);
            case InterruptedException e -> "the thread that waited for it was interrupted";
            default -> "it was closed while it started";
        };
        return new EmbeddedKafkaException(
                "Kafka node %d did not start on %s: %s.".formatted(spec.id(), spec.address(), why), reason);
    }

    @Override
    public void abortStart() {
        FutureTask<NodeServer> task = starting;
        if (task != null) {
            task.cancel(true);
        }
    }

    @Override
    public void stop(Duration timeout) {
        NodeServer stopping = server;
        server = null;
        if (stopping == null) {
            return;
        }
        // Half of the time for handing over leadership, the rest for closing files and sockets.
        var task = new FutureTask<@Nullable Void>(() -> stopping.stop(timeout.dividedBy(2)), null);
        run(task, "stop");
        try {
            task.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException e) {
            task.cancel(true);
            throw new EmbeddedKafkaException(
                    "Kafka node %d at %s did not stop cleanly: %s. Its threads may still run until this JVM ends."
                            .formatted(
                                    spec.id(),
                                    spec.address(),
                                    e instanceof TimeoutException
                                            ? "it was not done within " + timeout
                                            : EmbeddedKafkaException.rootMessage(e)),
                    e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new EmbeddedKafkaException(
                    "Kafka node %d at %s is still stopping: the thread that waited for it was interrupted."
                            .formatted(spec.id(), spec.address()),
                    e);
        }
    }

    @Override
    public void close(boolean cleanly) {
        // Its records are of no use to anyone without cleanly, but files and sockets are closed all the same.
        stop(cleanly ? CLOSE_TIMEOUT : AFTER_FAILURE.multipliedBy(10));
    }

    @Override
    public boolean alive() {
        return server != null && fault == null;
    }

    @Override
    public void kill() {
        throw onlyAsProcess("killed hard");
    }

    @Override
    public void pause() {
        throw onlyAsProcess("paused");
    }

    @Override
    public void resume() {
        throw onlyAsProcess("resumed");
    }

    private UnsupportedOperationException onlyAsProcess(String what) {
        return new UnsupportedOperationException(
                "Kafka node %d at %s runs in this JVM and cannot be %s: that needs a process of its own. Build the cluster with asProcess()."
                        .formatted(spec.id(), spec.address(), what));
    }

    private Thread run(Runnable task, String what) {
        return Thread.ofPlatform()
                .daemon()
                .name("embedded-kafka-" + spec.id() + "-" + what)
                .start(task);
    }

    private static void join(Thread thread, Duration timeout) {
        try {
            thread.join(timeout);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
