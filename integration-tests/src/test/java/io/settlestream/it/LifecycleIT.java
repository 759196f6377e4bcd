package io.settlestream.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.settlestream.App;
import io.settlestream.ExceptionPolicy;
import io.settlestream.HandlerOutcome;
import io.settlestream.Health;
import io.settlestream.NoState;
import io.settlestream.PublishException;
import io.settlestream.Publisher;
import io.settlestream.RunningApp;
import io.settlestream.RunningApp.StopReason;
import io.settlestream.ServiceFailedException;
import io.settlestream.SettleStream;
import io.settlestream.ShutdownResult;
import io.settlestream.StartupException;
import io.settlestream.Subscriber;
import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaPublish;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.kafka.StartOffset;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Hooks, failures and what an application leaves behind. */
class LifecycleIT {

    private final LiveKafka kafka = LiveKafka.shared();
    private final String group = LiveKafka.unique("group");
    private final List<String> events = new CopyOnWriteArrayList<>();

    @Test
    @DisplayName("10.1 hooks run in order; publishers work in afterStartup and onShutdown; at the end nothing is left")
    void order() {
        Leftovers leftovers = new Leftovers();
        String in = kafka.topic("in", 1);
        String out = kafka.topic("out", 1);
        AtomicReference<Publisher> publisher = new AtomicReference<>();
        AtomicReference<RunningApp> running = new AtomicReference<>();
        App<String> app = SettleStream.app("lifecycle-it", "1")
                .onStartup(() -> {
                    events.add("onStartup");
                    assertThat(leftovers.threads())
                            .as("opened before the state")
                            .isEmpty();
                    return "state";
                })
                .withBroker(broker(), scope -> {
                    publisher.set(scope.publisher(KafkaPublish.to(out)));
                    scope.include(Subscriber.on(earliest(in), String.class).<String>handle((value, context) -> {
                        events.add(value + " with " + context.state());
                        return HandlerOutcome.ack();
                    }));
                })
                .afterStartup(state -> {
                    events.add("afterStartup");
                    assertThat(kafka.members(group)).isEqualTo(1);
                    publisher.get().publishAndWait("after startup");
                    kafka.produce(in, 0, "handled");
                    LiveKafka.eventually("handlers are live", () -> events.contains("handled with state"));
                })
                .afterStartup(state -> events.add("second afterStartup"))
                .onShutdown(state -> {
                    events.add("onShutdown");
                    assertThat(running.get().health().status()).isEqualTo(Health.Status.STOPPING);
                    assertThat(running.get().health().healthy()).isFalse();
                    assertThat(kafka.members(group)).isEqualTo(1);
                    publisher.get().publishAndWait("on shutdown");
                    kafka.produce(in, 0, "late");
                    LiveKafka.eventually("handlers still run", () -> events.contains("late with state"));
                })
                .onShutdown(state -> events.add("second onShutdown"))
                .afterShutdown(state -> {
                    events.add("afterShutdown");
                    assertThat(kafka.members(group)).isZero();
                    assertThat(catchThrowableOfType(
                                            PublishException.class,
                                            () -> publisher.get().publish("too late"))
                                    .reason())
                            .isEqualTo(PublishException.Reason.CLOSED);
                });
        assertThat(events).as("before the start").isEmpty();

        running.set(app.start());
        Health health = running.get().health();
        ShutdownResult result = LiveKafka.get(running.get().shutdown());

        assertThat(events)
                .containsExactly(
                        "onStartup",
                        "afterStartup",
                        "handled with state",
                        "second afterStartup",
                        "onShutdown",
                        "late with state",
                        "second onShutdown",
                        "afterShutdown");
        assertThat(health.status()).isEqualTo(Health.Status.RUNNING);
        assertThat(health.healthy()).isTrue();
        assertThat(health.subscriptions()).singleElement().satisfies(subscription -> {
            assertThat(subscription.source()).isEqualTo(in);
            assertThat(subscription.group()).contains(group);
            assertThat(subscription.partitions()).hasSize(1);
        });
        assertThat(running.get().health().status()).isEqualTo(Health.Status.STOPPED);
        assertThat(LiveKafka.get(running.get().stopping())).isEqualTo(StopReason.REQUESTED);
        assertThat(result.failure()).isEmpty();
        assertThat(result.clean()).isTrue();
        assertThat(kafka.readValues(out, 1)).containsExactly("after startup", "on shutdown");
        leftovers.awaitNone();
    }

    @Test
    @DisplayName("10.1 a failing onStartup opens nothing")
    void onStartupFails() {
        Leftovers leftovers = new Leftovers();
        IllegalStateException boom = new IllegalStateException("boom");
        App<String> app = withHooks(SettleStream.app("lifecycle-it", "1").onStartup(() -> {
            throw boom;
        }));

        StartupException failure = catchThrowableOfType(StartupException.class, app::start);

        assertThat(failure)
                .hasMessageContaining("onStartup failed")
                .hasMessageContaining("boom")
                .hasCause(boom);
        assertThat(events).isEmpty();
        assertThat(leftovers.threads()).isEmpty();
    }

    @Test
    @DisplayName("10.1 a failing afterStartup tears down what was opened, and later ones do not run")
    void afterStartupFails() {
        Leftovers leftovers = new Leftovers();
        AssertionError boom = new AssertionError("boom");
        App<String> app = SettleStream.app("lifecycle-it", "1")
                .onStartup(() -> "state")
                .afterStartup(state -> {
                    throw boom;
                });

        StartupException failure = catchThrowableOfType(
                StartupException.class, () -> withHooks(app).start());

        assertThat(failure)
                .hasMessageContaining("afterStartup failed")
                .hasMessageContaining("boom")
                .hasCause(boom);
        assertThat(events).containsExactly("afterShutdown");
        assertThat(kafka.members(group)).isZero();
        leftovers.awaitNone();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName("10.1 a failing shutdown hook is reported and keeps nothing from being closed")
    void shutdownHookFails(boolean before) {
        Leftovers leftovers = new Leftovers();
        IllegalStateException boom = new IllegalStateException("boom");
        App<String> first = SettleStream.app("lifecycle-it", "1").onStartup(() -> "state");
        App.Hook<String> failing = state -> {
            throw boom;
        };
        App<String> app = withHooks(before ? first.onShutdown(failing) : first.afterShutdown(failing));

        RunningApp running = app.start();
        ShutdownResult result = LiveKafka.get(running.shutdown());

        assertThat(events).containsExactly("afterStartup", "onShutdown", "afterShutdown");
        assertThat(result.failure()).contains(boom);
        assertThat(result.clean()).isFalse();
        assertThat(result.brokers()).hasSize(1);
        assertThat(kafka.members(group)).isZero();
        leftovers.awaitNone();
    }

    private App<String> withHooks(App<String> app) {
        String topic = kafka.topic("in", 1);
        return app.withBroker(broker(), scope -> {
                    scope.publisher(KafkaPublish.to("out"));
                    scope.include(acking(earliest(topic)));
                })
                .afterStartup(state -> events.add("afterStartup"))
                .onShutdown(state -> events.add("onShutdown"))
                .afterShutdown(state -> events.add("afterShutdown"));
    }

    @Test
    @DisplayName("10.1 one application object starts again and again, and its publishers with it")
    void startsTwice() {
        String in = kafka.topic("in", 1);
        String out = kafka.topic("out", 1);
        AtomicReference<Publisher> publisher = new AtomicReference<>();
        App<NoState> app = SettleStream.app("lifecycle-it", "1").withBroker(broker(), scope -> {
            publisher.set(scope.publisher(KafkaPublish.to(out)));
            scope.include(Subscriber.on(earliest(in), String.class).handle((value, context) -> {
                events.add(value);
                return HandlerOutcome.ack();
            }));
        });

        for (String value : List.of("first", "second")) {
            assertThat(catchThrowableOfType(
                                    PublishException.class,
                                    () -> publisher.get().publish(value))
                            .reason())
                    .isEqualTo(PublishException.Reason.CLOSED);
            try (RunningApp running = app.start()) {
                kafka.produce(in, 0, value);
                LiveKafka.get(publisher.get().publish(value).toCompletableFuture());
                LiveKafka.eventually(value + " is handled", () -> events.contains(value));
            }
        }

        assertThat(events).containsExactly("first", "second");
        assertThat(kafka.readValues(out, 1)).containsExactly("first", "second");
        assertThat(kafka.committed0(group, in)).isEqualTo(Optional.of(2L));
    }

    @ParameterizedTest
    @ValueSource(strings = {"auto", "tracked"})
    @DisplayName(
            "7.5 FAIL_FAST stops gracefully: what others settled is committed, the failed record is not; 10.2 run() throws")
    void failFast(String mode) throws Exception {
        String topic = kafka.topic("failing", 2);
        for (int i = 0; i < 10; i++) {
            kafka.produce(topic, 0, "a" + i);
            kafka.produce(topic, 1, "b" + i);
        }
        IllegalArgumentException boom = new IllegalArgumentException("boom");
        CountDownLatch others = new CountDownLatch(15);
        CountDownLatch fail = new CountDownLatch(1);
        App<NoState> app = SettleStream.app("lifecycle-it", "1")
                .withBroker(broker().commit(mode.equals("auto") ? Commit.auto() : Commit.tracked()), scope -> {
                    scope.include(Subscriber.on(earliest(topic), String.class).handle((value, context) -> {
                                if (value.equals("a5")) {
                                    others.await();
                                    fail.await();
                                    throw boom;
                                }
                                if (value.compareTo("a5") < 0 || value.startsWith("b")) {
                                    others.countDown();
                                }
                                return HandlerOutcome.ack();
                            }))
                            .workers(4);
                })
                .onShutdown(state -> events.add("onShutdown"));

        CompletableFuture<ShutdownResult> run = CompletableFuture.supplyAsync(app::run);
        assertThat(others.await(LiveKafka.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                .isTrue();
        assertThat(run).as("run() blocks").isNotDone();
        fail.countDown();
        Throwable thrown =
                catchThrowableOfType(CompletionException.class, run::join).getCause();

        assertThat(thrown)
                .isInstanceOf(ServiceFailedException.class)
                .hasMessageContaining(topic + "-0@5")
                .hasRootCause(boom);
        assertThat(events).containsExactly("onShutdown");
        assertThat(kafka.committed(group, topic)).isEqualTo(Map.of(0, 5L, 1, 10L));
        assertThat(kafka.members(group)).isZero();
    }

    @Test
    @DisplayName("7.5 after a failure health says FAILED, with the first cause, and stopping() why")
    void healthAfterFailure() {
        String topic = kafka.topic("failing", 1);
        kafka.produce(topic, 0, "bad", "never");
        RunningApp app = SettleStream.app("lifecycle-it", "1")
                .withBroker(
                        broker().commit(Commit.tracked()),
                        scope -> scope.include(Subscriber.on(earliest(topic), String.class)
                                        .handle((value, context) -> {
                                            events.add(value);
                                            throw new StackOverflowError("deep");
                                        }))
                                .onException(ExceptionPolicy.DROP))
                .start();

        assertThat(LiveKafka.get(app.stopping())).isEqualTo(StopReason.FAILURE);
        ShutdownResult result = LiveKafka.get(app.shutdown());

        assertThat(events).containsExactly("bad");
        assertThat(result.clean()).isFalse();
        assertThat(result.failure()).isEqualTo(app.health().failure());
        assertThat(app.health().status()).isEqualTo(Health.Status.FAILED);
        assertThat(app.health().failure().orElseThrow())
                .hasMessageContaining(topic + "-0@0")
                .hasRootCauseInstanceOf(StackOverflowError.class);
        assertThat(app.health().subscriptions())
                .singleElement()
                .satisfies(subscription -> assertThat(subscription.failure())
                        .isEqualTo(app.health().failure()));
        assertThat(kafka.committed(group, topic)).isEqualTo(Map.of(0, 0L));
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("9.1 two subscriptions of one topic, each in a group of its own, see every record")
    void twoSubscriptionsOfOneTopic(String protocol) {
        String topic = kafka.topic("shared", 2);
        String other = LiveKafka.unique("other");
        List<String> mine = new CopyOnWriteArrayList<>();
        List<String> theirs = new CopyOnWriteArrayList<>();
        List<String> all = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            kafka.produce(topic, i % 2, "v" + i);
            all.add("v" + i);
        }

        try (RunningApp app = SettleStream.app("lifecycle-it", "1")
                .withBroker(broker().config("group.protocol", protocol), scope -> {
                    scope.include(collecting(earliest(topic), mine));
                    scope.include(collecting(earliest(topic).group(other), theirs));
                })
                .start()) {
            LiveKafka.eventually("both see all", () -> mine.size() >= 20 && theirs.size() >= 20);
            assertThat(app.health().subscriptions())
                    .extracting(Health.Subscription::name)
                    .containsExactly(topic, topic + "-2");
        }

        assertThat(mine).containsExactlyInAnyOrderElementsOf(all);
        assertThat(theirs).containsExactlyInAnyOrderElementsOf(all);
        assertThat(kafka.committed(group, topic))
                .isEqualTo(Map.of(0, 10L, 1, 10L))
                .isEqualTo(kafka.committed(other, topic));
    }

    private KafkaBroker broker() {
        return KafkaBroker.of(kafka.bootstrap())
                .defaultGroup(group)
                .assignmentTimeout(Duration.ofDays(1))
                .config("auto.commit.interval.ms", 100);
    }

    private static KafkaTopic earliest(String topic) {
        return KafkaTopic.of(topic).startOffset(StartOffset.EARLIEST);
    }

    private static Subscriber<String, Object> acking(KafkaTopic topic) {
        return Subscriber.on(topic, String.class).handle((value, context) -> HandlerOutcome.ack());
    }

    private static Subscriber<String, Object> collecting(KafkaTopic topic, List<String> values) {
        return Subscriber.on(topic, String.class).handle((value, context) -> {
            values.add(value);
            return HandlerOutcome.ack();
        });
    }
}
