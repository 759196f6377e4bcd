package io.settlestream;

import io.settlestream.internal.runtime.AppRuntime;
import io.settlestream.internal.runtime.AppSpec;
import io.settlestream.internal.runtime.BrokerSpec;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaSource;
import io.settlestream.spi.AppEnvironment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.Consumer;

/**
 * An application: its state, its brokers and what it reads and writes there. Immutable: every method that adds something
 * returns a new application. Building one does no I/O. One application can be started again and again; several times at
 * once only if no {@link Scope#publisher} has been handed out, since such a publisher leads to one run at a time.
 *
 * <pre>{@code
 * SettleStream.app("payouts", "0.1.0")
 *         .onStartup(Clients::open)
 *         .withBroker(kafka, scope -> {
 *             scope.include(payOut.reply());
 *             scope.include(reconcile.batch(500));
 *         })
 *         .run();
 * }</pre>
 *
 * @param <S> the state
 * @since 0.1.0
 */
public final class App<S> {

    /**
     * Something to do with the state at one point of an application's life.
     *
     * @param <S> the state
     * @since 0.1.0
     */
    @FunctionalInterface
    public interface Hook<S> {

        /** Does it; throwing fails the startup, or is logged and reported during a shutdown. */
        void run(S state) throws Exception;
    }

    private final AppSpec spec;

    private App(AppSpec spec) {
        this.spec = spec;
    }

    static App<NoState> named(String name, String version) {
        return new App<>(AppSpec.named(name, version));
    }

    /**
     * Makes the state, before anything is connected.
     *
     * @throws IllegalStateException if the state has been set, or a broker or hook already relies on it
     */
    public <T> App<T> onStartup(Callable<? extends T> state) {
        return new App<>(spec.withState(Objects.requireNonNull(state, "state")));
    }

    /**
     * This application with another state of the same type: in a test, clients that do as the test says. Hooks, brokers and
     * subscribers stay as they are.
     */
    public App<S> withState(Callable<? extends S> state) {
        return new App<>(spec.withOtherState(Objects.requireNonNull(state, "state")));
    }

    /** Runs once every subscription knows where it starts; handlers are live. */
    public App<S> afterStartup(Hook<? super S> hook) {
        return new App<>(spec.withAfterStartup(Objects.requireNonNull(hook, "hook")));
    }

    /** Runs when a stop begins; everything is still connected. */
    public App<S> onShutdown(Hook<? super S> hook) {
        return new App<>(spec.withOnShutdown(Objects.requireNonNull(hook, "hook")));
    }

    /**
     * Runs when everything is closed, also after a startup that failed once the state was made. When a signal ends the
     * JVM, this is the last code that is sure to run.
     */
    public App<S> afterShutdown(Hook<? super S> hook) {
        return new App<>(spec.withAfterShutdown(Objects.requireNonNull(hook, "hook")));
    }

    /** How long a stop waits for running handlers and the reports they wait for; 30 s by default. */
    public App<S> shutdownTimeout(Duration timeout) {
        if (timeout.isNegative()) {
            throw new IllegalArgumentException("shutdownTimeout must not be negative, but is " + timeout);
        }
        return new App<>(spec.withShutdownTimeout(timeout));
    }

    /**
     * Adds a broker with what is read from it and written to it. {@code scope} is called at once; the scope and the
     * mounts that it gives can be used only meanwhile.
     */
    public App<S> withBroker(KafkaBroker broker, Consumer<? super Scope<S>> scope) {
        return new App<>(spec.withBroker(BrokerScope.collect(Objects.requireNonNull(broker, "broker"), scope)));
    }

    /** The application's name. */
    public String name() {
        return spec.name();
    }

    /** The brokers, in the order in which they were added. */
    public List<KafkaBroker> brokers() {
        return spec.brokers().stream().map(BrokerSpec::broker).toList();
    }

    /**
     * The topics that a broker's subscribers name, each once; a pattern names none. Empty if the broker is not one of
     * {@link #brokers}.
     */
    public List<String> topicsRead(KafkaBroker broker) {
        return spec.brokers().stream()
                .filter(candidate -> candidate.broker() == broker)
                .flatMap(candidate -> candidate.mounted().stream())
                .flatMap(mounted -> mounted.source().topics().stream())
                .distinct()
                .toList();
    }

    /** What a broker's subscribers read; empty if the broker is not one of {@link #brokers}. */
    public List<KafkaSource<?>> sources(KafkaBroker broker) {
        List<KafkaSource<?>> sources = new ArrayList<>();
        spec.brokers().stream()
                .filter(candidate -> candidate.broker() == broker)
                .forEach(candidate -> candidate.mounted().forEach(mounted -> sources.add(mounted.source())));
        return List.copyOf(sources);
    }

    /**
     * What the subscribers of a broker read that also read this topic, be it as the one where copies wait for their retry;
     * empty if the broker is not one of {@link #brokers}.
     */
    public List<KafkaSource<?>> sources(KafkaBroker broker, String topic) {
        List<KafkaSource<?>> sources = new ArrayList<>();
        spec.brokers().stream()
                .filter(candidate -> candidate.broker() == broker)
                .flatMap(candidate -> candidate.mounted().stream())
                .filter(mounted -> mounted.source().reads(topic)
                        || topic.equals(mounted.options().retryTopic()))
                .forEach(mounted -> sources.add(mounted.source()));
        return List.copyOf(sources);
    }

    /**
     * The topics that a broker's replies, publishers, dead letters and retry copies go to, each once, as far as types and sites name them; a message may
     * name another one. None if the broker is not one of {@link #brokers}.
     */
    public List<String> topicsWritten(KafkaBroker broker) {
        return spec.brokers().stream()
                .filter(candidate -> candidate.broker() == broker)
                .flatMap(candidate -> candidate.topicsWritten().stream())
                .distinct()
                .toList();
    }

    /**
     * Starts the application and returns when every subscription knows where its partitions start, so that what is
     * published from now on is seen.
     *
     * @throws StartupException with all mistakes in how the application was put together, among them that it still runs
     *     and has handed out publishers; or with what failed when it was opened, after closing it again
     */
    public RunningApp start() {
        return start(AppEnvironment.system());
    }

    /** {@link #start() Starts} the application in an environment other than the system's; for test kits. */
    public RunningApp start(AppEnvironment environment) {
        return AppRuntime.start(spec, environment);
    }

    /**
     * Starts the application and blocks until it has stopped: by a signal or by a failure. A signal, SIGTERM or Ctrl-C,
     * stops it gracefully, also while it is still starting; the JVM ends as soon as that is done, so the code behind this
     * call may never run then. What is to be done at the end in any case belongs into {@link #afterShutdown}.
     *
     * @throws StartupException as {@link #start()}
     * @throws ServiceFailedException if the application stopped because it failed
     */
    public ShutdownResult run() {
        return AppRuntime.run(spec, AppEnvironment.system());
    }

    /**
     * {@link #run() Runs} the application as a program and exits the JVM: with 0 after a clean stop, else with 1. A stop by
     * a signal is as graceful, and leaves the exit code to the JVM: 143 for SIGTERM. Code behind this call never runs;
     * what is to be done at the end belongs into {@link #afterShutdown}.
     */
    @SuppressWarnings("IncorrectMainMethod") // called by a program's own main, and reads like it
    public void main(String... args) {
        AppRuntime.main(spec, AppEnvironment.system());
    }
}
