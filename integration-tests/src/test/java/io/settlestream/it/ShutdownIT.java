package io.settlestream.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.App;
import io.settlestream.HandlerOutcome;
import io.settlestream.Health;
import io.settlestream.LaneKey;
import io.settlestream.Mount;
import io.settlestream.NoState;
import io.settlestream.Reply;
import io.settlestream.RunningApp;
import io.settlestream.Scope;
import io.settlestream.SettleStream;
import io.settlestream.ShutdownResult;
import io.settlestream.Subscriber;
import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaPublish;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.kafka.StartOffset;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** 10.3, one situation a test. */
class ShutdownIT {

    private static final Duration FOR_EVER = Duration.ofSeconds(Long.MAX_VALUE);

    private final LiveKafka kafka = LiveKafka.shared();
    private final String group = LiveKafka.unique("group");
    private final List<String> seen = new CopyOnWriteArrayList<>();

    /** How deliveries get to handlers. */
    enum Lane {
        ONE,
        WORKERS,
        BY_KEY,
        BATCHES,
        AUTO
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("10.3 an idle stop waits for nothing, whatever the timeouts")
    void idle(String protocol) {
        Leftovers leftovers = new Leftovers();
        String topic = kafka.topic("idle", 2);
        kafka.produce(topic, 0, "one");
        RunningApp app = app(broker(protocol).flushTimeout(FOR_EVER).assignmentTimeout(FOR_EVER), scope -> {
                    scope.publisher(KafkaPublish.to("out"));
                    scope.include(collecting(topic)).retryBackoff(FOR_EVER, FOR_EVER);
                })
                .shutdownTimeout(FOR_EVER)
                .start();
        LiveKafka.eventually(
                "it is at rest", () -> kafka.committed(group, topic).equals(Map.of(0, 1L, 1, 0L)));

        ShutdownResult result = LiveKafka.get(app.shutdown());

        assertThat(result.clean()).isTrue();
        assertThat(kafka.members(group)).isZero();
        leftovers.awaitNone();
    }

    @ParameterizedTest
    @EnumSource(Lane.class)
    @DisplayName("10.3 a clean stop in the middle of work repeats nothing and loses nothing, replies included")
    void repeatsNothing(Lane lane) {
        long seed = System.nanoTime();
        System.out.println("repeatsNothing(" + lane + ") seed " + seed);
        Random random = new Random(seed);
        int records = 1_800;
        String in = kafka.topic("busy", 3);
        String out = kafka.topic("replies", 1);
        produceKeyed(in, records + 1, random);
        AtomicInteger stopAt = new AtomicInteger();
        AtomicReference<CountDownLatch> reached = new AtomicReference<>();
        App<NoState> app =
                app(broker("classic").config("max.poll.records", 50).producerConfig("linger.ms", 20), scope -> {
                    include(scope, lane, in, out, value -> {
                        seen.add(value);
                        if (seen.size() == stopAt.get()) {
                            reached.get().countDown();
                        }
                        LockSupport.parkNanos(seen.size() * 7919 % 400_000);
                    });
                });

        int starts = 0;
        while (seen.size() <= records) {
            starts++;
            reached.set(new CountDownLatch(1));
            stopAt.set(Math.min(records + 1, seen.size() + 100 + random.nextInt(150)));
            RunningApp running = app.start();
            await(reached.get());
            ShutdownResult result = LiveKafka.get(running.shutdown());
            assertThat(result.clean()).as("seed %d, stop %d", seed, starts).isTrue();
            assertThat(seen).as("seed %d, stop %d", seed, starts).doesNotHaveDuplicates();
        }

        assertThat(starts).as("stops in the middle").isGreaterThan(2);
        assertThat(seen).as("seed %d", seed).hasSize(records + 1).doesNotHaveDuplicates();
        assertThat(kafka.committed(group, in)).isEqualTo(kafka.ends(in, 3));
        if (lane != Lane.BATCHES) {
            assertThat(kafka.readValues(out, 1)).containsExactlyInAnyOrderElementsOf(seen);
        }
    }

    /** Records v0 and so on over three partitions, with one of eight keys each. */
    private void produceKeyed(String topic, int records, Random random) {
        try (KafkaProducer<byte[], byte[]> producer = kafka.producer(Map.of())) {
            for (int i = 0; i < records; i++) {
                byte[] key = LiveKafka.bytes("k" + random.nextInt(8));
                producer.send(new ProducerRecord<>(topic, i % 3, key, LiveKafka.bytes("v" + i)));
            }
        }
    }

    private void include(Scope<NoState> scope, Lane lane, String in, String out, Consumer<String> handler) {
        KafkaTopic topic = earliest(in).commit(lane == Lane.AUTO ? Commit.auto() : Commit.tracked());
        if (lane == Lane.BATCHES) {
            scope.include(Subscriber.on(topic, String.class)
                            .<Object>handleBatch((values, context) -> {
                                values.forEach(handler);
                                return HandlerOutcome.ack();
                            })
                            .batch(7))
                    .workers(2);
            return;
        }
        Mount mount = scope.include(Subscriber.on(topic, String.class)
                .<String, Object>handleReply(String.class, (value, context) -> {
                    handler.accept(value);
                    return Reply.of(value);
                })
                .reply(KafkaPublish.to(out)));
        switch (lane) {
            case WORKERS -> mount.workers(4);
            case BY_KEY -> mount.workersByKey(4, LaneKey.RECORD_KEY);
            default -> {}
        }
    }

    @ParameterizedTest
    @CsvSource({"false, false", "true, false", "false, true"})
    @DisplayName("10.3 a handler that still runs at shutdownTimeout is interrupted, and its record is read again")
    void stuck(boolean dedicated, boolean acksAnyway) {
        String topic = kafka.topic("stuck", 1);
        kafka.produce(topic, 0, "done", "stuck", "never");
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch interrupted = new CountDownLatch(1);
        RunningApp app = app(broker("classic"), scope -> {
                    Mount mount = scope.include(Subscriber.on(earliest(topic), String.class)
                            .handle((value, context) -> {
                                seen.add(value);
                                if (!value.equals("stuck")) {
                                    return HandlerOutcome.ack();
                                }
                                running.countDown();
                                try {
                                    new CountDownLatch(1).await();
                                    throw new AssertionError("nobody lets it go on");
                                } catch (InterruptedException e) {
                                    assertThat(context.cancelled()).isTrue();
                                    interrupted.countDown();
                                    if (acksAnyway) {
                                        return HandlerOutcome.ack();
                                    }
                                    throw e;
                                }
                            }));
                    if (dedicated) {
                        mount.dedicatedThreads(1);
                    }
                })
                .shutdownTimeout(Duration.ofMillis(50))
                .start();
        await(running);

        LiveKafka.get(app.shutdown());

        await(interrupted);
        assertThat(app.health().status()).isEqualTo(Health.Status.STOPPED);
        assertThat(kafka.committed(group, topic)).isEqualTo(Map.of(0, 1L));
        assertThat(kafka.members(group)).isZero();
        List<String> again = new CopyOnWriteArrayList<>();
        try (RunningApp next = app(broker("classic"), scope -> scope.include(collecting(topic, again)))
                .start()) {
            LiveKafka.eventually("the next start reads it again", () -> again.size() >= 2);
        }
        assertThat(again).containsExactly("stuck#1", "never#1");
        assertThat(seen).containsExactly("done", "stuck");
    }

    @Test
    @DisplayName("10.3 a stop does not wait for a retry that is not due; the record stays open")
    void duringRetryWait() {
        String topic = kafka.topic("retrying", 1);
        kafka.produce(topic, 0, "good", "again", "behind");
        RunningApp app = app(
                        broker("classic"),
                        scope -> scope.include(Subscriber.on(earliest(topic), String.class)
                                        .handle((value, context) -> {
                                            seen.add(value + "#" + context.attempt());
                                            return value.equals("again")
                                                    ? HandlerOutcome.retry()
                                                    : HandlerOutcome.ack();
                                        }))
                                .retryBackoff(Duration.ofDays(1), Duration.ofDays(1)))
                .shutdownTimeout(FOR_EVER)
                .start();
        LiveKafka.eventually("it waits for its third attempt", () -> seen.contains("again#2"));

        ShutdownResult result = LiveKafka.get(app.shutdown());

        assertThat(result.clean()).isTrue();
        assertThat(seen).containsExactly("good#1", "again#1", "again#2");
        assertThat(kafka.committed(group, topic)).isEqualTo(Map.of(0, 1L));
    }

    @Test
    @DisplayName("10.3 two stops at once are one")
    void twice() {
        AtomicInteger hooks = new AtomicInteger();
        String topic = kafka.topic("twice", 1);
        RunningApp app = app(broker("classic"), scope -> scope.include(collecting(topic)))
                .onShutdown(state -> hooks.incrementAndGet())
                .afterShutdown(state -> hooks.incrementAndGet())
                .start();

        List<CompletableFuture<ShutdownResult>> stops = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            boolean close = i % 2 == 0;
            stops.add(CompletableFuture.supplyAsync(() -> {
                if (close) {
                    app.close();
                }
                return app.shutdown().join();
            }));
        }
        List<ShutdownResult> results = stops.stream().map(LiveKafka::get).toList();

        assertThat(results).allSatisfy(result -> assertThat(result).isSameAs(results.get(0)));
        assertThat(hooks).hasValue(2);
        assertThat(kafka.members(group)).isZero();
    }

    @ParameterizedTest
    @CsvSource({"true, false", "false, false", "true, true", "false, true"})
    @DisplayName(
            "10.3 a handler, and a hook, may stop the application: nothing waits for itself, and the record is settled")
    void fromHandler(boolean close, boolean dedicated) {
        String topic = kafka.topic("self", 1);
        CompletableFuture<RunningApp> running = new CompletableFuture<>();
        App<NoState> app = app(broker("classic"), scope -> {
                    Mount mount = scope.include(Subscriber.on(earliest(topic), String.class)
                            .handle((value, context) -> {
                                if (close) {
                                    running.join().close();
                                } else {
                                    CompletableFuture<ShutdownResult> unused =
                                            running.join().shutdown();
                                }
                                seen.add(value);
                                return HandlerOutcome.ack();
                            }));
                    if (dedicated) {
                        mount.dedicatedThreads(2);
                    }
                })
                .onShutdown(state -> running.join().close())
                .afterShutdown(state -> running.join().close())
                .shutdownTimeout(FOR_EVER);
        RunningApp started = app.start();
        running.complete(started);
        kafka.produce(topic, 0, "the last");

        LiveKafka.eventually("the handler stops it", () -> started.health().status() == Health.Status.STOPPED);

        assertThat(LiveKafka.get(started.shutdown()).clean()).isTrue();
        assertThat(seen).containsExactly("the last");
        assertThat(kafka.committed(group, topic)).isEqualTo(Map.of(0, 1L));
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName(
            "10.3 a stop during a rebalance that waits for a handler: it ends, its record is committed, others go on")
    void duringRebalance(String protocol) {
        String topic = kafka.topic("moving", 2);
        CountDownLatch running = new CountDownLatch(2);
        CountDownLatch goOn = new CountDownLatch(1);
        RunningApp first = app(
                        broker(protocol),
                        scope -> scope.include(Subscriber.on(earliest(topic), String.class)
                                        .handle((value, context) -> {
                                            running.countDown();
                                            goOn.await();
                                            seen.add(value);
                                            return HandlerOutcome.ack();
                                        }))
                                .workers(2)
                                .drainTimeout(Duration.ofSeconds(60)))
                .start();
        kafka.produce(topic, 0, "a");
        kafka.produce(topic, 1, "b");
        await(running);
        CompletableFuture<RunningApp> second = CompletableFuture.supplyAsync(() ->
                app(broker(protocol), scope -> scope.include(collecting(topic))).start());
        LiveKafka.eventually("the first gives up a partition", () -> inRevocation("settlestream-poll-" + topic));

        CompletableFuture<ShutdownResult> stop = first.shutdown();
        goOn.countDown();

        assertThat(LiveKafka.get(stop).clean()).isTrue();
        assertThat(seen).containsExactlyInAnyOrder("a", "b");
        try (RunningApp other = LiveKafka.get(second)) {
            kafka.produce(topic, 0, "c");
            kafka.produce(topic, 1, "d");
            LiveKafka.eventually("the other goes on with both", () -> seen.size() >= 4);
        }
        assertThat(seen).containsExactlyInAnyOrder("a", "b", "c#1", "d#1");
        assertThat(kafka.committed(group, topic)).isEqualTo(Map.of(0, 2L, 1, 2L));
    }

    /** Whether a poll thread of that name waits in the callback of a revocation. */
    private static boolean inRevocation(String name) {
        return Thread.getAllStackTraces().entrySet().stream()
                .filter(thread -> thread.getKey().getName().equals(name))
                .flatMap(thread -> Arrays.stream(thread.getValue()))
                .anyMatch(frame -> frame.getMethodName().equals("onPartitionsRevoked"));
    }

    @Test
    @DisplayName("12.3 a handler that ignores its interrupt shows in health after the stop, and holds up nothing")
    void ignoresInterrupt() {
        String topic = kafka.topic("deaf", 1);
        kafka.produce(topic, 0, "deaf");
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        RunningApp app = app(
                        broker("classic"),
                        scope -> scope.include(Subscriber.on(earliest(topic), String.class)
                                .handle((value, context) -> {
                                    running.countDown();
                                    boolean released = false;
                                    while (!released) {
                                        try {
                                            goOn.await();
                                            released = true;
                                        } catch (InterruptedException e) {
                                            seen.add("interrupted");
                                        }
                                    }
                                    return HandlerOutcome.ack();
                                })))
                .shutdownTimeout(Duration.ZERO)
                .start();
        await(running);

        LiveKafka.get(app.shutdown());
        List<Health.StuckHandler> stuck = app.health().subscriptions().get(0).stuckHandlers();
        goOn.countDown();

        assertThat(stuck).singleElement().satisfies(handler -> {
            assertThat(handler.topic()).isEqualTo(topic);
            assertThat(handler.partition()).isZero();
            assertThat(handler.offset()).isZero();
        });
        assertThat(kafka.committed(group, topic)).isEqualTo(Map.of(0, 0L));
        LiveKafka.eventually(
                "it is not stuck any more once it has returned",
                () -> app.health().subscriptions().get(0).stuckHandlers().isEmpty());
        LiveKafka.eventually("it was interrupted", () -> !seen.isEmpty());
        assertThat(kafka.committed(group, topic)).as("too late to count").isEqualTo(Map.of(0, 0L));
    }

    private App<NoState> app(KafkaBroker broker, Consumer<Scope<NoState>> scope) {
        return SettleStream.app("shutdown-it", "1").withBroker(broker, scope::accept);
    }

    private KafkaBroker broker(String protocol) {
        return KafkaBroker.of(kafka.bootstrap())
                .defaultGroup(group)
                .commit(Commit.tracked())
                .config("group.protocol", protocol)
                .config("max.poll.interval.ms", 300_000)
                .config("auto.commit.interval.ms", 100);
    }

    private Subscriber<String, Object> collecting(String topic) {
        return collecting(topic, seen);
    }

    private static Subscriber<String, Object> collecting(String topic, List<String> values) {
        return Subscriber.on(earliest(topic), String.class).handle((value, context) -> {
            values.add(value + "#" + context.attempt());
            return HandlerOutcome.ack();
        });
    }

    private static KafkaTopic earliest(String topic) {
        return KafkaTopic.of(topic).startOffset(StartOffset.EARLIEST);
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(LiveKafka.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .as("what the test waits for happened")
                    .isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
