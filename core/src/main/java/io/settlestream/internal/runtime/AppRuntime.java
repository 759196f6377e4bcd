package io.settlestream.internal.runtime;

import io.settlestream.App;
import io.settlestream.Health;
import io.settlestream.RunningApp;
import io.settlestream.ServiceFailedException;
import io.settlestream.ShutdownResult;
import io.settlestream.StartupException;
import io.settlestream.SubscriptionControl;
import io.settlestream.internal.poll.Subscription;
import io.settlestream.kafka.ClosedKafkaBroker;
import io.settlestream.spi.AppEnvironment;
import io.settlestream.spi.Scheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
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
    private final SiteLease sites;
    private final Scheduler scheduler;
    private final List<BrokerRuntime> brokers = new ArrayList<>();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    /** Fails with the first thing that makes it pointless to go on with the start. */
    private final CompletableFuture<@Nullable Void> startDoomed = new CompletableFuture<>();
    /** Held while the application goes from one stage to the next, so that a stop and a start do not pass each other. */
    private final ReentrantLock turning = new ReentrantLock();

    private boolean stopBegun;
    private final CompletableFuture<StopReason> stopping = new CompletableFuture<>();
    private final CompletableFuture<ShutdownResult> stopped = new CompletableFuture<>();
    /** The thread that stops the application, once one does; shutdown hooks run on it. */
    private volatile @Nullable Thread stopper;

    private volatile Health.Status status = Health.Status.STARTING;

    /** Whether the start has succeeded: only then do shutdown hooks run. */
    private volatile boolean started;

    private AppRuntime(Checked checked, Object state, AppEnvironment environment) {
        this.spec = checked.spec();
        this.state = state;
        this.sites = checked.sites();
        this.scheduler = environment.scheduler();
        for (BrokerPlan plan : checked.plans()) {
            brokers.add(new BrokerRuntime(plan, environment, state, this::failed, startDoomed));
        }
    }

    /** Starts an application; see {@link App#start()}. */
    public static AppRuntime start(AppSpec spec, AppEnvironment environment) {
        AppRuntime app = prepare(spec, environment);
        app.open();
        return app;
    }

    private static AppRuntime prepare(AppSpec spec, AppEnvironment environment) {
        Checked checked = check(spec);
        boolean prepared = false;
        try {
            AppRuntime app = new AppRuntime(checked, makeState(spec, environment), environment);
            prepared = true;
            return app;
        } finally {
            if (!prepared) {
                checked.sites().end();
            }
        }
    }

    private static Object makeState(AppSpec spec, AppEnvironment environment) {
        try {
            Object state = spec.makeState();
            environment.observer().madeState(state);
            return state;
        } catch (Exception e) {
            throw new StartupException(spec.name(), List.of("onStartup failed: " + e), e);
        }
    }

    /** Runs an application until it has stopped; see {@link App#run()}. */
    public static ShutdownResult run(AppSpec spec, AppEnvironment environment) {
        AppRuntime app = prepare(spec, environment);
        Thread onSignal = Thread.ofPlatform().name("settlestream-signal").unstarted(() -> {
            app.stop(StopReason.SIGNAL);
            ShutdownResult unused = app.scheduler.join(app.stopped);
        });
        Runtime.getRuntime().addShutdownHook(onSignal);
        ShutdownResult result;
        try {
            app.open();
            result = app.scheduler.join(app.stopped);
        } finally {
            forget(onSignal);
        }
        Throwable cause = app.failure.get();
        if (cause != null) {
            throw new ServiceFailedException(spec.name() + " stopped because it failed: " + cause.getMessage(), cause);
        }
        return result;
    }

    /** Runs an application as a program; see {@link App#main}. */
    public static void main(AppSpec spec, AppEnvironment environment) {
        int exit = 1;
        try {
            exit = run(spec, environment).clean() ? 0 : 1;
        } catch (Throwable t) {
            // Threads that the application has left behind must not keep a failed program alive.
            log.atError().addKeyValue("app", spec.name()).setCause(t).log("failed");
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

    /** An application without mistakes, whose sites are this run's. */
    private record Checked(AppSpec spec, List<BrokerPlan> plans, SiteLease sites) {}

    private static Checked check(AppSpec spec) {
        List<String> problems = new ArrayList<>();
        if (spec.name().isBlank()) {
            problems.add("the application has no name. Give one to SettleStream.app(...)");
        }
        if (spec.brokers().isEmpty()) {
            problems.add("the application has no broker. Add one with withBroker(...)");
        }
        List<BrokerPlan> plans = new ArrayList<>();
        BrokerPlan.Names names = new BrokerPlan.Names();
        for (BrokerSpec broker : spec.brokers()) {
            plans.add(BrokerPlan.check(spec, broker, names, problems));
        }
        SiteLease sites = SiteLease.take(spec, problems);
        if (!problems.isEmpty()) {
            sites.end();
            throw new StartupException(spec.name(), problems, null);
        }
        return new Checked(spec, plans, sites);
    }

    private void open() {
        try {
            connect();
            for (BrokerRuntime broker : brokers) {
                broker.awaitAssignments();
            }
            for (App.Hook<Object> hook : spec.hooks().afterStartup()) {
                afterStartup(hook);
            }
            running();
        } catch (BrokerRuntime.StartFailure e) {
            throw startFailed(e.getMessage(), e.getCause() == null ? e : e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw startFailed("interrupted while it was starting", e);
        } catch (Throwable t) {
            throw startFailed(t.toString(), t);
        }
        log.atInfo()
                .addKeyValue("app", spec.name())
                .addKeyValue("version", spec.version())
                .log("started");
        if (failure.get() != null) {
            stop(StopReason.FAILURE);
        }
    }

    private void connect() throws BrokerRuntime.StartFailure {
        turning.lock();
        try {
            goOn();
            // All of them before the first handler runs, which may publish to another broker than it reads from.
            for (BrokerRuntime broker : brokers) {
                broker.connect();
            }
            brokers.forEach(BrokerRuntime::subscribe);
        } finally {
            turning.unlock();
        }
    }

    private void afterStartup(App.Hook<Object> hook) throws BrokerRuntime.StartFailure {
        try {
            hook.run(state);
        } catch (Throwable t) {
            throw new BrokerRuntime.StartFailure("afterStartup failed: " + t, t);
        }
    }

    private void running() throws BrokerRuntime.StartFailure {
        turning.lock();
        try {
            goOn();
            status = Health.Status.RUNNING;
            started = true;
        } finally {
            turning.unlock();
        }
    }

    /** With the lock: goes on with a start unless a signal came in between. */
    private void goOn() throws BrokerRuntime.StartFailure {
        if (stopBegun) {
            throw new BrokerRuntime.StartFailure("told to stop while it was starting", null);
        }
    }

    private StartupException startFailed(@Nullable String what, Throwable cause) {
        StartupException startup =
                new StartupException(spec.name(), List.of(what == null ? cause.toString() : what), cause);
        failure.compareAndSet(null, cause);
        stop(StopReason.FAILURE);
        scheduler.join(stopped).failure().filter(other -> !other.equals(cause)).ifPresent(startup::addSuppressed);
        return startup;
    }

    private void failed(Throwable cause) {
        if (scheduler.ended()) {
            return;
        }
        boolean first = failure.compareAndSet(null, cause);
        if (started) {
            if (first) {
                // A start that fails throws what it failed of; from here on nobody may be waiting to be told.
                log.atError().addKeyValue("app", spec.name()).setCause(cause).log("failed, stopping");
            }
            stop(StopReason.FAILURE);
        }
    }

    private void stop(StopReason reason) {
        turning.lock();
        try {
            if (stopBegun) {
                return;
            }
            stopBegun = true;
            status = failure.get() == null ? Health.Status.STOPPING : Health.Status.FAILED;
        } finally {
            turning.unlock();
        }
        startDoomed.completeExceptionally(new BrokerRuntime.StartFailure("told to stop while it was starting", null));
        Thread unused = scheduler.start(Scheduler.Kind.PLATFORM, "settlestream-stop-" + spec.name(), () -> {
            stopper = Thread.currentThread();
            // What users chain to it must not hold up the stop.
            Thread unusedThread =
                    scheduler.start(Scheduler.Kind.VIRTUAL, "settlestream-stopping", () -> stopping.complete(reason));
            ShutdownResult result;
            try {
                result = shutDown();
            } catch (Throwable t) {
                failure.compareAndSet(null, t);
                result = new ShutdownResult(List.of(), Optional.of(t));
            }
            sites.end();
            status = failure.get() == null ? Health.Status.STOPPED : Health.Status.FAILED;
            log.atInfo()
                    .addKeyValue("app", spec.name())
                    .addKeyValue("reason", reason)
                    .log("stopped");
            stopped.complete(result);
        });
    }

    private ShutdownResult shutDown() {
        List<Throwable> problems = new ArrayList<>();
        if (started) {
            runHooks("onShutdown", spec.hooks().onShutdown(), problems);
        }
        Object unused = scheduler.join(CompletableFuture.allOf(brokers.stream()
                .map(broker -> broker.drain(spec.shutdownTimeout()))
                .toArray(CompletableFuture[]::new)));
        List<ClosedKafkaBroker> closed = close(problems);
        runHooks("afterShutdown", spec.hooks().afterShutdown(), problems);
        Optional<Throwable> first =
                Optional.ofNullable(failure.get()).or(() -> problems.stream().findFirst());
        return new ShutdownResult(closed, first);
    }

    /** Closes all brokers at the same time, so that one that is down takes no time from the others. */
    private List<ClosedKafkaBroker> close(List<Throwable> problems) {
        List<CompletableFuture<ClosedKafkaBroker>> closing = brokers.stream()
                .map(broker -> CompletableFuture.supplyAsync(
                        broker::close,
                        close -> scheduler.start(Scheduler.Kind.PLATFORM, "settlestream-close-" + spec.name(), close)))
                .toList();
        List<ClosedKafkaBroker> closed = new ArrayList<>();
        for (CompletableFuture<ClosedKafkaBroker> each : closing) {
            try {
                closed.add(scheduler.join(each));
            } catch (CompletionException e) {
                problems.add(e.getCause() == null ? e : e.getCause());
            }
        }
        return closed;
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
    public SubscriptionControl subscription(String name) {
        List<Subscription> all = brokers.stream()
                .flatMap(broker -> broker.subscriptions().stream())
                .toList();
        return all.stream()
                .filter(subscription -> subscription.name().equals(name))
                .findFirst()
                .orElseThrow(
                        () -> new IllegalArgumentException(spec.name() + " has no subscription " + name + "; it has "
                                + (all.isEmpty()
                                        ? "none"
                                        : all.stream().map(Subscription::name).toList())))
                .control();
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
            ShutdownResult unused = scheduler.join(done);
        }
    }
}
