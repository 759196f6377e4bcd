package io.settlestream.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.HandlerOutcome;
import io.settlestream.Health;
import io.settlestream.RunningApp;
import io.settlestream.Subscriber;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How deliveries come to their end. */
class SettlementIT {

    private static final Executor LATER = task -> Thread.startVirtualThread(task);

    private final LiveKafka kafka = LiveKafka.shared();
    private final String group = LiveKafka.unique("group");

    private void committed(String topic, long offset) {
        LiveKafka.eventually(
                "committed is " + offset, () -> kafka.committed0(group, topic).equals(Optional.of(offset)));
    }

    @ParameterizedTest
    @CsvSource({"classic,false", "consumer,false", "classic,true"})
    @DisplayName("1.1, 1.4 each outcome settles its record, answered at once or by a stage")
    void outcomes(String protocol, boolean async) {
        String topic = kafka.topic("outcomes", 1);
        AtomicInteger running = new AtomicInteger();
        AtomicInteger mostRunning = new AtomicInteger();
        var draft = Subscriber.on(Service.tracked(topic, group, protocol), String.class);
        Subscriber<String, Object> subscriber = async
                ? draft.handleAsync((value, context) -> {
                    mostRunning.accumulateAndGet(running.incrementAndGet(), Math::max);
                    return CompletableFuture.supplyAsync(
                            () -> {
                                running.decrementAndGet();
                                return outcome(value, context.attempt());
                            },
                            LATER);
                })
                : draft.handle((value, context) -> outcome(value, context.attempt()));
        kafka.produce(topic, 0, "ack", "drop", "retry", "ack", "drop", "ack");

        try (RunningApp app = Service.start(kafka, subscriber)) {
            committed(topic, 6);
            Health.Counts counts = Service.only(app).counts();
            assertThat(counts.acked()).isEqualTo(4);
            assertThat(counts.dropped()).isEqualTo(2);
            assertThat(counts.retried()).isEqualTo(1);
            assertThat(counts.stale()).isZero();
            assertThat(app.health().healthy()).isTrue();
        }

        // The lane waits for a stage: one delivery after the other.
        assertThat(mostRunning).hasValue(async ? 1 : 0);
    }

    private static HandlerOutcome outcome(String value, int attempt) {
        return switch (value) {
            case "drop" -> HandlerOutcome.drop();
            case "retry" -> attempt == 1 ? HandlerOutcome.retry() : HandlerOutcome.ack();
            default -> HandlerOutcome.ack();
        };
    }

    @Test
    @DisplayName("1.4 as many stages are in flight as there are workers, and settle in any order")
    void stagesInFlight() {
        String topic = kafka.topic("stages", 1);
        Map<String, CompletableFuture<HandlerOutcome>> stages =
                Map.of("a", new CompletableFuture<>(), "b", new CompletableFuture<>(), "c", new CompletableFuture<>());
        CountDownLatch begun = new CountDownLatch(3);
        Subscriber<String, Object> subscriber = Subscriber.on(Service.tracked(topic, group, "classic"), String.class)
                .handleAsync((value, context) -> {
                    begun.countDown();
                    return stages.get(value);
                });
        kafka.produce(topic, 0, "a", "b", "c");

        try (RunningApp app = Service.start(kafka, subscriber, mount -> mount.workers(3))) {
            LiveKafka.eventually("all are in flight", () -> begun.getCount() == 0);
            stages.get("c").complete(HandlerOutcome.ack());
            stages.get("a").complete(HandlerOutcome.ack());
            committed(topic, 1);
            stages.get("b").complete(HandlerOutcome.drop());
            committed(topic, 3);
        } finally {
            stages.values().forEach(stage -> stage.complete(HandlerOutcome.ack()));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("1.2 the outcome of a delivery that was given up changes nothing and is counted as stale")
    void lateOutcomesAreStale(String protocol) {
        String topic = kafka.topic("late", 1);
        CountDownLatch handling = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        List<Boolean> cancelled = new CopyOnWriteArrayList<>();
        Subscriber<String, Object> subscriber = Subscriber.on(Service.tracked(topic, group, protocol), String.class)
                .handle((value, context) -> {
                    handling.countDown();
                    boolean interrupted = false;
                    while (release.getCount() > 0) {
                        try {
                            Service.await(release);
                        } catch (InterruptedException e) {
                            interrupted = true;
                        }
                    }
                    cancelled.add(interrupted && context.cancelled());
                    return HandlerOutcome.ack();
                });
        kafka.produce(topic, 0, "a", "b");

        try (RunningApp app = Service.start(kafka, Duration.ZERO, List.of(subscriber), mount -> {})) {
            LiveKafka.eventually("it is being handled", () -> handling.getCount() == 0);
            LiveKafka.get(app.shutdown());
            assertThat(Service.only(app).counts().stale()).isZero();
            release.countDown();
            LiveKafka.eventually(
                    "the late outcome is noticed",
                    () -> Service.only(app).counts().stale() == 1);
            assertThat(Service.only(app).counts().acked()).isZero();
        } finally {
            release.countDown();
        }

        assertThat(cancelled).containsExactly(true);
        assertThat(kafka.committed0(group, topic)).contains(0L);
    }

    private static Error error(String kind) {
        return switch (kind) {
            case "overflow" -> {
                try {
                    yield deeper(0);
                } catch (StackOverflowError e) {
                    yield e;
                }
            }
            case "memory" -> new OutOfMemoryError("for a test");
            default -> new NoClassDefFoundError("for a test");
        };
    }

    private static Error deeper(int depth) {
        return depth < 0 ? new Error() : deeper(depth + 1);
    }

    @ParameterizedTest
    @CsvSource({
        "tracked,overflow,handler",
        "tracked,memory,stage",
        "tracked,linkage,batch",
        "auto,overflow,handler",
        "auto,linkage,stage",
        "auto,memory,batch"
    })
    @DisplayName("1.5 an Error fails the subscription, with the cause in health, and its record is not committed")
    void errorsFailTheSubscription(String mode, String kind, String where) {
        String topic = kafka.topic("error", 1);
        var source =
                mode.equals("auto") ? Service.auto(topic, group, "classic") : Service.tracked(topic, group, "classic");
        Error error = error(kind);
        var draft = Subscriber.on(source, String.class);
        Subscriber<String, Object> subscriber = switch (where) {
            case "batch" ->
                draft.<Object>handleBatch((values, context) -> {
                            if (values.get(0).equals("bad")) {
                                throw error;
                            }
                            return HandlerOutcome.ack();
                        })
                        .batch(1);
            case "stage" ->
                draft.handleAsync((value, context) -> value.equals("bad")
                        ? CompletableFuture.failedFuture(error)
                        : CompletableFuture.completedFuture(HandlerOutcome.ack()));
            default ->
                draft.handle((value, context) -> {
                    if (value.equals("bad")) {
                        throw error;
                    }
                    return HandlerOutcome.ack();
                });
        };
        kafka.produce(topic, 0, "good", "bad", "good");

        try (RunningApp app = Service.start(kafka, subscriber)) {
            assertThat(LiveKafka.get(app.stopping())).isEqualTo(RunningApp.StopReason.FAILURE);
            assertThat(LiveKafka.get(app.shutdown()).failure())
                    .get()
                    .satisfies(failure -> assertThat(failure).hasCause(error).hasMessageContaining(topic + "-0@1"));
            assertThat(app.health().status()).isEqualTo(Health.Status.FAILED);
            assertThat(app.health().healthy()).isFalse();
            assertThat(Service.only(app).failure())
                    .get()
                    .satisfies(failure -> assertThat(failure).hasCause(error));
            assertThat(Service.only(app).counts().acked()).isEqualTo(1);
        }

        assertThat(kafka.committed0(group, topic)).contains(1L);
    }

    @Test
    @DisplayName("1.5 of several Errors the first one is the cause")
    void theFirstErrorIsTheCause() {
        String topic = kafka.topic("errors", 1);
        CountDownLatch both = new CountDownLatch(2);
        CountDownLatch firstNoticed = new CountDownLatch(1);
        Subscriber<String, Object> subscriber = Subscriber.on(Service.tracked(topic, group, "classic"), String.class)
                .handle((value, context) -> {
                    both.countDown();
                    Service.await(both);
                    if (value.equals("second")) {
                        Service.await(firstNoticed);
                    }
                    throw new StackOverflowError(value);
                });
        kafka.produce(topic, 0, "second", "first");

        try (RunningApp app = Service.start(kafka, subscriber, mount -> mount.workers(2))) {
            LiveKafka.get(app.stopping());
            firstNoticed.countDown();
            assertThat(LiveKafka.get(app.shutdown()).failure())
                    .get()
                    .satisfies(failure -> assertThat(failure).hasRootCauseMessage("first"));
            assertThat(Service.only(app).failure())
                    .get()
                    .satisfies(failure -> assertThat(failure).hasRootCauseMessage("first"));
            assertThat(Service.only(app).counts().exceptions()).isEqualTo(2);
        } finally {
            firstNoticed.countDown();
        }
        assertThat(kafka.committed0(group, topic)).contains(0L);
    }

    @Test
    @DisplayName("1.5 an Error of a handler whose delivery was given up is not silent either")
    void anErrorOfAGivenUpDelivery() {
        String topic = kafka.topic("late-error", 1);
        CountDownLatch handling = new CountDownLatch(1);
        Subscriber<String, Object> subscriber = Subscriber.on(Service.tracked(topic, group, "classic"), String.class)
                .handle((value, context) -> {
                    handling.countDown();
                    try {
                        Service.await(new CountDownLatch(1));
                    } catch (InterruptedException e) {
                        throw new NoClassDefFoundError("for a test");
                    }
                    return HandlerOutcome.ack();
                });
        kafka.produce(topic, 0, "a");

        try (RunningApp app = Service.start(kafka, Duration.ZERO, List.of(subscriber), mount -> {})) {
            LiveKafka.eventually("it is being handled", () -> handling.getCount() == 0);
            LiveKafka.get(app.shutdown());
            LiveKafka.eventually(
                    "health says so",
                    () -> Service.only(app)
                            .failure()
                            .filter(failure -> failure.getCause() instanceof NoClassDefFoundError)
                            .isPresent());
        }
        assertThat(kafka.committed0(group, topic)).contains(0L);
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("3.1, 3.2 two groups on one topic are independent")
    void groupsAreIndependent(String protocol) {
        String topic = kafka.topic("two-groups", 1);
        String other = LiveKafka.unique("group");
        CountDownLatch release = new CountDownLatch(1);
        Subscriber<String, Object> held = Subscriber.on(Service.tracked(topic, group, protocol), String.class)
                .handle((value, context) -> {
                    Service.await(release);
                    return HandlerOutcome.ack();
                });
        Subscriber<String, Object> flowing = Subscriber.on(Service.tracked(topic, other, protocol), String.class)
                .handle((value, context) -> HandlerOutcome.ack());
        kafka.produce(topic, 0, "a", "b", "c");

        try (RunningApp app = Service.start(kafka, List.of(held, flowing), mount -> {})) {
            LiveKafka.eventually(
                    "one group is through", () -> kafka.committed0(other, topic).equals(Optional.of(3L)));
            assertThat(kafka.committed0(group, topic)).contains(0L);
            release.countDown();
            committed(topic, 3);
            assertThat(app.health().subscriptions())
                    .extracting(Health.Subscription::group)
                    .containsExactly(Optional.of(group), Optional.of(other));
            assertThat(app.health().subscriptions())
                    .allSatisfy(subscription ->
                            assertThat(subscription.counts().acked()).isEqualTo(3));
        } finally {
            release.countDown();
        }
    }
}
