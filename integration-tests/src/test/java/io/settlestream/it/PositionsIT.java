package io.settlestream.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.Handler;
import io.settlestream.HandlerOutcome;
import io.settlestream.Health;
import io.settlestream.LaneKey;
import io.settlestream.Mount;
import io.settlestream.RunningApp;
import io.settlestream.Subscriber;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What Commit.tracked() commits: up to the lowest open record, and never past it. */
class PositionsIT {

    private final LiveKafka kafka = LiveKafka.shared();
    private final String group = LiveKafka.unique("group");

    @ParameterizedTest
    @CsvSource({"classic,workers", "consumer,workers", "classic,keys", "consumer,keys", "classic,batches"})
    @DisplayName("3.1 the committed offset stops at the lowest open record while later ones are settled")
    void stopsAtTheLowestOpenRecord(String protocol, String lanes) {
        String topic = kafka.topic("open", 2);
        CountDownLatch release = new CountDownLatch(1);
        Handler<String, Object> handler = (value, context) -> {
            if (value.equals("2")) {
                Service.await(release);
            }
            return value.endsWith("5") ? HandlerOutcome.drop() : HandlerOutcome.ack();
        };
        Subscriber.Draft<String> draft = Subscriber.on(Service.tracked(topic, group, protocol), String.class);
        Subscriber<String, Object> subscriber = lanes.equals("batches")
                ? draft.<Object>handleBatch((values, context) -> handler.handle(values.get(0), context.element(0)))
                        .batch(1)
                : draft.handle(handler);
        Consumer<Mount> options =
                lanes.equals("keys") ? mount -> mount.workersByKey(4, LaneKey.RECORD_KEY) : mount -> mount.workers(4);
        for (int i = 0; i < 12; i++) {
            kafka.produceKeyed(topic, 0, "key" + i, Integer.toString(i));
        }

        try (RunningApp app = Service.start(kafka, subscriber, options)) {
            LiveKafka.eventually("all others are settled", () -> settled(app) == 11);
            // A commit of the other partition that was made after all of this.
            kafka.produceKeyed(topic, 1, "witness", "w");
            LiveKafka.eventually(
                    "the other partition is committed",
                    () -> Long.valueOf(1).equals(kafka.committed(group, topic).get(1)));

            assertThat(kafka.committed(group, topic)).isEqualTo(Map.of(0, 2L, 1, 1L));
            assertThat(kafka.committedOffsets(group)
                            .get(new TopicPartition(topic, 0))
                            .leaderEpoch())
                    .isEqualTo(Optional.of(0));
            assertThat(Service.only(app).partitions())
                    .filteredOn(partition -> partition.partition() == 0)
                    .singleElement()
                    .satisfies(partition -> {
                        assertThat(partition.openRecords()).isEqualTo(1);
                        assertThat(partition.oldestOpen()).contains(2L);
                    });

            release.countDown();
            LiveKafka.eventually(
                    "the position jumps to the end",
                    () -> kafka.committed(group, topic).equals(Map.of(0, 12L, 1, 1L)));
        } finally {
            release.countDown();
        }
    }

    private static long settled(RunningApp app) {
        Health.Counts counts = Service.only(app).counts();
        return counts.acked() + counts.dropped();
    }

    /** What has been acked, noted a moment before the framework hears of it. */
    private static final class Acked {
        private final Map<Integer, BitSet> byPartition = new HashMap<>();

        synchronized void add(int partition, long offset) {
            byPartition.computeIfAbsent(partition, none -> new BitSet()).set((int) offset);
        }

        synchronized long lowestOpen(int partition) {
            return byPartition.getOrDefault(partition, new BitSet()).nextClearBit(0);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName(
            "3.1, 3.3 with retries and out of order, the committed offset never passes an open record or goes down")
    void neverPastAnOpenRecordAndNeverDown(String protocol) {
        long seed = new Random().nextLong();
        System.out.println("neverPastAnOpenRecordAndNeverDown(" + protocol + ") seed " + seed);
        String topic = kafka.topic("random", 3);
        int each = 120;
        for (int partition = 0; partition < 3; partition++) {
            kafka.produce(
                    topic,
                    partition,
                    IntStream.range(0, each).mapToObj(Integer::toString).toArray(String[]::new));
        }
        Acked acked = new Acked();
        AtomicLong samples = new AtomicLong();
        Subscriber<String, Object> subscriber = Subscriber.on(
                        Service.tracked(topic, group, protocol)
                                .config("auto.commit.interval.ms", 10)
                                .config("max.poll.records", 40),
                        String.class)
                .handle((value, context) -> {
                    Random random = new Random(seed + context.partition() * 1_000_003L + context.offset() * 31);
                    int attempts = Math.max(1, random.nextInt(8) - 4);
                    if (random.nextInt(12) == 0 && context.attempt() == attempts) {
                        // Held over some looks at the committed offset, while others are settled.
                        long until = samples.get() + 8;
                        while (samples.get() < until && !Thread.currentThread().isInterrupted()) {
                            LockSupport.parkNanos(1_000_000);
                        }
                    }
                    if (context.attempt() < attempts) {
                        return HandlerOutcome.retry();
                    }
                    acked.add(context.partition(), context.offset());
                    return HandlerOutcome.ack();
                });
        Map<Integer, Long> last = new HashMap<>();
        List<String> wrong = new ArrayList<>();

        try (RunningApp app = Service.start(
                kafka,
                subscriber,
                mount -> mount.workers(4).retryBackoff(Duration.ofMillis(1), Duration.ofMillis(4)))) {
            LiveKafka.eventually("everything is committed", () -> {
                Map<Integer, Long> committed = kafka.committed(group, topic);
                committed.forEach((partition, offset) -> {
                    long open = acked.lowestOpen(partition);
                    if (offset > open) {
                        wrong.add("partition " + partition + ": committed " + offset + ", open " + open);
                    }
                    Long before = last.put(partition, offset);
                    if (before != null && offset < before) {
                        wrong.add("partition " + partition + ": committed " + before + ", then " + offset);
                    }
                });
                samples.incrementAndGet();
                return committed.values().stream().mapToLong(Long::longValue).sum() == 3L * each;
            });
            assertThat(Service.only(app).counts().retried()).isPositive();
        } finally {
            samples.set(Long.MAX_VALUE / 2);
        }

        assertThat(wrong).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "classic,read_committed",
        "classic,read_uncommitted",
        "consumer,read_committed",
        "consumer,read_uncommitted"
    })
    @DisplayName("3.2 markers and aborted records hold nothing back: lag is 0 at rest, and open records still count")
    void passesWhatIsNeverDelivered(String protocol, String isolation) {
        String topic = kafka.topic("gaps", 2);
        boolean seesAborted = isolation.equals("read_uncommitted");
        List<String> seen = new CopyOnWriteArrayList<>();
        CountDownLatch release = new CountDownLatch(1);
        Subscriber<String, Object> subscriber = Subscriber.on(
                        Service.tracked(topic, group, protocol).config("isolation.level", isolation), String.class)
                .handle((value, context) -> {
                    seen.add(value);
                    if (value.equals("hold")) {
                        Service.await(release);
                    }
                    return HandlerOutcome.ack();
                });
        try (KafkaProducer<byte[], byte[]> producer =
                kafka.producer(Map.of(ProducerConfig.TRANSACTIONAL_ID_CONFIG, LiveKafka.unique("transactions")))) {
            producer.initTransactions();
            transaction(producer, false, topic, "never", "never");
            try (RunningApp app = Service.start(kafka, subscriber, mount -> mount.workers(2))) {
                // 0 1 aborted, 2 marker
                committed(topic, 3);
                assertThat(seen).hasSize(seesAborted ? 2 : 0);

                // 3 4, 5 marker, 6 aborted, 7 marker, 8 hold, 9 marker, 10 aborted, 11 marker
                transaction(producer, true, topic, "a", "b");
                transaction(producer, false, topic, "never");
                transaction(producer, true, topic, "hold");
                transaction(producer, false, topic, "never");
                committed(topic, 8);
                assertThat(epoch(topic)).isEqualTo(Optional.of(0));
                kafka.produce(topic, 1, "witness");
                LiveKafka.eventually(
                        "the other partition is committed",
                        () -> Long.valueOf(1)
                                .equals(kafka.committed(group, topic).get(1)));
                committed(topic, 8);

                release.countDown();
                committed(topic, 12);
                assertThat(epoch(topic)).isEqualTo(Optional.of(0));

                // With nothing open: 12 13 aborted, 14 marker; then 15, 16 marker
                transaction(producer, false, topic, "never", "never");
                committed(topic, 15);
                transaction(producer, true, topic, "c");
                committed(topic, 17);
                assertThat(kafka.ends(topic, 1)).isEqualTo(Map.of(0, 17L));
                assertThat(epoch(topic)).isEqualTo(Optional.of(0));
            } finally {
                release.countDown();
            }
        }
        assertThat(seen.stream().filter(value -> !value.equals("never")))
                .containsExactlyInAnyOrder("a", "b", "hold", "witness", "c");
        assertThat(seen.stream().filter(value -> value.equals("never"))).hasSize(seesAborted ? 6 : 0);
    }

    private Optional<Integer> epoch(String topic) {
        return kafka.committedOffsets(group).get(new TopicPartition(topic, 0)).leaderEpoch();
    }

    private void committed(String topic, long offset) {
        LiveKafka.eventually(
                "committed is " + offset, () -> kafka.committed0(group, topic).equals(Optional.of(offset)));
    }

    /** Aborted records are in the log for good, because they are flushed before the abort. */
    private static void transaction(
            KafkaProducer<byte[], byte[]> producer, boolean commit, String topic, String... values) {
        producer.beginTransaction();
        for (String value : values) {
            producer.send(new ProducerRecord<>(topic, 0, null, LiveKafka.bytes(value)));
        }
        producer.flush();
        if (commit) {
            producer.commitTransaction();
        } else {
            producer.abortTransaction();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("3.3 commits in the background are made on the interval only")
    void commitsOnTheInterval(String protocol) {
        String topic = kafka.topic("interval", 1);
        int interval = 200;
        kafka.produce(
                topic, 0, IntStream.range(0, 300).mapToObj(Integer::toString).toArray(String[]::new));
        Subscriber<String, Object> subscriber = Subscriber.on(
                        CommitLog.noted(
                                Service.tracked(topic, group, protocol)
                                        .config("auto.commit.interval.ms", interval)
                                        .config("max.poll.records", 1),
                                group),
                        String.class)
                .handle((value, context) -> HandlerOutcome.ack());

        long begin = System.nanoTime();
        try (RunningApp app = Service.start(kafka, subscriber)) {
            committed(topic, 300);
            long intervals = Duration.ofNanos(System.nanoTime() - begin).toMillis() / interval;

            // One for the start, one for each interval that has begun.
            assertThat(CommitLog.of(group)).hasSizeLessThanOrEqualTo((int) intervals + 2);
            assertThat(app.health().healthy()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("3.3 nothing is committed while nothing moves, at rest and behind an open record")
    void commitsNothingWhenNothingMoves(String protocol) {
        String idle = kafka.topic("idle", 1);
        String held = kafka.topic("held", 1);
        String witness = kafka.topic("witness", 1);
        CountDownLatch release = new CountDownLatch(1);
        List<Subscriber<?, Object>> subscribers = new ArrayList<>();
        for (String topic : List.of(idle, held, witness)) {
            subscribers.add(Subscriber.on(
                            CommitLog.noted(Service.tracked(topic, group + topic, protocol), topic), String.class)
                    .handle((value, context) -> {
                        if (value.equals("hold")) {
                            Service.await(release);
                        }
                        return HandlerOutcome.ack();
                    }));
        }
        kafka.produce(idle, 0, "a");
        kafka.produce(held, 0, "a", "hold", "b", "c");

        try (RunningApp app = Service.start(kafka, subscribers, mount -> mount.workers(2))) {
            LiveKafka.eventually(
                    "what can be committed is",
                    () -> kafka.committed0(group + idle, idle).equals(Optional.of(1L))
                            && kafka.committed0(group + held, held).equals(Optional.of(1L))
                            && app.health().subscriptions().get(1).counts().acked() == 3);
            // The start, and what could be committed.
            LiveKafka.eventually(
                    "the commits are noted",
                    () -> CommitLog.of(idle).size() == 2
                            && CommitLog.of(held).stream()
                                    .anyMatch(offsets ->
                                            offsets.values().stream().anyMatch(offset -> offset.offset() == 1)));
            int heldCommits = CommitLog.of(held).size();
            // Each commit of the witness is an interval in which the others committed nothing.
            for (long i = 1; i <= 5; i++) {
                long offset = i;
                kafka.produce(witness, 0, "w");
                LiveKafka.eventually(
                        "the witness commits",
                        () -> kafka.committed0(group + witness, witness).equals(Optional.of(offset)));
            }

            assertThat(CommitLog.of(idle)).hasSize(2);
            assertThat(CommitLog.of(held)).hasSize(heldCommits);
            release.countDown();
        } finally {
            release.countDown();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("3.3 what the interval has not committed is committed at close; a clean stop repeats nothing")
    void commitsAtClose(String protocol) {
        String topic = kafka.topic("close", 2);
        kafka.produce(topic, 0, "a", "b", "c");
        kafka.produce(topic, 1, "a");
        Subscriber<String, Object> subscriber = Subscriber.on(
                        CommitLog.noted(
                                Service.tracked(topic, group, protocol).config("auto.commit.interval.ms", 3_600_000),
                                group),
                        String.class)
                .handle((value, context) -> HandlerOutcome.ack());

        try (RunningApp app = Service.start(kafka, subscriber)) {
            LiveKafka.eventually(
                    "all is handled", () -> Service.only(app).counts().acked() == 4);
            assertThat(kafka.committed(group, topic)).isEqualTo(Map.of(0, 0L, 1, 0L));
        }

        assertThat(kafka.committed(group, topic)).isEqualTo(Map.of(0, 3L, 1, 1L));
    }
}
