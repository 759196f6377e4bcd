package io.settlestream.embedded;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A node in this JVM. Starting and stopping run on a thread of their own, so that a hanging server can be left behind. */
final class JvmNode implements NodeRunner {
    private static final Logger log = LoggerFactory.getLogger(JvmNode.class);

    /** An aborted start first winds itself up; what does not is left behind on its daemon threads. */
    private static final Duration ABORT_TIMEOUT = Duration.ofSeconds(5);

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
        var started = new NodeServer(spec.clusterId(), spec.brokerConfig(), this::onFault);
        try {
            started.start();
            return started;
        } catch (Throwable e) {
            Thread.interrupted(); // an aborted start, which must not keep the rest from being closed
            started.end();
            throw e;
        }
    }

    private void onFault(Throwable failure) {
        fault = failure;
        log.atError()
                .addKeyValue("node", spec.id())
                .setCause(failure)
                .log("Embedded Kafka node met a fatal fault and is of no use until it is stopped and started again");
        abortStart();
    }

    private EmbeddedKafkaException notStarted(ExecutionException cause) {
        return new EmbeddedKafkaException("%s did not start: %s.".formatted(spec, NodeServer.reason(cause)), cause);
    }

    private EmbeddedKafkaException abandoned(Thread thread, Duration timeout, Exception cause) {
        join(thread);
        if (cause instanceof InterruptedException) {
            Thread.currentThread().interrupt();
        }
        Throwable failure = fault;
        String why = failure != null
                ? NodeServer.reason(failure)
                : switch (cause) {
                    case TimeoutException e -> NodeRunner.late(timeout);
                    case InterruptedException e -> "the thread that waited for it was interrupted";
                    default -> "it was closed while it started";
                };
        return new EmbeddedKafkaException("%s did not start: %s.".formatted(spec, why), cause);
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
        try {
            onServer(timeout, stopping -> {
                stopping.stopBroker(NodeServer.HANDOVER);
                stopping.stopController();
            });
        } finally {
            server = null;
        }
    }

    @Override
    public void leave() {
        onServer(CLOSE_TIMEOUT, stopping -> stopping.stopBroker(NodeServer.HANDOVER));
    }

    @Override
    public void close(boolean cleanly) {
        // Without cleanly nobody needs its records, but its sockets and threads are ended all the same.
        try {
            onServer(CLOSE_TIMEOUT, NodeServer::end);
        } finally {
            server = null;
        }
    }

    private void onServer(Duration timeout, Consumer<NodeServer> how) {
        NodeServer stopping = server;
        if (stopping == null) {
            return;
        }
        var task = new FutureTask<@Nullable Void>(() -> how.accept(stopping), null);
        run(task, "stop");
        try {
            task.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw notStopped(EmbeddedKafkaException.rootMessage(e), e);
        } catch (TimeoutException e) {
            task.cancel(true);
            throw notStopped("it was not done within " + timeout, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw notStopped("the thread that waited for it was interrupted", e);
        }
    }

    private EmbeddedKafkaException notStopped(String why, Exception cause) {
        return new EmbeddedKafkaException(
                "%s did not stop cleanly: %s. Its threads may run until this JVM ends.".formatted(spec, why), cause);
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
                "%s runs in this JVM and cannot be %s: that needs a process of its own. Build the cluster with asProcess()."
                        .formatted(spec, what));
    }

    private Thread run(Runnable task, String what) {
        return Thread.ofPlatform()
                .daemon()
                .name("embedded-kafka-" + spec.id() + "-" + what)
                .start(task);
    }

    private static void join(Thread thread) {
        try {
            thread.join(ABORT_TIMEOUT);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
