package io.settlestream.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.settlestream.ExceptionPolicy;
import io.settlestream.HandlerOutcome;
import io.settlestream.LaneKey;
import io.settlestream.RunningApp;
import io.settlestream.StartupException;
import io.settlestream.Subscriber;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which deliveries run one after the other, which at the same time, and on what threads. */
class LanesIT {

    private final LiveKafka kafka = LiveKafka.shared();
    private final String group = LiveKafka.unique("lanes-group");

    /** Counts how many handlers run at a time. */
    private static final class Inside {
        private final AtomicInteger now = new AtomicInteger();
        private final AtomicInteger most = new AtomicInteger();

        void enter() {
            most.accumulateAndGet(now.incrementAndGet(), Math::max);
        }

        void leave() {
            now.decrementAndGet();
        }
    }

    @Test
    @DisplayName("5.1 by default one delivery is handled after the other, over all partitions, on a virtual thread")
    void oneLane() {
        String topic = kafka.topic("lanes", 3);
        Inside inside = new Inside();
        List<String> origins = new CopyOnWriteArrayList<>();
        Set<Boolean> virtual = ConcurrentHashMap.newKeySet();
        Subscriber<String, Object> subscriber = Subscriber.on(Services.tracked(topic, group), String.class)
                .handle((value, context) -> {
                    inside.enter();
                    virtual.add(Thread.currentThread().isVirtual());
                    origins.add(context.partition() + "@" + context.offset());
                    Thread.yield();
                    inside.leave();
                    return HandlerOutcome.ack();
                });
        for (int partition = 0; partition < 3; partition++) {
            kafka.produce(topic, partition, numbers(50));
        }

        try (RunningApp app = Services.start(subscriber)) {
            LiveKafka.eventually(
                    "all is settled", () -> kafka.committed(group, topic).equals(Map.of(0, 50L, 1, 50L, 2, 50L)));
            assertThat(app.health().healthy()).isTrue();
        }

        assertThat(inside.most).hasValue(1);
        assertThat(virtual).containsExactly(true);
        for (int partition = 0; partition < 3; partition++) {
            String prefix = partition + "@";
            assertThat(origins.stream().filter(origin -> origin.startsWith(prefix)))
                    .containsExactlyElementsOf(
                            IntStream.range(0, 50).mapToObj(i -> prefix + i).toList());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName(
            "5.1 workers(n) handle n deliveries at a time and no more; dedicatedThreads(n) do so on platform threads")
    void workers(boolean dedicated) {
        String topic = kafka.topic("lanes", 1);
        Inside inside = new Inside();
        CountDownLatch together = new CountDownLatch(3);
        CountDownLatch gate = new CountDownLatch(1);
        Set<Boolean> virtual = ConcurrentHashMap.newKeySet();
        Subscriber<String, Object> subscriber = Subscriber.on(Services.tracked(topic, group), String.class)
                .handle((value, context) -> {
                    inside.enter();
                    virtual.add(Thread.currentThread().isVirtual());
                    together.countDown();
                    pass(gate);
                    inside.leave();
                    return HandlerOutcome.ack();
                });
        kafka.produce(topic, 0, numbers(8));

        try (RunningApp app = Services.start(subscriber, mount -> {
            if (dedicated) {
                mount.dedicatedThreads(3);
            } else {
                mount.workers(3);
            }
        })) {
            pass(together);
            Services.eventuallyOpen(app, 8);
            gate.countDown();
            LiveKafka.eventually(
                    "all is settled", () -> kafka.committed(group, topic).equals(Map.of(0, 8L)));
        }

        assertThat(inside.most).hasValue(3);
        assertThat(virtual).containsExactly(!dedicated);
    }

    @Test
    @DisplayName("5.1 dedicatedThreads go with workersByKey; other numbers, and two kinds of workers, are refused")
    void dedicatedThreadsByKey() {
        String topic = kafka.topic("lanes", 2);
        CountDownLatch together = new CountDownLatch(2);
        Set<Boolean> virtual = ConcurrentHashMap.newKeySet();
        Subscriber<String, Object> subscriber = Subscriber.on(Services.tracked(topic, group), String.class)
                .handle((value, context) -> {
                    virtual.add(Thread.currentThread().isVirtual());
                    together.countDown();
                    pass(together);
                    return HandlerOutcome.ack();
                });
        kafka.produce(topic, 0, "a");
        kafka.produce(topic, 1, "b");

        try (RunningApp app =
                Services.start(subscriber, mount -> mount.workersByKey(2).dedicatedThreads(2))) {
            LiveKafka.eventually(
                    "all is settled", () -> kafka.committed(group, topic).equals(Map.of(0, 1L, 1, 1L)));
            assertThat(app.health().healthy()).isTrue();
        }

        assertThat(virtual).containsExactly(false);
        assertThat(refusal(subscriber, mount -> mount.workersByKey(2).dedicatedThreads(3)))
                .contains("dedicatedThreads(3)");
        assertThat(refusal(subscriber, mount -> mount.workers(2).workersByKey(2)))
                .contains("workers(2)", "workersByKey(2)");
    }

    private static String refusal(
            Subscriber<String, Object> subscriber, java.util.function.Consumer<io.settlestream.Mount> options) {
        StartupException refused =
                catchThrowableOfType(StartupException.class, () -> Services.start(subscriber, options));
        assertThat(refused.problems()).hasSize(1);
        return refused.problems().get(0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("5.1 by RECORD_KEY: a key that blocks holds up its own records and no other key's")
    void keysDoNotWaitForEachOther(String protocol) {
        String topic = kafka.topic("lanes", 1);
        int keys = 16;
        int rounds = 3;
        CountDownLatch others = new CountDownLatch((keys - 1) * rounds);
        List<String> begun = new CopyOnWriteArrayList<>();
        Subscriber<String, Object> subscriber = Subscriber.on(
                        Services.tracked(topic, group).config("group.protocol", protocol), String.class)
                .handle((value, context) -> {
                    String key = LiveKafka.text(context.key());
                    begun.add(key + ":" + value);
                    if (key.equals("k0")) {
                        pass(others);
                    } else {
                        others.countDown();
                    }
                    return HandlerOutcome.ack();
                });
        for (int round = 0; round < rounds; round++) {
            for (int key = 0; key < keys; key++) {
                kafka.produceKeyed(topic, 0, "k" + key, String.valueOf(round));
            }
        }

        try (RunningApp app = Services.start(subscriber, mount -> mount.workersByKey(2, LaneKey.RECORD_KEY))) {
            LiveKafka.eventually(
                    "all is settled", () -> kafka.committed(group, topic).equals(Map.of(0, (long) keys * rounds)));
            assertThat(app.health().healthy()).isTrue();
        }

        for (int key = 0; key < keys; key++) {
            String prefix = "k" + key + ":";
            assertThat(begun.stream().filter(b -> b.startsWith(prefix)))
                    .containsExactly(prefix + 0, prefix + 1, prefix + 2);
        }
        // Its second record was begun after all records of the other keys.
        assertThat(begun.indexOf("k0:1")).isGreaterThan((keys - 1) * rounds);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("5.1 by PARTITION, and by RECORD_KEY without keys: a partition that blocks holds up itself alone")
    void partitionsDoNotWaitForEachOther(LaneKey key) {
        int partitions = 5;
        String topic = kafka.topic("lanes", partitions);
        CountDownLatch others = new CountDownLatch((partitions - 1) * 4);
        List<String> begun = new CopyOnWriteArrayList<>();
        Subscriber<String, Object> subscriber = Subscriber.on(Services.tracked(topic, group), String.class)
                .handle((value, context) -> {
                    begun.add(context.partition() + ":" + value);
                    if (context.partition() == 0) {
                        pass(others);
                    } else {
                        others.countDown();
                    }
                    return HandlerOutcome.ack();
                });
        for (int partition = 0; partition < partitions; partition++) {
            for (int i = 0; i < 4; i++) {
                if (key == LaneKey.PARTITION) {
                    kafka.produceKeyed(topic, partition, "key" + i, String.valueOf(i));
                } else {
                    kafka.produce(topic, partition, String.valueOf(i));
                }
            }
        }

        try (RunningApp app = Services.start(subscriber, mount -> mount.workersByKey(2, key))) {
            LiveKafka.eventually(
                    "all is settled",
                    () -> kafka.committed(group, topic).equals(Map.of(0, 4L, 1, 4L, 2, 4L, 3, 4L, 4, 4L)));
            assertThat(app.health().healthy()).isTrue();
        }

        for (int partition = 0; partition < partitions; partition++) {
            String prefix = partition + ":";
            assertThat(begun.stream().filter(b -> b.startsWith(prefix)))
                    .containsExactly(prefix + 0, prefix + 1, prefix + 2, prefix + 3);
        }
        assertThat(begun.indexOf("0:1")).isGreaterThanOrEqualTo(others(partitions));
    }

    private static int others(int partitions) {
        return (partitions - 1) * 4;
    }

    @Test
    @DisplayName(
            "5.1, 3.6 by RECORD_KEY: a key that retries comes back before its next record, and others flow meanwhile")
    void retryHoldsItsKey() {
        String topic = kafka.topic("lanes", 1);
        CountDownLatch flowed = new CountDownLatch(3);
        List<String> begun = new CopyOnWriteArrayList<>();
        Subscriber<String, Object> subscriber = Subscriber.on(Services.tracked(topic, group), String.class)
                .handle((value, context) -> {
                    begun.add(value);
                    if (value.equals("a1")) {
                        return flowed.getCount() == 0 ? HandlerOutcome.ack() : HandlerOutcome.retry();
                    }
                    if (value.startsWith("b")) {
                        flowed.countDown();
                    }
                    return HandlerOutcome.ack();
                });
        kafka.produceKeyed(topic, 0, "a", "a1", "a2");
        kafka.produceKeyed(topic, 0, "b", "b1", "b2", "b3");

        // One worker: a lane that waits for a retry must not occupy it.
        try (RunningApp app = Services.start(subscriber, mount -> mount.workersByKey(1, LaneKey.RECORD_KEY))) {
            LiveKafka.eventually(
                    "all is settled", () -> kafka.committed(group, topic).equals(Map.of(0, 5L)));
            assertThat(app.health().healthy()).isTrue();
        }

        assertThat(begun.indexOf("a2")).isGreaterThan(begun.lastIndexOf("a1"));
        assertThat(begun.indexOf("b3")).isLessThan(begun.lastIndexOf("a1"));
    }

    @Test
    @DisplayName("5.1 by RECORD_KEY: many keys, few workers, random retries: one at a time and in order for each key")
    void keysUnderLoad() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        String topic = kafka.topic("lanes", 4);
        int records = 1_500;
        int keys = 30;
        Map<String, AtomicInteger> inKey = new ConcurrentHashMap<>();
        Map<String, List<Integer>> settled = new ConcurrentHashMap<>();
        List<String> collisions = new CopyOnWriteArrayList<>();
        Set<Integer> flaky = ConcurrentHashMap.newKeySet();
        Subscriber<String, Object> subscriber = Subscriber.on(Services.tracked(topic, group), String.class)
                .handle((value, context) -> {
                    byte[] bytes = context.key();
                    String key = bytes == null ? "partition " + context.partition() : LiveKafka.text(bytes);
                    AtomicInteger inside = inKey.computeIfAbsent(key, k -> new AtomicInteger());
                    if (inside.incrementAndGet() > 1) {
                        collisions.add(key + " at " + value);
                    }
                    Thread.yield();
                    int number = Integer.parseInt(value);
                    boolean retry = flaky.remove(number);
                    if (!retry) {
                        settled.computeIfAbsent(key, k -> new CopyOnWriteArrayList<>())
                                .add(number);
                    }
                    inside.decrementAndGet();
                    return retry ? HandlerOutcome.retry() : HandlerOutcome.ack();
                });
        try (KafkaProducer<byte[], byte[]> producer = kafka.producer(Map.of())) {
            for (int i = 0; i < records; i++) {
                int key = random.nextInt(keys);
                // Keyless records go with their partition.
                byte[] bytes = key < 4 ? null : LiveKafka.bytes("key" + key);
                producer.send(new ProducerRecord<>(topic, key % 4, bytes, LiveKafka.bytes(String.valueOf(i))));
                if (random.nextInt(20) == 0) {
                    flaky.add(i);
                }
            }
        }

        try (RunningApp app = Services.start(subscriber, mount -> mount.workersByKey(4, LaneKey.RECORD_KEY))) {
            LiveKafka.eventually(
                    "all is settled", () -> kafka.committed(group, topic).equals(kafka.ends(topic, 4)));
            assertThat(app.health().healthy()).isTrue();
        }

        assertThat(collisions).as("seed %d", seed).isEmpty();
        assertThat(settled.values().stream().mapToInt(List::size).sum())
                .as("seed %d", seed)
                .isEqualTo(records);
        assertThat(settled)
                .as("seed %d", seed)
                .allSatisfy((key, numbers) -> assertThat(numbers).isSorted());
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName(
            "5.1, 7.5 after a failure nothing behind the failed record is handled, not even by the drain of a stop")
    void nothingBehindAFailure(LaneKey key) {
        String topic = kafka.topic("lanes", 1);
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch stopping = new CountDownLatch(1);
        List<String> begun = new CopyOnWriteArrayList<>();
        Subscriber<String, Object> subscriber = Subscriber.on(Services.tracked(topic, group), String.class)
                .handle((value, context) -> {
                    begun.add(value);
                    if (value.equals("a1") && key == LaneKey.RECORD_KEY) {
                        pass(running);
                        throw new IllegalStateException("failed");
                    } else if (value.equals("a1")) {
                        throw new IllegalStateException("failed");
                    }
                    running.countDown();
                    pass(stopping);
                    return HandlerOutcome.ack();
                });
        kafka.produceKeyed(topic, 0, "a", "a1", "a2");
        kafka.produceKeyed(topic, 0, "b", "b1", "b2");

        try (RunningApp app = Services.start(
                subscriber, mount -> mount.workersByKey(2, key).onException(ExceptionPolicy.FAIL_FAST))) {
            LiveKafka.eventually("the service stops", () -> app.stopping().isDone());
            stopping.countDown();
            assertThat(Services.stopped(app).failure()).isPresent();
        }

        if (key == LaneKey.RECORD_KEY) {
            assertThat(begun).containsExactlyInAnyOrder("a1", "b1");
        } else {
            assertThat(begun).containsExactly("a1");
        }
        assertThat(kafka.committed(group, topic)).isEqualTo(Map.of(0, 0L));
    }

    @Test
    @DisplayName("1.4 a handler may answer later: the lane waits for the stage and goes on when it completes")
    void answersLater() {
        String topic = kafka.topic("lanes", 1);
        List<CompletableFuture<HandlerOutcome>> stages = new CopyOnWriteArrayList<>();
        List<String> begun = new CopyOnWriteArrayList<>();
        Subscriber<String, Object> subscriber = Subscriber.on(Services.tracked(topic, group), String.class)
                .handleAsync((value, context) -> {
                    long incomplete =
                            stages.stream().filter(stage -> !stage.isDone()).count();
                    begun.add(value + "#" + context.attempt() + " with " + incomplete + " incomplete");
                    CompletableFuture<HandlerOutcome> stage = new CompletableFuture<>();
                    stages.add(stage);
                    return stage.minimalCompletionStage();
                });
        kafka.produce(topic, 0, "a", "b", "c");

        try (RunningApp app = Services.start(subscriber)) {
            List<HandlerOutcome> answers =
                    List.of(HandlerOutcome.ack(), HandlerOutcome.retry(), HandlerOutcome.drop(), HandlerOutcome.ack());
            for (int i = 0; i < answers.size(); i++) {
                int asked = i + 1;
                LiveKafka.eventually("the handler is asked", () -> stages.size() == asked);
                stages.get(i).complete(answers.get(i));
            }
            LiveKafka.eventually(
                    "all is settled", () -> kafka.committed(group, topic).equals(Map.of(0, 3L)));
            assertThat(Services.counts(app).acked()).isEqualTo(2);
            assertThat(Services.counts(app).dropped()).isEqualTo(1);
        }

        assertThat(begun)
                .containsExactly(
                        "a#1 with 0 incomplete",
                        "b#1 with 0 incomplete",
                        "b#2 with 0 incomplete",
                        "c#1 with 0 incomplete");
    }

    @Test
    @DisplayName("1.4, 5.1 with workers(n) n stages are on their way at a time")
    void answersLaterTogether() {
        String topic = kafka.topic("lanes", 1);
        List<CompletableFuture<HandlerOutcome>> stages = new CopyOnWriteArrayList<>();
        Subscriber<String, Object> subscriber = Subscriber.on(Services.tracked(topic, group), String.class)
                .handleAsync((value, context) -> {
                    CompletableFuture<HandlerOutcome> stage = new CompletableFuture<>();
                    stages.add(stage);
                    return stage;
                });
        kafka.produce(topic, 0, "a", "b", "c");

        try (RunningApp app = Services.start(subscriber, mount -> mount.workers(3))) {
            LiveKafka.eventually("three are on their way", () -> stages.size() == 3);
            stages.get(2).complete(HandlerOutcome.ack());
            stages.get(1).complete(HandlerOutcome.ack());
            Services.eventuallyOpen(app, 1);
            stages.get(0).complete(HandlerOutcome.ack());
            LiveKafka.eventually(
                    "all is settled", () -> kafka.committed(group, topic).equals(Map.of(0, 3L)));
        }
    }

    /** Ways in which an asynchronous handler gives no outcome. */
    enum NoAnswer {
        THROWS,
        FAILS,
        FAILS_IN_A_CHAIN,
        CANCELLED,
        NULL_STAGE,
        NULL_OUTCOME;

        @Nullable
        CompletionStage<HandlerOutcome> stage() {
            return switch (this) {
                case THROWS -> throw new IllegalStateException("thrown");
                case FAILS -> CompletableFuture.failedFuture(new IllegalStateException("failed"));
                case FAILS_IN_A_CHAIN ->
                    CompletableFuture.supplyAsync(() -> {
                        throw new IllegalStateException("failed in a chain");
                    });
                case CANCELLED -> {
                    CompletableFuture<HandlerOutcome> cancelled = new CompletableFuture<>();
                    cancelled.cancel(false);
                    yield cancelled;
                }
                case NULL_STAGE -> null;
                case NULL_OUTCOME -> CompletableFuture.completedFuture(null);
            };
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("1.4, 1.5 a stage that fails, is null, or completes with null, goes to the exception policy")
    void noAnswer(NoAnswer kind) {
        String topic = kafka.topic("lanes", 1);
        List<Integer> attempts = new CopyOnWriteArrayList<>();
        Subscriber<String, Object> subscriber = Subscriber.on(Services.tracked(topic, group), String.class)
                .handleAsync((value, context) -> {
                    attempts.add(context.attempt());
                    return context.attempt() == 1
                            ? kind.stage()
                            : CompletableFuture.completedFuture(HandlerOutcome.ack());
                });
        kafka.produce(topic, 0, "a");

        try (RunningApp app = Services.start(subscriber, mount -> mount.onException(ExceptionPolicy.RETRY))) {
            LiveKafka.eventually(
                    "all is settled", () -> kafka.committed(group, topic).equals(Map.of(0, 1L)));
            assertThat(Services.counts(app).exceptions()).isEqualTo(1);
            assertThat(app.health().healthy()).isTrue();
        }

        assertThat(attempts).containsExactly(1, 2);
    }

    private static String[] numbers(int count) {
        List<String> numbers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            numbers.add(String.valueOf(i));
        }
        return numbers.toArray(String[]::new);
    }

    /** Waits for what other handlers, or the test, do. */
    private static void pass(CountDownLatch gate) {
        try {
            if (!gate.await(LiveKafka.PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                throw new AssertionError("the gate was never opened");
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
