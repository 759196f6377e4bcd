package io.settlestream.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.settlestream.BatchContext;
import io.settlestream.BatchOutcome;
import io.settlestream.DecodePolicy;
import io.settlestream.ExceptionPolicy;
import io.settlestream.HandlerOutcome;
import io.settlestream.Health;
import io.settlestream.LaneKey;
import io.settlestream.RunningApp;
import io.settlestream.StartupException;
import io.settlestream.Subscriber;
import io.settlestream.kafka.Commit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Batch handlers on a real broker. */
class BatchIT {

    private final LiveKafka kafka = LiveKafka.shared();
    private final String group = LiveKafka.unique("batch-group");

    /** What a handler saw of one batch. */
    private record Seen(List<String> values, List<String> origins, List<Integer> attempts) {

        static Seen of(List<String> values, BatchContext<?> context) {
            return new Seen(
                    List.copyOf(values),
                    IntStream.range(0, context.size())
                            .mapToObj(i -> context.element(i).partition() + "@"
                                    + context.element(i).offset())
                            .toList(),
                    IntStream.range(0, context.size())
                            .mapToObj(i -> context.element(i).attempt())
                            .toList());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("4.1 a batch never waits to become larger: one record arrives although 500 are allowed")
    void batchOfOne(String protocol) {
        String topic = kafka.topic("batches", 1);
        List<List<String>> batches = new CopyOnWriteArrayList<>();
        Subscriber<String, Object> subscriber = Subscriber.on(
                        Services.tracked(topic, group).config("group.protocol", protocol), String.class)
                .handleBatch((values, context) -> {
                    batches.add(List.copyOf(values));
                    return BatchOutcome.ackAll();
                })
                .batch(500);

        try (RunningApp app = Services.start(subscriber)) {
            kafka.produce(topic, 0, "only");
            LiveKafka.eventually("the record is handled", () -> batches.size() == 1);
            LiveKafka.eventually(
                    "its offset is committed", () -> committed(topic).equals(Map.of(0, 1L)));
            assertThat(app.health().healthy()).isTrue();
        }

        assertThat(batches).containsExactly(List.of("only"));
    }

    @Test
    @DisplayName("4.1 a batch takes what is there up to n, spans partitions, and keeps the order of each")
    void sizesAndOrder() {
        String topic = kafka.topic("batches", 2);
        CountDownLatch gate = new CountDownLatch(1);
        List<Seen> batches = new CopyOnWriteArrayList<>();
        Subscriber<String, Object> subscriber = Subscriber.on(Services.tracked(topic, group), String.class)
                .handleBatch((values, context) -> {
                    batches.add(Seen.of(values, context));
                    pass(gate);
                    return BatchOutcome.ackAll();
                })
                .batch(10);

        try (RunningApp app = Services.start(subscriber)) {
            kafka.produce(topic, 0, "gate");
            LiveKafka.eventually("the lane is busy", () -> batches.size() == 1);
            String[] values = IntStream.range(0, 25).mapToObj(i -> "v" + i).toArray(String[]::new);
            kafka.produce(topic, 0, values);
            kafka.produce(topic, 1, values);
            Services.eventuallyOpen(app, 51);
            gate.countDown();
            LiveKafka.eventually("all is committed", () -> committed(topic).equals(Map.of(0, 26L, 1, 25L)));
        }

        assertThat(batches).extracting(batch -> batch.values().size()).containsExactly(1, 10, 10, 10, 10, 10);
        List<String> origins =
                batches.stream().flatMap(batch -> batch.origins().stream()).toList();
        for (int partition = 0; partition < 2; partition++) {
            String prefix = partition + "@";
            assertThat(origins.stream().filter(origin -> origin.startsWith(prefix)))
                    .containsExactlyElementsOf(IntStream.range(0, 26 - partition)
                            .mapToObj(i -> prefix + i)
                            .toList());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("4.2 entry i settles element i on its own partition;"
            + " 4.3 retries come back alone, and the position stops in front of each")
    void outcomesPerElement(String protocol) {
        String topic = kafka.topic("batches", 2);
        CountDownLatch gate = new CountDownLatch(1);
        Set<String> healed = ConcurrentHashMap.newKeySet();
        List<Seen> batches = new CopyOnWriteArrayList<>();
        Subscriber<String, Object> subscriber = Subscriber.on(
                        Services.tracked(topic, group).config("group.protocol", protocol), String.class)
                .handleBatch((values, context) -> {
                    batches.add(Seen.of(values, context));
                    pass(gate);
                    return BatchOutcome.each(values.stream()
                            .map(value -> switch (value) {
                                case "b", "z" -> healed.contains(value) ? HandlerOutcome.ack() : HandlerOutcome.retry();
                                case "y" -> HandlerOutcome.drop();
                                default -> HandlerOutcome.ack();
                            })
                            .toList());
                })
                .batch(100);

        try (RunningApp app =
                Services.start(subscriber, mount -> mount.retryBackoff(Duration.ofMillis(5), Duration.ofMillis(5)))) {
            kafka.produce(topic, 0, "gate");
            LiveKafka.eventually("the lane is busy", () -> batches.size() == 1);
            kafka.produce(topic, 0, "a", "b", "c");
            kafka.produce(topic, 1, "x", "y", "z", "w");
            Services.eventuallyOpen(app, 8);
            gate.countDown();

            LiveKafka.eventually(
                    "each partition is committed up to its retry",
                    () -> committed(topic).equals(Map.of(0, 2L, 1, 2L)));
            kafka.produce(topic, 0, "d");
            Services.eventuallyOpen(app, 3);
            int before = batches.size();
            LiveKafka.eventually("both come back while d waits", () -> batches.size() > before + 3);
            healed.add("z");
            LiveKafka.eventually(
                    "z is settled, b is not", () -> committed(topic).equals(Map.of(0, 2L, 1, 4L)));
            int alone = batches.size();
            LiveKafka.eventually("b comes back", () -> batches.size() > alone + 1);
            healed.add("b");
            LiveKafka.eventually("all is settled", () -> committed(topic).equals(Map.of(0, 5L, 1, 4L)));

            Health.Counts counts = Services.counts(app);
            assertThat(counts.acked()).isEqualTo(8);
            assertThat(counts.dropped()).isEqualTo(1);
            assertThat(counts.batchMismatches()).isZero();
        }

        assertThat(batches.get(1).values()).containsExactlyInAnyOrder("a", "b", "c", "x", "y", "z", "w");
        List<Seen> again = batches.subList(2, batches.size() - 1);
        assertThat(again).allSatisfy(batch -> assertThat(batch.values()).isSubsetOf("b", "z"));
        assertThat(again.get(0).values()).containsExactlyInAnyOrder("b", "z");
        assertThat(again.get(0).attempts()).containsExactly(2, 2);
        assertThat(again.get(again.size() - 1).values()).containsExactly("b");
        assertThat(batches.get(batches.size() - 1).values()).containsExactly("d");
    }

    @Test
    @DisplayName("4.2 with too few outcomes the rest is retried, surplus ones are ignored, and both are counted")
    void tooFewAndTooMany() {
        String topic = kafka.topic("batches", 1);
        List<Seen> batches = new CopyOnWriteArrayList<>();
        CountDownLatch gate = new CountDownLatch(1);
        Subscriber<String, Object> subscriber = Subscriber.on(Services.tracked(topic, group), String.class)
                .handleBatch((values, context) -> {
                    batches.add(Seen.of(values, context));
                    pass(gate);
                    return switch (values.get(0)) {
                        case "a" -> BatchOutcome.each(List.of(HandlerOutcome.ack()));
                        case "b" ->
                            BatchOutcome.each(List.of(
                                    HandlerOutcome.drop(),
                                    HandlerOutcome.ack(),
                                    HandlerOutcome.retry(),
                                    HandlerOutcome.retry()));
                        default -> BatchOutcome.ackAll();
                    };
                })
                .batch(10);

        try (RunningApp app = Services.start(subscriber)) {
            kafka.produce(topic, 0, "gate");
            LiveKafka.eventually("the lane is busy", () -> batches.size() == 1);
            kafka.produce(topic, 0, "a", "b", "c");
            Services.eventuallyOpen(app, 4);
            gate.countDown();
            LiveKafka.eventually("all is settled", () -> committed(topic).equals(Map.of(0, 4L)));
            kafka.produce(topic, 0, "next");
            LiveKafka.eventually("the lane goes on", () -> committed(topic).equals(Map.of(0, 5L)));

            Health.Counts counts = Services.counts(app);
            assertThat(counts.batchMismatches()).isEqualTo(2);
            assertThat(counts.retried()).isEqualTo(2);
            assertThat(counts.dropped()).isEqualTo(1);
            assertThat(counts.acked()).isEqualTo(4);
        }

        assertThat(batches)
                .extracting(Seen::values)
                .containsExactly(List.of("gate"), List.of("a", "b", "c"), List.of("b", "c"), List.of("next"));
        assertThat(batches.get(2).attempts()).containsExactly(2, 2);
    }

    @Test
    @DisplayName("4.4 undecodable elements go to the decode policy and never reach the handler; the rest arrive")
    void undecodableElements() {
        String topic = kafka.topic("batches", 1);
        List<List<Number>> batches = new CopyOnWriteArrayList<>();
        Subscriber<Number, Object> subscriber = Subscriber.on(Services.tracked(topic, group), Number.class)
                .handleBatch((values, context) -> {
                    batches.add(List.copyOf(values));
                    return BatchOutcome.ackAll();
                })
                .batch(10);
        kafka.produce(topic, 0, "1", "{garbage", "2", null, "3", "null");

        try (RunningApp app = Services.start(subscriber)) {
            LiveKafka.eventually("all is settled", () -> committed(topic).equals(Map.of(0, 6L)));
            assertThat(Services.counts(app).undecodable()).isEqualTo(3);
            assertThat(Services.counts(app).acked()).isEqualTo(3);
            assertThat(app.health().healthy()).isTrue();
        }

        assertThat(batches.stream().flatMap(List::stream).map(Number::intValue)).containsExactly(1, 2, 3);
    }

    @Test
    @DisplayName("4.4, 7.5 an undecodable element under RETRY comes back alone, the rest of its batch is settled")
    void undecodableRetried() {
        String topic = kafka.topic("batches", 1);
        FlakyCodec codec = new FlakyCodec("b", 3);
        List<Seen> batches = new CopyOnWriteArrayList<>();
        Subscriber<String, Object> subscriber = Subscriber.on(Services.tracked(topic, group), codec)
                .handleBatch((values, context) -> {
                    batches.add(Seen.of(values, context));
                    return BatchOutcome.ackAll();
                })
                .batch(10);
        kafka.produce(topic, 0, "a", "b", "c");

        try (RunningApp app = Services.start(subscriber, mount -> mount.onDecodeFailure(DecodePolicy.RETRY))) {
            LiveKafka.eventually("all is settled", () -> committed(topic).equals(Map.of(0, 3L)));
        }

        assertThat(batches.stream().map(Seen::values).filter(values -> values.contains("b")))
                .containsExactly(List.of("b"));
        assertThat(batches.stream().filter(batch -> batch.values().contains("b")))
                .singleElement()
                .satisfies(batch -> assertThat(batch.attempts()).containsExactly(4));
    }

    @Test
    @DisplayName("4.5 a batch handler that throws under RETRY: every element comes back, whatever came before it")
    void throwsAndRetries() {
        String topic = kafka.topic("batches", 2);
        CountDownLatch gate = new CountDownLatch(1);
        List<Seen> batches = new CopyOnWriteArrayList<>();
        Subscriber<String, Object> subscriber = Subscriber.on(Services.tracked(topic, group), String.class)
                .handleBatch((values, context) -> {
                    batches.add(Seen.of(values, context));
                    pass(gate);
                    if (values.contains("b") && context.element(0).attempt() < 3) {
                        throw new IllegalStateException("not yet");
                    }
                    return BatchOutcome.ackAll();
                })
                .batch(10);

        try (RunningApp app = Services.start(subscriber, mount -> mount.onException(ExceptionPolicy.RETRY))) {
            kafka.produce(topic, 0, "gate");
            LiveKafka.eventually("the lane is busy", () -> batches.size() == 1);
            kafka.produce(topic, 0, "a", "b");
            kafka.produce(topic, 1, "x");
            Services.eventuallyOpen(app, 4);
            gate.countDown();
            LiveKafka.eventually("all is settled", () -> committed(topic).equals(Map.of(0, 3L, 1, 1L)));
            assertThat(Services.counts(app).exceptions())
                    .as("attempts, not elements")
                    .isEqualTo(2);
        }

        List<Seen> attempts = batches.subList(1, batches.size());
        assertThat(attempts)
                .hasSize(3)
                .allSatisfy(batch -> assertThat(batch.values()).containsExactlyInAnyOrder("a", "b", "x"));
        assertThat(attempts)
                .extracting(Seen::attempts)
                .containsExactly(List.of(1, 1, 1), List.of(2, 2, 2), List.of(3, 3, 3));
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("4.5 a batch handler that throws under DROP: every element is settled")
    void throwsAndDrops(Mode mode) {
        String topic = kafka.topic("batches", 1);
        Subscriber<String, Object> subscriber = Subscriber.on(Services.topic(topic, group, mode.commit), String.class)
                .handleBatch((values, context) -> {
                    throw new IllegalStateException("never");
                })
                .batch(10);
        kafka.produce(topic, 0, "a", "b", "c");

        try (RunningApp app = Services.start(subscriber, mount -> mount.onException(ExceptionPolicy.DROP))) {
            LiveKafka.eventually(
                    "all is settled",
                    () -> committed(topic).equals(Map.of(0, 3L))
                            && Services.counts(app).dropped() == 3);
            assertThat(app.health().healthy()).isTrue();
        }
    }

    /** The commit modes that a test runs in. */
    enum Mode {
        AUTO(Commit.auto()),
        TRACKED(Commit.tracked());

        @SuppressWarnings("ImmutableEnumChecker") // its alternatives are enums
        final Commit commit;

        Mode(Commit commit) {
            this.commit = commit;
        }
    }

    static Stream<Arguments> modesAndWorkers() {
        return Stream.of(Mode.values()).flatMap(mode -> Stream.of(Arguments.of(mode, 1), Arguments.of(mode, 3)));
    }

    @ParameterizedTest
    @MethodSource("modesAndWorkers")
    @DisplayName(
            "4.5, 7.5 a batch handler that throws under FAIL_FAST: nothing of the batch is committed, the service stops")
    void throwsAndFails(Mode mode, int workers) {
        String topic = kafka.topic("batches", 1);
        List<String> seen = new CopyOnWriteArrayList<>();
        Subscriber<String, Object> subscriber = Subscriber.on(Services.topic(topic, group, mode.commit), String.class)
                .handleBatch((values, context) -> {
                    seen.addAll(values);
                    if (values.contains("bad")) {
                        throw new IllegalStateException("bad batch");
                    }
                    return BatchOutcome.ackAll();
                })
                .batch(2);

        try (RunningApp app = Services.start(subscriber, mount -> mount.workers(workers))) {
            kafka.produce(topic, 0, "good");
            LiveKafka.eventually(
                    "the first is committed", () -> committed(topic).equals(Map.of(0, 1L)));
            kafka.produce(topic, 0, "bad", "same batch");
            LiveKafka.eventually("the service stops", () -> app.stopping().isDone());
            assertThat(Services.stopped(app).failure())
                    .hasValueSatisfying(failure -> assertThat(failure).hasRootCauseMessage("bad batch"));
            assertThat(app.health().status()).isEqualTo(Health.Status.FAILED);
        }

        assertThat(committed(topic)).isEqualTo(Map.of(0, 1L));
        assertThat(seen).startsWith("good", "bad");
    }

    @Test
    @DisplayName("4.6 workers(n) keep n batches in flight")
    void batchesInFlight() {
        String topic = kafka.topic("batches", 1);
        CountDownLatch together = new CountDownLatch(3);
        List<Boolean> met = new CopyOnWriteArrayList<>();
        Subscriber<String, Object> subscriber = Subscriber.on(Services.tracked(topic, group), String.class)
                .handleBatch((values, context) -> {
                    together.countDown();
                    met.add(together.await(LiveKafka.PATIENCE.toSeconds(), TimeUnit.SECONDS));
                    return BatchOutcome.ackAll();
                })
                .batch(1);
        kafka.produce(topic, 0, "a", "b", "c");

        try (RunningApp app = Services.start(subscriber, mount -> mount.workers(3))) {
            LiveKafka.eventually("all is settled", () -> committed(topic).equals(Map.of(0, 3L)));
            assertThat(app.health().healthy()).isTrue();
        }

        assertThat(met).containsExactly(true, true, true);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("4.6 keyed workers on a batch handler are refused at startup")
    void keyedWorkersRefused(LaneKey key) {
        Subscriber<String, Object> subscriber = Subscriber.on(Services.tracked("anything", group), String.class)
                .handleBatch((values, context) -> BatchOutcome.ackAll())
                .batch(10);

        StartupException refused = catchThrowableOfType(
                StartupException.class, () -> Services.start(subscriber, mount -> mount.workersByKey(2, key)));

        assertThat(refused.problems()).singleElement().asString().contains("workersByKey(2)", "batch", "workers(2)");
    }

    @Test
    @DisplayName("4.3, 4.6 with several workers, too, a retry comes back, and nothing is committed past it")
    void retriesWithWorkers() {
        String topic = kafka.topic("batches", 2);
        Set<String> retried = ConcurrentHashMap.newKeySet();
        List<String> settled = new CopyOnWriteArrayList<>();
        Subscriber<String, Object> subscriber = Subscriber.on(Services.tracked(topic, group), String.class)
                .handleBatch((values, context) -> {
                    List<HandlerOutcome> outcomes = new ArrayList<>();
                    for (String value : values) {
                        boolean again = Integer.parseInt(value) % 7 == 0 && retried.add(value);
                        outcomes.add(again ? HandlerOutcome.retry() : HandlerOutcome.ack());
                        if (!again) {
                            settled.add(value);
                        }
                    }
                    return BatchOutcome.each(outcomes);
                })
                .batch(5);
        String[] even = IntStream.range(0, 200)
                .filter(i -> i % 2 == 0)
                .mapToObj(String::valueOf)
                .toArray(String[]::new);
        String[] odd = IntStream.range(0, 200)
                .filter(i -> i % 2 == 1)
                .mapToObj(String::valueOf)
                .toArray(String[]::new);
        kafka.produce(topic, 0, even);
        kafka.produce(topic, 1, odd);

        try (RunningApp app = Services.start(subscriber, mount -> mount.workers(4))) {
            LiveKafka.eventually("all is settled", () -> committed(topic).equals(Map.of(0, 100L, 1, 100L)));
            assertThat(Services.counts(app).retried()).isEqualTo(29);
        }

        assertThat(settled)
                .containsExactlyInAnyOrderElementsOf(
                        IntStream.range(0, 200).mapToObj(String::valueOf).toList());
    }

    private Map<Integer, Long> committed(String topic) {
        return kafka.committed(group, topic);
    }

    /** Waits at a gate that a test opens. */
    private static void pass(CountDownLatch gate) throws InterruptedException {
        if (!gate.await(LiveKafka.PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
            throw new AssertionError("the gate was never opened");
        }
    }
}
