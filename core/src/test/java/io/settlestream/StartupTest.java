package io.settlestream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.settlestream.internal.runtime.MountOptions;
import io.settlestream.internal.runtime.SystemEnvironment;
import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaPublish;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.spi.AppEnvironment;
import io.settlestream.spi.KafkaClients;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a start finds out before there is a cluster to ask. */
class StartupTest {

    private static final Duration FOR_EVER = Duration.ofSeconds(Long.MAX_VALUE);

    /** Nothing on the class path of this module decodes or encodes it. */
    private record Strange(int value) {}

    @Outgoing("charges")
    private record Charge(int cents) {}

    /** One mistake: where it is, what is wrong, how to mend it; each a list of words that its line must have. */
    private record Mistake(String where, List<String> what, List<String> fix) {

        boolean isSaidBy(String line) {
            return line.startsWith(where)
                    && what.stream().allMatch(line::contains)
                    && fix.stream().allMatch(line::contains);
        }
    }

    @Test
    @DisplayName("10.1 all mistakes of an application are in one report, each with what, where and how to mend it")
    void oneReport() {
        List<Mistake> mistakes = new ArrayList<>();
        List<String> opened = new CopyOnWriteArrayList<>();

        KafkaBroker tracked = KafkaBroker.of("127.0.0.1:1")
                .commit(Commit.tracked())
                .config("reqest.timeout.ms", 5)
                .producerConfig("linger.ms", "soon");
        mistakes.add(new Mistake("broker", List.of("reqest.timeout.ms"), List.of("Did you mean request.timeout.ms")));
        mistakes.add(new Mistake("broker", List.of("linger.ms"), List.of("Correct it")));
        KafkaBroker auto = KafkaBroker.of("127.0.0.1:2").defaultGroup("group");

        App<String> app = SettleStream.app("payouts", "1")
                .onStartup(() -> {
                    opened.add("state");
                    return "state";
                })
                .withBroker(tracked, scope -> {
                    scope.include(text("a"));
                    mistakes.add(new Mistake(
                            "subscription a",
                            List.of("no consumer group"),
                            List.of("KafkaTopic.group", "KafkaBroker.defaultGroup")));

                    scope.include(text(topic("b").config("max.pol.records", 5)));
                    mistakes.add(new Mistake(
                            "subscription b", List.of("max.pol.records"), List.of("Did you mean max.poll.records?")));

                    scope.include(text(topic("c").config("max.poll.records", "many")));
                    mistakes.add(new Mistake(
                            "subscription c", List.of("max.poll.records"), List.of("Correct it, or leave it out")));

                    scope.include(text(topic("d").config("enable.auto.commit", true)));
                    mistakes.add(new Mistake(
                            "subscription d",
                            List.of("enable.auto.commit", "Commit.tracked()"),
                            List.of("leave it out")));

                    scope.include(text(topic("e"))).drainTimeout(FOR_EVER);
                    mistakes.add(new Mistake(
                            "subscription e",
                            List.of("drainTimeout", "max.poll.interval.ms"),
                            List.of("Lower the one or raise the other")));

                    scope.include(text(topic("f"))).workers(2).workersByKey(3);
                    mistakes.add(new Mistake(
                            "subscription f", List.of("workers(2)", "workersByKey(3)"), List.of("Keep workersByKey")));

                    scope.include(batch(topic("g"))).workersByKey(4);
                    mistakes.add(new Mistake(
                            "subscription g", List.of("workersByKey(4)", "batch"), List.of("Use workers(4)")));

                    scope.include(text(topic("h"))).workers(2).dedicatedThreads(3);
                    mistakes.add(new Mistake(
                            "subscription h", List.of("dedicatedThreads(3)", "2"), List.of("make the numbers equal")));
                })
                .withBroker(auto, scope -> {
                    scope.include(text("i")).onException(ExceptionPolicy.RETRY);
                    mistakes.add(new Mistake(
                            "subscription i",
                            List.of("onException(RETRY)", "Commit.auto()"),
                            List.of("Use Commit.tracked()")));

                    scope.include(text("j")).onDecodeFailure(DecodePolicy.RETRY);
                    mistakes.add(new Mistake(
                            "subscription j",
                            List.of("onDecodeFailure(RETRY)", "Commit.auto()"),
                            List.of("Use Commit.tracked()")));

                    scope.include(Subscriber.on(KafkaTopic.of("k"), byte[].class)
                            .handleReply(Charge.class, (value, context) -> Reply.retry())
                            .reply(KafkaPublish.to("elsewhere")));
                    mistakes.add(new Mistake(
                            "subscription k", List.of("charges", "elsewhere"), List.of("keep one of them")));
                    mistakes.add(new Mistake(
                            "subscription k", List.of("no codec", "Charge"), List.of("settlestream-jackson")));

                    scope.include(Subscriber.on(KafkaTopic.of("l"), Strange.class)
                            .handle((value, context) -> HandlerOutcome.ack()));
                    mistakes.add(new Mistake(
                            "subscription l", List.of("decodes", "Strange"), List.of("settlestream-jackson", "codec")));

                    scope.publisher(KafkaPublish.to("no good"));
                    mistakes.add(new Mistake("publisher of", List.of("topic name"), List.of("Name a topic")));

                    scope.publisher(KafkaPublish.to("out").awaitReport().transform((reply, delivery) -> reply));
                    mistakes.add(new Mistake(
                            "publisher of", List.of("transform", "replies"), List.of("before it is published")));
                    mistakes.add(
                            new Mistake("publisher of", List.of("awaitReport", "replies"), List.of("publishAndWait")));

                    scope.include(text("a"));
                    // No mistake: told apart from the other broker's by its name.
                });

        StartupException report =
                catchThrowableOfType(StartupException.class, () -> app.start(environment(opened, Map.of())));

        assertThat(report.problems()).hasSize(mistakes.size());
        assertThat(mistakes)
                .allSatisfy(mistake -> assertThat(report.problems())
                        .as("%s", mistake)
                        .filteredOn(mistake::isSaidBy)
                        .hasSize(1));
        assertThat(report.getMessage())
                .startsWith("payouts cannot start: " + mistakes.size() + " problems")
                .contains(report.problems());
        assertThat(opened).as("what was done before the report").isEmpty();
    }

    @Test
    @DisplayName("10.1 an application without a broker, or a name, says so")
    void nothingToRun() {
        StartupException report = catchThrowableOfType(
                StartupException.class, () -> SettleStream.app(" ", "1").start());

        assertThat(report.problems())
                .satisfiesExactly(
                        name -> assertThat(name).contains("no name", "SettleStream.app"),
                        broker -> assertThat(broker).contains("no broker", "withBroker"));
    }

    @Test
    @DisplayName("10.1 a report that was serialized still has its problems")
    void serialized() throws Exception {
        StartupException report = new StartupException("payouts", List.of("one", "two"), null);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(report);
        }

        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            assertThat(in.readObject())
                    .isInstanceOfSatisfying(
                            StartupException.class,
                            read -> assertThat(read.problems()).containsExactly("one", "two"));
        }
    }

    @Test
    @DisplayName("5.2 a limit that is refused changes nothing of the mount")
    void refusedLimit() {
        MountOptions.Draft draft = new MountOptions.Draft("in");
        Mount mount = new Mount(draft);
        mount.inFlightLimit(7, 70);

        assertThatThrownBy(() -> mount.inFlightLimit(8, 0)).isInstanceOf(IllegalArgumentException.class);

        MountOptions options = draft.done();
        assertThat(options.inFlightRecords()).isEqualTo(7);
        assertThat(options.inFlightBytes()).isEqualTo(70);
    }

    @Test
    @Timeout(60)
    @DisplayName(
            "10.1 every broker is connected before the first subscription; what was opened is closed when one fails")
    void connectsBeforeItSubscribes() {
        List<String> events = new CopyOnWriteArrayList<>();
        IllegalStateException refused = new IllegalStateException("refused");
        App<String> app = SettleStream.app("bridge", "1")
                .onStartup(() -> {
                    events.add("state");
                    return "state";
                })
                .withBroker(broker("127.0.0.1:1"), scope -> {
                    scope.publisher(KafkaPublish.to("out"));
                    scope.include(text("in"));
                })
                .withBroker(broker("127.0.0.1:2"), scope -> {
                    scope.publisher(KafkaPublish.to("out"));
                    scope.include(text("other"));
                })
                .afterStartup(state -> events.add("afterStartup"))
                .onShutdown(state -> events.add("onShutdown"))
                .afterShutdown(state -> events.add("afterShutdown"));

        StartupException failure = catchThrowableOfType(
                StartupException.class,
                () -> app.start(environment(
                        events,
                        Map.of(
                                "bridge-in",
                                        () -> {
                                            throw refused;
                                        },
                                "bridge-other",
                                        () -> {
                                            throw refused;
                                        }))));

        assertThat(failure).hasCause(refused).hasMessageContaining("(group group) failed: refused");
        assertThat(events.subList(0, 3)).containsExactly("state", "open bridge-producer", "open bridge-producer-2");
        assertThat(events)
                .containsOnlyOnce("close bridge-producer", "close bridge-producer-2", "afterShutdown")
                .endsWith("afterShutdown")
                .doesNotContain("afterStartup", "onShutdown");
    }

    @Test
    @Timeout(60)
    @DisplayName("9.3 a subscription that fails for good ends the start, whatever the others still wait for")
    void failsAtOnce() {
        List<String> events = new CopyOnWriteArrayList<>();
        KafkaException refused = new KafkaException("surface", new IllegalArgumentException("the reason"));
        App<NoState> app = SettleStream.app("app", "1")
                .withBroker(
                        broker("127.0.0.1:1").assignmentTimeout(FOR_EVER),
                        scope -> scope.include(text("never-assigned")))
                .withBroker(broker("127.0.0.1:2").assignmentTimeout(FOR_EVER), scope -> scope.include(text("refused")));

        StartupException failure = catchThrowableOfType(
                StartupException.class,
                () -> app.start(environment(events, Map.of("app-refused", () -> {
                    throw refused;
                }))));

        assertThat(failure)
                .hasCause(refused)
                .hasMessageContaining("subscription refused (group group) failed: surface")
                .hasMessageContaining("the reason");
        assertThat(events).contains("close app-never-assigned");
    }

    @Test
    @DisplayName("10.1 a producer that cannot be made fails the start with the reason at the bottom")
    void noProducer() {
        List<String> events = new CopyOnWriteArrayList<>();
        App<NoState> app = SettleStream.app("app", "1")
                .withBroker(broker("127.0.0.1:1"), scope -> {
                    scope.publisher(KafkaPublish.to("out"));
                    scope.include(text("in"));
                })
                .afterShutdown(state -> events.add("afterShutdown"));

        StartupException failure = catchThrowableOfType(
                StartupException.class,
                () -> app.start(environment(events, Map.of("app-producer", () -> {
                    throw new KafkaException("surface", new IllegalArgumentException("the reason"));
                }))));

        assertThat(failure).hasMessageContaining("[127.0.0.1:1]").hasMessageContaining("the reason");
        assertThat(events).as("no consumer was made").containsExactly("afterShutdown");
    }

    @Test
    @DisplayName("9.2 one topic mounted twice in one group is refused: each would get only a part of the records")
    void oneTopicTwiceInOneGroup() {
        App<NoState> app = SettleStream.app("app", "1")
                .withBroker(broker("127.0.0.1:1", "127.0.0.1:2"), scope -> {
                    scope.include(text("in"));
                    scope.include(text("in")).name("again");
                    scope.include(text(KafkaTopic.of("in").group("other")));
                    scope.include(text("different"));
                })
                .withBroker(broker("127.0.0.1:2,127.0.0.1:1"), scope -> scope.include(batch(KafkaTopic.of("in"))))
                .withBroker(broker("127.0.0.1:3"), scope -> scope.include(text("in")));

        StartupException report = catchThrowableOfType(StartupException.class, app::start);

        assertThat(report.problems())
                .satisfiesExactly(
                        again -> assertThat(again)
                                .startsWith("subscription again: ")
                                .contains("topic in", "group group", "by subscription in already")
                                .contains("KafkaTopic.group(...)", "workers(n)"),
                        elsewhere -> assertThat(elsewhere)
                                .startsWith("subscription in-3: ")
                                .contains("by subscription in already"));
    }

    @Test
    @Timeout(60)
    @DisplayName("10.1 a second start is refused while the first still runs, whose publishers it would take")
    void startedTwiceAtOnce() throws Exception {
        AtomicReference<Publisher> publisher = new AtomicReference<>();
        App<String> app = SettleStream.app("app", "1")
                .onStartup(() -> "state")
                .withBroker(broker("127.0.0.1:1"), scope -> publisher.set(scope.publisher(KafkaPublish.to("out"))));
        App<String> derived = app.afterStartup(state -> {});
        AppEnvironment environment = environment(new CopyOnWriteArrayList<>(), Map.of());
        assertNotRunning(publisher.get());

        try (RunningApp first = app.start(environment)) {
            for (App<String> second : List.of(app, derived)) {
                StartupException refused =
                        catchThrowableOfType(StartupException.class, () -> second.start(environment));
                assertThat(refused.problems())
                        .singleElement()
                        .satisfies(problem -> assertThat(problem)
                                .contains("publisher of", "[127.0.0.1:1]", "running already", "Stop that run first"));
            }
            assertThat(first.health().status()).isEqualTo(Health.Status.RUNNING);
            publisher.get().publishAndWait("still works");
        }

        assertNotRunning(publisher.get());
        try (RunningApp again = derived.start(environment)) {
            publisher.get().publishAndWait("works again");
        }
    }

    @Test
    @Timeout(60)
    @DisplayName("10.1 a start that failed keeps no publisher")
    void failedStartKeepsNothing() {
        AtomicReference<@Nullable RuntimeException> state = new AtomicReference<>(new IllegalStateException("state"));
        AtomicReference<@Nullable RuntimeException> hook = new AtomicReference<>(new IllegalStateException("hook"));
        App<String> app = SettleStream.app("app", "1")
                .onStartup(() -> {
                    RuntimeException failure = state.getAndSet(null);
                    if (failure != null) {
                        throw failure;
                    }
                    return "state";
                })
                .withBroker(broker("127.0.0.1:1"), scope -> scope.publisher(KafkaPublish.to("out")))
                .afterStartup(made -> {
                    RuntimeException failure = hook.getAndSet(null);
                    if (failure != null) {
                        throw failure;
                    }
                });
        AppEnvironment environment = environment(new CopyOnWriteArrayList<>(), Map.of());

        for (String reason : List.of("state", "hook")) {
            assertThat(catchThrowableOfType(StartupException.class, () -> app.start(environment)))
                    .hasRootCauseMessage(reason);
        }
        assertThatNoException().isThrownBy(() -> app.start(environment).close());
    }

    @Test
    @Timeout(60)
    @DisplayName("10.1 an application without publishers may run several times at once")
    void severalRuns() {
        App<NoState> app = SettleStream.app("app", "1").withBroker(broker("127.0.0.1:1"), scope -> {});
        AppEnvironment environment = environment(new CopyOnWriteArrayList<>(), Map.of());

        try (RunningApp first = app.start(environment);
                RunningApp second = app.start(environment)) {
            assertThat(List.of(first.health().status(), second.health().status()))
                    .containsOnly(Health.Status.RUNNING);
        }
    }

    private static void assertNotRunning(Publisher publisher) {
        PublishException refused = catchThrowableOfType(PublishException.class, () -> publisher.publish("lost"));
        assertThat(refused.reason()).isEqualTo(PublishException.Reason.CLOSED);
        assertThat(refused).hasMessageContaining("is not running");
    }

    @Test
    @DisplayName("10.1 an application does not change once it is built: scopes and mounts that were kept refuse")
    void doesNotChange() {
        AtomicReference<Scope<NoState>> kept = new AtomicReference<>();
        AtomicReference<Mount> mount = new AtomicReference<>();
        App<NoState> app = SettleStream.app("app", "1").withBroker(broker("127.0.0.1:1"), scope -> {
            kept.set(scope);
            mount.set(scope.include(text("in")).workers(2));
            scope.publisher(KafkaPublish.to("out"));
        });
        List<java.util.function.Consumer<Mount>> options = List.of(
                it -> it.workers(1),
                it -> it.workersByKey(1),
                it -> it.dedicatedThreads(1),
                it -> it.onException(ExceptionPolicy.DROP),
                it -> it.onDecodeFailure(DecodePolicy.FAIL_FAST),
                it -> it.drainTimeout(Duration.ZERO),
                it -> it.retryBackoff(Duration.ZERO, Duration.ZERO),
                it -> it.inFlightLimit(1, 1),
                it -> it.name("other"));

        assertThat(options)
                .allSatisfy(option -> assertThatIllegalStateException()
                        .isThrownBy(() -> option.accept(mount.get()))
                        .withMessageStartingWith("subscription of in: ")
                        .withMessageContaining("once withBroker has returned")
                        .withMessageContaining("scope.include(...)"));
        assertThatIllegalStateException()
                .isThrownBy(() -> kept.get().include(text("late")))
                .withMessageContaining("subscription of late")
                .withMessageContaining("[127.0.0.1:1]")
                .withMessageContaining("once withBroker has returned");
        assertThatIllegalStateException()
                .isThrownBy(() -> kept.get().publisher(KafkaPublish.to("late")))
                .withMessageContaining("publisher")
                .withMessageContaining("once withBroker has returned");
        assertThat(app).isNotNull();
    }

    @Test
    @DisplayName("10.1 a scope is of no use after a function that threw, either")
    void thrownOutOfTheScope() {
        AtomicReference<Scope<NoState>> kept = new AtomicReference<>();

        assertThatIllegalArgumentException()
                .isThrownBy(() -> SettleStream.app("app", "1").withBroker(broker("127.0.0.1:1"), scope -> {
                    kept.set(scope);
                    throw new IllegalArgumentException("boom");
                }));

        assertThatIllegalStateException().isThrownBy(() -> kept.get().include(text("late")));
    }

    private static KafkaTopic topic(String name) {
        return KafkaTopic.of(name).group("group");
    }

    private static KafkaBroker broker(String... bootstrap) {
        return KafkaBroker.of(bootstrap).defaultGroup("group");
    }

    private static Subscriber<String, Object> text(String topic) {
        return text(KafkaTopic.of(topic));
    }

    private static Subscriber<String, Object> text(KafkaTopic topic) {
        return Subscriber.on(topic, String.class).handle((value, context) -> HandlerOutcome.ack());
    }

    private static Subscriber<String, Object> batch(KafkaTopic topic) {
        return Subscriber.on(topic, String.class)
                .<Object>handleBatch((values, context) -> HandlerOutcome.ack())
                .batch(10);
    }

    /** Clients without a cluster, noted as they are opened and closed; those named in {@code refusals} are refused. */
    private static AppEnvironment environment(List<String> events, Map<String, Runnable> refusals) {
        Function<Map<String, Object>, String> open = properties -> {
            String name = String.valueOf(properties.get("client.id"));
            refusals.getOrDefault(name, () -> {}).run();
            events.add("open " + name);
            return name;
        };
        return new AppEnvironment(
                new KafkaClients() {
                    @Override
                    public Consumer<byte[], byte[]> consumer(Map<String, Object> properties) {
                        String name = open.apply(properties);
                        return new MockConsumer<>("none") {
                            @Override
                            public void close(org.apache.kafka.clients.consumer.CloseOptions options) {
                                events.add("close " + name);
                                super.close(options);
                            }
                        };
                    }

                    @Override
                    public Producer<byte[], byte[]> producer(Map<String, Object> properties) {
                        String name = open.apply(properties);
                        return new MockProducer<>(true, null, new ByteArraySerializer(), new ByteArraySerializer()) {
                            @Override
                            public void close(Duration timeout) {
                                events.add("close " + name);
                                super.close(timeout);
                            }
                        };
                    }
                },
                SystemEnvironment.create().scheduler());
    }
}
