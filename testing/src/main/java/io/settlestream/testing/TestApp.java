package io.settlestream.testing;

import io.settlestream.App;
import io.settlestream.ControlException;
import io.settlestream.Health;
import io.settlestream.Message;
import io.settlestream.Outgoing;
import io.settlestream.PublishedRecord;
import io.settlestream.Publisher;
import io.settlestream.RunningApp;
import io.settlestream.SettleStream;
import io.settlestream.ShutdownResult;
import io.settlestream.SubscriptionControl;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaPartitions;
import io.settlestream.kafka.KafkaPublish;
import io.settlestream.kafka.KafkaTopics;
import io.settlestream.spi.AppObserver;
import io.settlestream.spi.Scheduler;
import io.settlestream.testing.internal.kafka.InProcessKafka;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.jspecify.annotations.Nullable;

/**
 * An application under test: the production {@link App}, unchanged, on a Kafka in the test's process and in virtual time.
 *
 * <pre>{@code
 * try (TestApp<Clients> app = TestApp.start(PayoutService.app())) {
 *     app.publish("payouts", new Payout(1, 500));
 *
 *     app.topic("payouts.done").hasValues(new Paid(1));
 *     app.group("payouts").hasLag("payouts", 0);
 * }
 * }</pre>
 *
 * <p>{@link #publish} returns when the application has reacted: everything is handled, published and committed, and nothing
 * is under way. Time passes only as far as the reaction needs it, and as {@link #advance} says; no test sleeps. To look at
 * a reaction on its way, {@link #send} and let it {@link #proceed}.
 *
 * <p>The topics that the application names for reading, and those that its types and sites name for what it publishes, are
 * made with one partition, or as many as {@link io.settlestream.kafka.KafkaPartitions} needs, unless the {@link TestKafka}
 * has them already. Topics that a pattern matches are for the test to make.
 * Handlers may block, also on latches and futures of the test; what then happens is not the same in every run.
 *
 * <p>Used from one thread, the test's.
 *
 * @param <S> the application's state
 * @since 0.1.0
 */
public final class TestApp<S> implements AutoCloseable {

    /** How much of its time a reaction has to come to rest, if the test does not say otherwise. */
    public static final Duration SETTLE_LIMIT = Duration.ofMinutes(1);

    private final App<S> app;
    private final Ground ground;
    private final @Nullable TestKafka kafka;
    private final boolean ownsGround;
    private final List<TestApp<?>> apps;
    private final Duration settleLimit;
    private final boolean makesTopics;
    private final Recorder recorder;
    private final Map<KafkaBroker, Publishing> publishers = new LinkedHashMap<>();

    private Ground.@Nullable Launched process;
    private @Nullable RunningApp running;
    /** The subscriptions as they were when the application was last started: their names and groups do not change. */
    private List<Health.Subscription> subscriptions = List.of();

    private boolean closed;

    /** The test's own producer to one of the application's brokers. */
    private record Publishing(Ground.Launched process, RunningApp sender, Publisher publisher) {}

    private TestApp(
            App<S> app,
            Ground ground,
            @Nullable TestKafka kafka,
            boolean ownsGround,
            List<TestApp<?>> apps,
            Duration settleLimit,
            boolean makesTopics) {
        this.app = app;
        this.ground = ground;
        this.kafka = kafka;
        this.ownsGround = ownsGround;
        this.apps = apps;
        this.settleLimit = settleLimit;
        this.makesTopics = makesTopics;
        this.recorder = new Recorder(ground.between());
    }

    // --- starting

    /**
     * Starts an application on an in-process Kafka of its own.
     *
     * @throws io.settlestream.StartupException as {@link App#start()}
     */
    public static <S> TestApp<S> start(App<S> app) {
        return of(app).start();
    }

    /**
     * Starts an application on a cluster instead, for the same test body: its brokers' addresses are replaced, and what is
     * virtual in process is real here, time above all. Topics must exist. What needs an accident is refused.
     *
     * @param bootstrapServers where the cluster is
     * @throws io.settlestream.StartupException as {@link App#start()}
     */
    public static <S> TestApp<S> startLive(App<S> app, String bootstrapServers) {
        return of(app).startLive(bootstrapServers);
    }

    /** Says more about a test before it starts. */
    public static <S> Builder<S> of(App<S> app) {
        return new Builder<>(Objects.requireNonNull(app, "app"), null, SETTLE_LIMIT, true);
    }

    /**
     * What a test says before it starts. Immutable: every method that sets something returns a new one.
     *
     * @param <S> the application's state
     * @since 0.1.0
     */
    public static final class Builder<S> {

        private final App<S> app;
        private final @Nullable TestKafka kafka;
        private final Duration settleLimit;
        private final boolean makesTopics;

        private Builder(App<S> app, @Nullable TestKafka kafka, Duration settleLimit, boolean makesTopics) {
            this.app = app;
            this.kafka = kafka;
            this.settleLimit = settleLimit;
            this.makesTopics = makesTopics;
        }

        /** On this Kafka, which the test closes itself. */
        public Builder<S> on(TestKafka testKafka) {
            return new Builder<>(app, Objects.requireNonNull(testKafka, "testKafka"), settleLimit, makesTopics);
        }

        /** With this state instead of the one that {@link App#onStartup} makes: with a bank that fails once. */
        public Builder<S> state(S state) {
            Objects.requireNonNull(state, "state");
            return state(() -> state);
        }

        /** With a state that is made anew whenever the application starts. */
        public Builder<S> state(Callable<? extends S> state) {
            return new Builder<>(app.withState(state), kafka, settleLimit, makesTopics);
        }

        /** How much time a reaction has to come to rest: virtual in process, real on a cluster; a minute if not set. */
        public Builder<S> settleLimit(Duration limit) {
            if (limit.isNegative() || limit.isZero()) {
                throw new IllegalArgumentException("a reaction needs some time to come to rest, not " + limit);
            }
            return new Builder<>(app, kafka, limit, makesTopics);
        }

        /**
         * Without making the topics that the application reads or publishes to: one that is missing stays missing until
         * the test makes it, or something is published to it, as on a cluster that makes topics by itself.
         */
        public Builder<S> withoutTopics() {
            return new Builder<>(app, kafka, settleLimit, false);
        }

        /**
         * Starts the application in process.
         *
         * @throws io.settlestream.StartupException as {@link App#start()}
         */
        public TestApp<S> start() {
            TestKafka on = kafka == null ? TestKafka.create() : kafka;
            TestApp<S> started =
                    new TestApp<>(app, on.ground(), on, kafka == null, on.apps(), settleLimit, makesTopics);
            return started.begin();
        }

        /**
         * Starts the application on a cluster.
         *
         * @throws io.settlestream.StartupException as {@link App#start()}
         * @throws IllegalStateException if a {@link TestKafka} was named, too
         */
        public TestApp<S> startLive(String bootstrapServers) {
            if (kafka != null) {
                throw new IllegalStateException("on(TestKafka) and startLive(...) name two Kafkas; keep one of them");
            }
            return new TestApp<>(
                            app,
                            new LiveGround(bootstrapServers, app.brokers()),
                            null,
                            true,
                            new ArrayList<>(),
                            settleLimit,
                            false)
                    .begin();
        }
    }

    private TestApp<S> begin() {
        boolean begun = false;
        try {
            launch();
            begun = true;
            return this;
        } finally {
            if (!begun && ownsGround) {
                closed = true;
                ground.close();
            }
        }
    }

    private void launch() {
        makeTopics();
        Ground.Launched launched = ground.process(app.name());
        process = launched;
        if (!apps.contains(this)) {
            apps.add(this);
        }
        boolean started = false;
        try {
            RunningApp begun = call("start of " + app.name(), () -> app.start(launched.environment(recorder)));
            running = begun;
            subscriptions = begun.health().subscriptions();
            started = true;
        } finally {
            if (!started) {
                apps.remove(this);
                launched.abandonStart();
            }
        }
    }

    private void makeTopics() {
        if (ground instanceof InProcessGround inProcess) {
            for (KafkaBroker broker : app.brokers()) {
                var cluster = kafka != null && broker.equals(app.brokers().get(0))
                        ? inProcess.mainAs(InProcessGround.name(broker.bootstrapServers()))
                        : inProcess.cluster(InProcessGround.name(broker.bootstrapServers()));
                Stream.concat(app.topicsRead(broker).stream(), app.topicsWritten(broker).stream())
                        .distinct()
                        .filter(topic -> makesTopics && !cluster.topics().contains(topic))
                        .forEach(topic -> makeTopic(cluster, topic, partitionsRead(broker, topic)));
            }
        }
    }

    /** One, or as many as the partitions that are read by their numbers need. */
    private int partitionsRead(KafkaBroker broker, String topic) {
        return app.sources(broker, topic).stream()
                .mapToInt(source -> source instanceof KafkaPartitions named ? highest(named) + 1 : 1)
                .max()
                .orElse(1);
    }

    private static int highest(KafkaPartitions source) {
        return source.partitions().stream().mapToInt(Integer::intValue).max().orElse(0);
    }

    private static void makeTopic(InProcessKafka cluster, String topic, int partitions) {
        try {
            cluster.createTopic(topic, partitions, Map.of());
        } catch (InvalidTopicException illegal) {
            // No cluster has it either; what the application says to that is what the test is about.
        }
    }

    // --- publishing

    /**
     * Publishes a value, or a {@link Message}, to a topic through the application's first broker that reads the topic, else
     * its first, and lets all applications on this Kafka come to rest.
     *
     * @throws io.settlestream.PublishException if the message is refused
     * @throws NotAtRestError if the reaction does not come to rest
     */
    public PublishedRecord publish(String topic, Object valueOrMessage) {
        PublishedRecord published = send(topic, valueOrMessage);
        settle();
        return published;
    }

    /** Publishes a value whose type, or a {@link Message} that, names its topic, and lets the reaction come to rest. */
    public PublishedRecord publish(Object valueOrMessage) {
        PublishedRecord published = send(valueOrMessage);
        settle();
        return published;
    }

    /** As {@link #publish(String, Object)}, but nothing reacts yet. Several records that are sent come in one poll. */
    public PublishedRecord send(String topic, Object valueOrMessage) {
        Message<?> message = valueOrMessage instanceof Message<?> given ? given : Message.of(valueOrMessage);
        Outgoing outgoing = message.value().getClass().getAnnotation(Outgoing.class);
        boolean named = topic.equals(message.topic())
                || (outgoing != null && outgoing.value().equals(topic));
        return send(brokerOf(topic), named ? message : message.to(topic));
    }

    /** As {@link #publish(Object)}, but nothing reacts yet. */
    public PublishedRecord send(Object valueOrMessage) {
        Message<?> message = valueOrMessage instanceof Message<?> given ? given : Message.of(valueOrMessage);
        Outgoing outgoing = message.value().getClass().getAnnotation(Outgoing.class);
        String topic = outgoing != null ? outgoing.value() : message.topic();
        if (topic == null) {
            throw new IllegalArgumentException("No topic is named for a "
                    + message.value().getClass().getName()
                    + ": annotate the type with @Outgoing, or say where with publish(topic, value). " + app.name()
                    + " reads " + topicsRead());
        }
        return send(brokerOf(topic), message);
    }

    private PublishedRecord send(KafkaBroker broker, Message<?> message) {
        requireOpen();
        Publishing publishing = publishers.computeIfAbsent(broker, this::publishing);
        return callAhead(publishing.process, "publish", () -> publishing.publisher.publishAndWait(message));
    }

    private Publishing publishing(KafkaBroker broker) {
        Ground.Launched own = ground.process("test");
        List<Publisher> made = new ArrayList<>();
        App<?> sender = SettleStream.app("test", "0")
                .withBroker(
                        broker.producerConfig("linger.ms", 0),
                        scope -> made.add(scope.publisher(KafkaPublish.create())));
        RunningApp started = callAhead(own, "publisher", () -> sender.start(own.environment(AppObserver.NONE)));
        return new Publishing(own, started, made.get(0));
    }

    private KafkaBroker brokerOf(String topic) {
        List<KafkaBroker> brokers = app.brokers();
        return brokers.stream()
                .filter(broker -> !app.sources(broker, topic).isEmpty())
                .findFirst()
                .orElse(brokers.get(0));
    }

    // --- driving

    /**
     * Lets all applications on this Kafka react until they are at rest: every record is handled and settled, every reply is
     * accepted, positions are committed, nothing is paused, no rebalance is under way. Time passes as needed, for a back-off
     * or until the next commit. What {@link TestSubscription#pause} holds back is at rest.
     *
     * @throws NotAtRestError if that takes more than {@link Builder#settleLimit}, or waits for something outside
     */
    public TestApp<S> settle() {
        requireOpen();
        ground.settle(apps, settleLimit);
        return this;
    }

    /** Lets all applications do what they can do without time going on. On a cluster they do so by themselves. */
    public TestApp<S> proceed() {
        requireOpen();
        ground.proceed();
        return this;
    }

    /** Lets time pass; what becomes due meanwhile happens at its time. */
    public TestApp<S> advance(Duration time) {
        requireOpen();
        ground.advance(time);
        return this;
    }

    /** The time of the application. */
    public TestClock clock() {
        return ground.clock();
    }

    /** The Kafka below. */
    public TestKafka kafka() {
        if (kafka == null) {
            throw new UnsupportedOperationException(
                    "kafka() is the in-process Kafka, and this application runs on a cluster");
        }
        return kafka;
    }

    /** What shall go wrong; short for {@code kafka().faults()}. */
    public Faults faults() {
        return kafka().faults();
    }

    // --- looking

    /**
     * What a subscription's handler was called with and what it answered.
     *
     * @param name the subscription's name, which is its topic's unless the application says otherwise
     * @throws IllegalArgumentException if there is none of this name
     */
    public TestSubscription subscription(String name) {
        requireOpen();
        List<String> names =
                subscriptions.stream().map(Health.Subscription::name).toList();
        if (!names.contains(name)) {
            throw new IllegalArgumentException(
                    app.name() + " has no subscription " + name + "; it has " + (names.isEmpty() ? "none" : names));
        }
        return new TestSubscription(name, recorder, () -> counts(name), asked -> control(name, asked), new Unmet(apps));
    }

    /** Lets the application that runs now do what is asked of a subscription, until it has taken effect. */
    private void control(String subscription, Function<SubscriptionControl, CompletableFuture<?>> asked) {
        RunningApp current = runningApp();
        Scheduler scheduler =
                Objects.requireNonNull(process).environment(recorder).scheduler();
        Object unused = call("control of " + subscription, () -> {
            try {
                return Optional.ofNullable(scheduler.await(asked.apply(current.subscription(subscription))));
            } catch (ExecutionException e) {
                throw e.getCause() instanceof ControlException refused ? refused : e;
            }
        });
    }

    private Health.Counts counts(String subscription) {
        return health().subscriptions().stream()
                .filter(candidate -> candidate.name().equals(subscription))
                .findFirst()
                .orElseThrow()
                .counts();
    }

    /**
     * The records of a topic.
     *
     * @throws IllegalArgumentException if there is none of this name
     */
    public TestTopic topic(String name) {
        requireOpen();
        return knownTopic(name, ground, ground.topics(), new Unmet(apps));
    }

    static TestTopic knownTopic(String name, Ground ground, List<String> topics, Unmet unmet) {
        if (!topics.contains(name)) {
            throw new IllegalArgumentException("There is no topic " + name + "; there are " + topics
                    + ". A topic that only a message names is made by the first record");
        }
        return new TestTopic(name, ground, unmet);
    }

    /** What a group has committed. */
    public TestGroup group(String name) {
        requireOpen();
        Set<String> groups = subscriptions.stream()
                .flatMap(subscription -> subscription.group().stream())
                .collect(Collectors.toUnmodifiableSet());
        if (!groups.contains(name)) {
            throw new IllegalArgumentException(app.name() + " is in no group " + name + "; it is in "
                    + groups.stream().sorted().toList());
        }
        return new TestGroup(name, ground, new Unmet(apps));
    }

    /** The application's state, as its last start made it. */
    @SuppressWarnings("unchecked") // what the application's onStartup has made
    public S state() {
        return (S) Objects.requireNonNull(recorder.state(), "made before the start returned");
    }

    /** How the application is doing. */
    public Health health() {
        return runningApp().health();
    }

    /** The application runs. */
    public TestApp<S> isRunning() {
        return expect(health().status() == Health.Status.RUNNING, "to run");
    }

    /** The application has failed of this kind of exception, as the cause at some depth. */
    public TestApp<S> hasFailed(Class<? extends Throwable> kind) {
        boolean failed = Stream.iterate(health().failure().orElse(null), Objects::nonNull, Throwable::getCause)
                .anyMatch(kind::isInstance);
        return expect(failed && health().status() == Health.Status.FAILED, "to have failed of " + kind.getSimpleName());
    }

    private TestApp<S> expect(boolean held, String what) {
        if (!held) {
            throw new Unmet(List.of(this))
                    .error("Expected " + app.name() + " " + what + ", but it is " + health().status());
        }
        return this;
    }

    // --- lives

    /** Stops the application gracefully. What it has committed stays; {@link #restart} starts it again. */
    public ShutdownResult stop() {
        RunningApp stopping = runningApp();
        return stop(stopping);
    }

    private ShutdownResult stop(RunningApp stopping) {
        return call("stop of " + app.name(), () -> {
            // Waits through the application's own scheduler; what the future gives is there then.
            stopping.close();
            return stopping.shutdown().join();
        });
    }

    /**
     * Ends the application as {@code kill -9} does: from here on nothing of it runs, nothing is committed or sent, and no
     * hook is called. Its groups notice when its sessions end.
     */
    public TestApp<S> crash() {
        runningApp();
        Ground.Launched crashing = Objects.requireNonNull(process);
        crashing.crash();
        recorder.crashed();
        running = null;
        return this;
    }

    /** Starts the application once more on the same Kafka, after {@link #crash} or {@link #stop}; what was seen stays. */
    public TestApp<S> restart() {
        requireOpen();
        if (running != null && !hasEnded()) {
            throw new IllegalStateException(app.name() + " runs; stop() or crash() it first");
        }
        launch();
        return this;
    }

    /** Starts a second instance of the application on the same Kafka, which joins its groups. It is closed on its own. */
    public TestApp<S> another() {
        if (kafka == null) {
            throw new UnsupportedOperationException("another() is possible on the in-process Kafka only");
        }
        requireOpen();
        return new TestApp<>(app, ground, kafka, false, apps, settleLimit, makesTopics).begin();
    }

    // --- partitions

    /**
     * Moves partitions to this application's member of the group that reads the topic. They are revoked where they are.
     *
     * @throws IllegalArgumentException if it does not read the topic, or the topic has no such partition
     */
    public TestApp<S> take(String topic, int... partitions) {
        String group = groupOf(topic);
        kafka().inProcess().group(group).move(kafka().existing(topic, partitions), member(group));
        return this;
    }

    /** Makes this application lose all partitions of the group that reads the topic, as when its session has ended. */
    public TestApp<S> lose(String topic) {
        String group = groupOf(topic);
        kafka().inProcess().group(group).expire(member(group));
        return this;
    }

    private String member(String group) {
        List<String> members = kafka().ground().members(Objects.requireNonNull(process), group);
        if (members.isEmpty()) {
            throw new IllegalStateException(app.name() + " is not a member of group " + group);
        }
        return members.get(members.size() - 1);
    }

    private String groupOf(String topic) {
        return app.brokers().stream()
                .flatMap(broker -> app.sources(broker, topic).stream().map(source -> new Read(source, broker)))
                .filter(Read::asMember)
                .flatMap(read -> read.group().stream())
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        app.name() + " does not read " + topic + "; it reads " + topicsRead()));
    }

    // --- the end

    /**
     * Stops the application gracefully, unless it has ended, and closes its Kafka unless that is the test's. A stop that
     * does not come to its end fails the test.
     */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        ground.requireTest();
        try {
            RunningApp stopping = running;
            if (stopping != null) {
                ShutdownResult unused = stop(stopping);
            }
        } finally {
            try {
                for (Publishing publishing : publishers.values()) {
                    ShutdownResult unused = stop(publishing.sender);
                }
            } finally {
                abandon();
                if (ownsGround) {
                    ground.close();
                }
            }
        }
    }

    /** Its Kafka is gone. */
    void abandon() {
        closed = true;
        apps.remove(this);
    }

    // --- for the ground

    /** What it reads. */
    List<Read> reads() {
        return app.brokers().stream()
                .flatMap(broker -> app.sources(broker).stream().map(source -> new Read(source, broker)))
                .toList();
    }

    Recorder recorder() {
        return recorder;
    }

    String name() {
        return app.name();
    }

    /** Why the current life has failed; null if it has not. */
    @Nullable
    Throwable failure() {
        Health health = healthNow();
        return health == null ? null : health.failure().orElse(null);
    }

    /** The health of the current life; null between two. */
    @Nullable
    Health healthNow() {
        RunningApp current = running;
        return current == null ? null : current.health();
    }

    /** Whether the current life has come to its end, by a stop or a failure. */
    boolean hasEnded() {
        RunningApp current = running;
        return current != null
                && switch (current.health().status()) {
                    case STOPPED -> true;
                    // The stop that a failure has asked for is under way or done; asking once more changes nothing.
                    case FAILED -> current.shutdown().isDone();
                    case STARTING, RUNNING, STOPPING -> false;
                };
    }

    private RunningApp runningApp() {
        requireOpen();
        RunningApp current = running;
        if (current == null) {
            throw new IllegalStateException(app.name() + " has crashed; restart() it first");
        }
        return current;
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("This TestApp of " + app.name()
                    + " is closed; what it has seen is gone. Assert before it is closed, or start another one");
        }
    }

    private String topicsRead() {
        return app.brokers().stream()
                .flatMap(broker -> app.sources(broker).stream())
                .flatMap(source ->
                        source instanceof KafkaTopics topics && topics.pattern().isPresent()
                                ? topics.pattern().map(Pattern::pattern).stream()
                                : source.topics().stream())
                .distinct()
                .toList()
                .toString();
    }

    private <T> T call(String what, Callable<T> task) {
        try {
            return ground.call(what, task);
        } catch (RuntimeException e) {
            throw e;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted in the " + what, e);
        } catch (Exception e) {
            throw new IllegalStateException("the " + what + " failed", e);
        }
    }

    private <T> T callAhead(Ground.Launched ahead, String what, Callable<T> task) {
        try {
            return ground.callAhead(ahead, what, task);
        } catch (RuntimeException e) {
            throw e;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted in the " + what, e);
        } catch (Exception e) {
            throw new IllegalStateException("the " + what + " failed", e);
        }
    }
}
