package io.settlestream.internal.runtime;

import io.settlestream.App;
import io.settlestream.Health;
import io.settlestream.RunningApp;
import io.settlestream.ServiceFailedException;
import io.settlestream.ShutdownResult;
import io.settlestream.StartupException;
import io.settlestream.kafka.ClosedKafkaBroker;
import io.settlestream.spi.AppEnvironment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An application from its start to its end.
 *
 * <pre>
 *   check -> onStartup -> connect -> subscribe -> afterStartup -> ... running ...
 *         -> onShutdown -> drain -> flush -> commit and leave -> afterShutdown
 * </pre>
 *
 * A start that fails goes the second line from wherever it had come to. A stop has a thread of its own, so whoever asks
 * for it, a handler too, need not wait.
 */
public final class AppRuntime implements RunningApp {

    private static final Logger log = LoggerFactory.getLogger(AppRuntime.class);

    private final AppSpec spec;
    private final Object state;
    private final List<BrokerRuntime> brokers = new ArrayList<>();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private final AtomicBoolean stopBegun = new AtomicBoolean();
    private final CompletableFuture<StopReason> stopping = new CompletableFuture<>();
    private final CompletableFuture<ShutdownResult> stopped = new CompletableFuture<>();
    /** The thread that stops the application, once one does; shutdown hooks run on it. */
    private volatile @Nullable Thread stopper;

    private volatile Health.Status status = Health.Status.STARTING;

    /** Whether the start has succeeded: only then do shutdown hooks run. */
    private volatile boolean started;

    private AppRuntime(AppSpec spec, Object state) {
        this.spec = spec;
        this.state = state;
    }

    /** Starts an application; see {@link App#start()}. */
    public static AppRuntime start(AppSpec spec, AppEnvironment environment) {
        List<BrokerPlan> plans = check(spec);
        Object state;
        try {
            state = spec.makeState();
        } catch (Exception e) {
            throw new StartupException(spec.name(), List.of("onStartup failed: " + e), e);
        }
        AppRuntime app = new AppRuntime(spec, state);
        app.open(plans, environment);
        return app;
    }

    /** Runs an application until it has stopped; see {@link App#run()}. */
    public static ShutdownResult run(AppSpec spec, AppEnvironment environment) {
        AppRuntime app = start(spec, environment);
        Thread onSignal = Thread.ofPlatform().name("settlestream-signal").unstarted(() -> {
            app.stop(StopReason.SIGNAL);
            ShutdownResult unused = app.stopped.join();
        });
        Runtime.getRuntime().addShutdownHook(onSignal);
        ShutdownResult result = app.stopped.join();
        forget(onSignal);
        Throwable cause = app.failure.get();
        if (cause != null) {
            throw new ServiceFailedException(spec.name() + " stopped because it failed: " + cause.getMessage(), cause);
        }
        return result;
    }

    /** Runs an application as a program; see {@link App#main}. */
    public static void main(AppSpec spec, AppEnvironment environment) {
        int exit = 0;
        try {
            if (!run(spec, environment).clean()) {
                exit = 1;
            }
        } catch (StartupException e) {
            log.atError().setCause(e.getCause()).log(e.getMessage());
            exit = 1;
        } catch (ServiceFailedException e) {
            log.atError().setCause(e.getCause()).log(e.getMessage());
            exit = 1;
        }
        System.exit(exit);
    }

    /** After a stop that no signal asked for, the hook must not keep the application in memory. */
    private static void forget(Thread onSignal) {
        try {
            boolean unused = Runtime.getRuntime().removeShutdownHook(onSignal);
        } catch (IllegalStateException e) {
            log.atDebug().log("the JVM is going down already; its shutdown hook stays");
        }
    }

    private static List<BrokerPlan> check(AppSpec spec) {
        List<String> problems = new ArrayList<>();
        if (spec.name().isBlank()) {
            problems.add("the application has no name. Give one to SettleStream.app(...)");
        }
        if (spec.brokers().isEmpty()) {
            problems.add("the application has no broker. Add one with withBroker(...)");
        }
        List<BrokerPlan> plans = new ArrayList<>();
        for (BrokerSpec broker : spec.brokers()) {
            plans.add(BrokerPlan.check(spec, broker, problems));
        }
        if (!problems.isEmpty()) {
            throw new StartupException(spec.name(), problems, null);
        }
        return plans;
    }

    private void open(List<BrokerPlan> plans, AppEnvironment environment) {
        try {
            for (BrokerPlan plan : plans) {
                BrokerRuntime broker = new BrokerRuntime(plan, environment, state, this::failed);
                brokers.add(broker);
                broker.open();
            }
            for (BrokerRuntime broker : brokers) {
                broker.awaitAssignments();
            }
            for (App.Hook<Object> hook : spec.afterStartup()) {
                hook.run(state);
            }
        } catch (BrokerRuntime.StartFailure e) {
            throw startFailed(e.getMessage(), e.getCause() == null ? e : e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw startFailed("interrupted while it was starting", e);
        } catch (Throwable t) {
            throw startFailed(t.toString(), t);
        }
        started = true;
        if (status == Health.Status.STARTING) {
            status = Health.Status.RUNNING;
        }
        log.atInfo()
                .addKeyValue("app", spec.name())
                .addKeyValue("version", spec.version())
                .log("started");
        if (failure.get() != null) {
            stop(StopReason.FAILURE);
        }
    }

    private StartupException startFailed(@Nullable String what, Throwable cause) {
        StartupException startup =
                new StartupException(spec.name(), List.of(what == null ? cause.toString() : what), cause);
        failure.compareAndSet(null, cause);
        stop(StopReason.FAILURE);
        stopped.join().failure().filter(other -> !other.equals(cause)).ifPresent(startup::addSuppressed);
        return startup;
    }

    private void failed(Throwable cause) {
        if (failure.compareAndSet(null, cause)) {
            log.atError().addKeyValue("app", spec.name()).setCause(cause).log("failed, stopping");
        }
        if (started) {
            stop(StopReason.FAILURE);
        }
    }

    private void stop(StopReason reason) {
        if (!stopBegun.compareAndSet(false, true)) {
            return;
        }
        if (status != Health.Status.FAILED) {
            status = failure.get() == null ? Health.Status.STOPPING : Health.Status.FAILED;
        }
        Thread thread = Thread.ofPlatform()
                .name("settlestream-stop-" + spec.name())
                .unstarted(() -> {
                    // What users chain to it must not hold up the stop.
                    Thread.startVirtualThread(() -> stopping.complete(reason));
                    ShutdownResult result;
                    try {
                        result = shutDown();
                    } catch (Throwable t) {
                        failure.compareAndSet(null, t);
                        result = new ShutdownResult(List.of(), Optional.of(t));
                    }
                    status = failure.get() == null ? Health.Status.STOPPED : Health.Status.FAILED;
                    log.atInfo()
                            .addKeyValue("app", spec.name())
                            .addKeyValue("reason", reason)
                            .log("stopped");
                    stopped.complete(result);
                });
        stopper = thread;
        thread.start();
    }

    private ShutdownResult shutDown() {
        List<Throwable> problems = new ArrayList<>();
        if (started) {
            runHooks("onShutdown", spec.onShutdown(), problems);
        }
        CompletableFuture.allOf(brokers.stream()
                        .map(broker -> broker.drain(spec.shutdownTimeout()))
                        .toArray(CompletableFuture[]::new))
                .join();
        List<ClosedKafkaBroker> closed = new ArrayList<>();
        for (BrokerRuntime broker : brokers) {
            closed.add(broker.close());
        }
        runHooks("afterShutdown", spec.afterShutdown(), problems);
        Optional<Throwable> first =
                Optional.ofNullable(failure.get()).or(() -> problems.stream().findFirst());
        return new ShutdownResult(closed, first);
    }

    private void runHooks(String which, List<App.Hook<Object>> hooks, List<Throwable> problems) {
        for (App.Hook<Object> hook : hooks) {
            try {
                hook.run(state);
            } catch (Throwable t) {
                log.atError()
                        .addKeyValue("app", spec.name())
                        .addKeyValue("hook", which)
                        .setCause(t)
                        .log("hook failed");
                problems.add(t);
            }
        }
    }

    @Override
    public Health health() {
        return new Health(
                status,
                Optional.ofNullable(failure.get()),
                brokers.stream().flatMap(broker -> broker.health().stream()).toList());
    }

    @Override
    public CompletableFuture<StopReason> stopping() {
        return stopping.copy();
    }

    @Override
    public CompletableFuture<ShutdownResult> shutdown() {
        stop(StopReason.REQUESTED);
        return stopped.copy();
    }

    @Override
    public void close() {
        CompletableFuture<ShutdownResult> done = shutdown();
        Thread caller = Thread.currentThread();
        if (caller != stopper && brokers.stream().noneMatch(broker -> broker.runsOn(caller))) {
            ShutdownResult unused = done.join();
        }
    }
}
