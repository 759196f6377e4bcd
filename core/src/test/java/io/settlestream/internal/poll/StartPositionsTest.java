package io.settlestream.internal.poll;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.settlestream.internal.commit.Commits;
import io.settlestream.internal.commit.Committer;
import io.settlestream.internal.commit.NoCommits;
import io.settlestream.internal.health.Counters;
import io.settlestream.internal.position.OwnedPartition;
import io.settlestream.internal.position.Slots;
import io.settlestream.internal.testing.ManualTime;
import io.settlestream.kafka.KafkaPosition;
import io.settlestream.kafka.StartOffset;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Where partitions start, on a cluster whose every answer the test gives. */
class StartPositionsTest {

    private static final Node NODE = new Node(1, "localhost", 9092);
    private static final Reading LIST = new Reading.Topics(List.of("a", "b"));

    private final Cluster cluster = new Cluster();
    private final Counters counters = new Counters();
    private final ManualTime time = new ManualTime();
    private final Map<TopicPartition, OwnedPartition> owned = new LinkedHashMap<>();

    /** A consumer that knows what the test says, and counts what is asked of the group. */
    private static final class Cluster extends MockConsumer<byte[], byte[]> {

        private final Map<TopicPartition, OffsetAndMetadata> committed = new HashMap<>();
        private int askedForCommitted;
        private boolean silent;

        Cluster() {
            super("none");
        }

        /** A topic whose partitions begin at 10 and end at 20. */
        void topic(String name, int partitions) {
            List<PartitionInfo> infos = new ArrayList<>();
            Map<TopicPartition, Long> beginnings = new HashMap<>();
            Map<TopicPartition, Long> ends = new HashMap<>();
            for (int i = 0; i < partitions; i++) {
                infos.add(new PartitionInfo(name, i, NODE, new Node[] {NODE}, new Node[] {NODE}));
                beginnings.put(new TopicPartition(name, i), 10L);
                ends.put(new TopicPartition(name, i), 20L);
            }
            updatePartitions(name, infos);
            updateBeginningOffsets(beginnings);
            updateEndOffsets(ends);
        }

        void end(String topic, int partition, long end) {
            updateEndOffsets(Map.of(new TopicPartition(topic, partition), end));
        }

        @Override
        public synchronized Map<TopicPartition, OffsetAndMetadata> committed(
                Set<TopicPartition> partitions, Duration timeout) {
            askedForCommitted++;
            Map<TopicPartition, OffsetAndMetadata> answer = new HashMap<>();
            partitions.forEach(partition -> answer.put(partition, committed.get(partition)));
            return answer;
        }

        @Override
        public void commitSync(Map<TopicPartition, OffsetAndMetadata> offsets, Duration timeout) {
            committed.putAll(offsets);
        }

        @Override
        public Map<TopicPartition, Long> beginningOffsets(Collection<TopicPartition> partitions, Duration timeout) {
            if (silent) {
                throw new TimeoutException("no answer");
            }
            return super.beginningOffsets(partitions, timeout);
        }
    }

    private static SubscriptionPlan plan(
            Reading source, String retryTopic, String group, StartOffset start, KafkaPosition startAt) {
        return new SubscriptionPlan(
                "in",
                source,
                Optional.ofNullable(retryTopic),
                Optional.ofNullable(group),
                Optional.empty(),
                start,
                Optional.ofNullable(startAt),
                Map.of(),
                Duration.ofSeconds(5),
                Duration.ofMinutes(5),
                Duration.ofSeconds(10),
                1000,
                1 << 20);
    }

    private StartPositions starts(SubscriptionPlan plan) {
        Commits commits = plan.group().isPresent()
                ? new Committer(
                        cluster, "in", plan.source().refusal("g"), Duration.ofSeconds(5), counters, cause -> {}, time)
                : NoCommits.INSTANCE;
        return new StartPositions(
                cluster,
                plan,
                commits,
                true,
                new SlowStart(plan, List::of, commits, (partition, slots) -> {}, time),
                counters,
                time);
    }

    private void assign(StartPositions starts, String... names) {
        Map<TopicPartition, OwnedPartition> now = new LinkedHashMap<>();
        for (String name : names) {
            int dash = name.lastIndexOf('-');
            TopicPartition partition =
                    new TopicPartition(name.substring(0, dash), Integer.parseInt(name.substring(dash + 1)));
            OwnedPartition kept = owned.get(partition);
            if (kept == null) {
                kept = new OwnedPartition(partition, Slots.State.SETTLED, ignored -> {});
                starts.assigned(kept);
            }
            now.put(partition, kept);
        }
        owned.keySet().removeIf(partition -> !now.containsKey(partition));
        owned.putAll(now);
        cluster.assign(now.keySet());
    }

    /** Where partitions were sent to; one that was left where it is committed is not in it. */
    private Map<String, Long> started() {
        Map<String, Long> started = new TreeMap<>();
        owned.forEach((name, partition) -> {
            if (partition.position() != null) {
                started.put(name.toString(), partition.position().offset());
                assertThat(cluster.position(name))
                        .isEqualTo(partition.position().offset());
            }
        });
        return started;
    }

    private Map<String, Long> committed() {
        Map<String, Long> offsets = new TreeMap<>();
        cluster.committed.forEach((name, offset) -> offsets.put(name.toString(), offset.offset()));
        return offsets;
    }

    private void commit(String topic, int partition, long offset) {
        cluster.committed.put(new TopicPartition(topic, partition), new OffsetAndMetadata(offset));
    }

    @Test
    @DisplayName(
            "9.2, 3.10: each topic of a set starts by itself: committed, at the end of the start, or new and so whole")
    void perTopic() {
        cluster.topic("a", 2);
        StartPositions starts = starts(plan(LIST, null, "g", StartOffset.LATEST, null));
        starts.resolve();
        assertThat(starts.allKnown()).as("with nothing assigned").isTrue();
        cluster.topic("a", 3);
        cluster.topic("b", 1);
        cluster.end("a", 1, 30);
        commit("a", 0, 15);

        assign(starts, "a-0", "a-1", "a-2", "b-0");
        assertThat(starts.allKnown()).isFalse();
        starts.resolve();

        assertThat(starts.allKnown()).isTrue();
        assertThat(started()).isEqualTo(Map.of("a-1", 20L, "a-2", 10L, "b-0", 10L));
        assertThat(committed()).isEqualTo(Map.of("a-0", 15L, "a-1", 20L, "a-2", 10L, "b-0", 10L));
    }

    @Test
    @DisplayName("9.2: for a pattern, the ends of all topics that match count from the start of the service")
    void pattern() {
        cluster.topic("orders-eu", 1);
        cluster.topic("refunds", 1);
        Reading orders = new Reading.Matching(Pattern.compile("orders-.*"));
        StartPositions starts = starts(plan(orders, null, "g", StartOffset.LATEST, null));
        starts.resolve();
        cluster.end("orders-eu", 0, 30);
        cluster.topic("orders-us", 1);

        assign(starts, "orders-eu-0", "orders-us-0");
        starts.resolve();

        assertThat(started()).isEqualTo(Map.of("orders-eu-0", 20L, "orders-us-0", 10L));
    }

    @Test
    @DisplayName(
            "3.5: partitions of a retry topic start where they are committed, else at their beginning, whatever else says")
    void retryTopic() {
        cluster.topic("a", 1);
        cluster.topic("b", 1);
        cluster.topic("re-try", 3);
        commit("a", 0, 15);
        commit("re-try", 1, 13);
        StartPositions starts = starts(plan(LIST, "re-try", "g", StartOffset.COMMITTED, KafkaPosition.latest()));

        assign(starts, "a-0", "re-try-0", "re-try-1");
        OwnedPartition retried = owned.get(new TopicPartition("re-try", 1));
        assertThat(starts.reads(retried))
                .as("what is fetched before it is known what is noted there counts")
                .isFalse();
        starts.resolve();

        assertThat(starts.reads(retried)).isTrue();
        assertThat(started()).isEqualTo(Map.of("a-0", 20L, "re-try-0", 10L));
        assertThat(cluster.position(new TopicPartition("re-try", 1)))
                .as("what was skipped is read again")
                .isEqualTo(13);
        assertThat(committed()).isEqualTo(Map.of("a-0", 20L, "re-try-0", 10L, "re-try-1", 13L));
    }

    @Test
    @DisplayName("9.2: startAt goes over what is committed, at the first assignment only")
    void startAtOnce() {
        cluster.topic("a", 2);
        commit("a", 0, 15);
        StartPositions starts = starts(plan(LIST, null, "g", StartOffset.COMMITTED, KafkaPosition.offset(12)));
        assign(starts, "a-0");
        OwnedPartition first = owned.get(new TopicPartition("a", 0));
        assertThat(starts.reads(first))
                .as("what is fetched from elsewhere counts")
                .isFalse();
        starts.resolve();
        assertThat(starts.reads(first)).isTrue();
        assertThat(started()).isEqualTo(Map.of("a-0", 12L));
        assertThat(committed()).isEqualTo(Map.of("a-0", 12L));
        commit("a", 0, 18);
        commit("a", 1, 17);

        assign(starts, "a-1");
        starts.gone(first);
        starts.resolve();
        assertThat(started()).as("another, for the first time").isEqualTo(Map.of("a-1", 12L));
        assign(starts, "a-0", "a-1");
        starts.resolve();

        assertThat(starts.reads(owned.get(new TopicPartition("a", 0)))).isTrue();
        assertThat(started()).as("the one that came back").isEqualTo(Map.of("a-1", 12L));
        assertThat(committed()).isEqualTo(Map.of("a-0", 18L, "a-1", 12L));
    }

    @Test
    @DisplayName("9.2, 3.1: an offset outside of the log counts as the nearest inside, and is counted")
    void outside() {
        cluster.topic("a", 1);
        cluster.topic("b", 1);
        cluster.end("b", 0, 11);
        StartPositions starts = starts(plan(LIST, null, "g", StartOffset.EARLIEST, KafkaPosition.offset(12)));

        assign(starts, "a-0", "b-0");
        starts.resolve();

        assertThat(committed()).isEqualTo(Map.of("a-0", 12L, "b-0", 11L));
        assertThat(counters.trimmed.sum()).isEqualTo(1);
    }

    @Test
    @DisplayName("3.7, 3.10: the committed offset's being trimmed moves no partition that starts elsewhere")
    void trimmedBeforeTheStart() {
        cluster.topic("a", 2);
        commit("a", 0, 5);
        commit("a", 1, 5);
        TopicPartition first = new TopicPartition("a", 0);
        StartPositions starts = starts(plan(LIST, null, "g", StartOffset.EARLIEST, KafkaPosition.offset(15)));
        OffsetOutOfRangeException trimmed = new OffsetOutOfRangeException(Map.of(first, 5L));

        assign(starts, "a-0");
        assertThat(starts.outOfRange(trimmed)).isEmpty();
        starts.resolve();
        assertThat(started()).isEqualTo(Map.of("a-0", 15L));
        assertThat(counters.trimmed.sum()).isZero();

        assertThat(starts.outOfRange(trimmed)).as("one whose start is known").isEqualTo(Map.of(first, 10L));
    }

    @Test
    @DisplayName("9.1: without a group, the group is not asked and nothing is committed")
    void noGroup() {
        cluster.topic("a", 3);
        Reading source = new Reading.Partitions("a", List.of(0, 2));
        StartPositions starts = starts(plan(source, null, null, StartOffset.EARLIEST, null));

        assign(starts, "a-0", "a-2");
        starts.resolve();

        assertThat(started()).isEqualTo(Map.of("a-0", 10L, "a-2", 10L));
        assertThat(cluster.askedForCommitted).isZero();
        assertThat(cluster.committed).isEmpty();
    }

    @Test
    @DisplayName(
            "9.2: under COMMITTED, a partition that existed and has no committed offset fails, and says how to go on")
    void nothingCommitted() {
        cluster.topic("a", 1);
        StartPositions starts = starts(plan(LIST, null, "g", StartOffset.COMMITTED, null));
        assign(starts, "a-0");

        assertThatIllegalStateException()
                .isThrownBy(starts::resolve)
                .withMessageContaining("group g")
                .withMessageContaining("a-0")
                .withMessageContaining("startAt(...)");
    }

    @Test
    @DisplayName("9.3: what the cluster does not say in time is a problem in health, and asked again")
    void asksAgain() {
        cluster.topic("a", 1);
        StartPositions starts = starts(plan(LIST, null, "g", StartOffset.EARLIEST, KafkaPosition.earliest()));
        assign(starts, "a-0");
        cluster.silent = true;
        starts.resolve();
        assertThat(starts.problem()).contains("no answer");
        assertThat(starts.allKnown()).isFalse();

        cluster.silent = false;
        starts.resolve();

        assertThat(starts.problem()).isNull();
        assertThat(started()).isEqualTo(Map.of("a-0", 10L));
    }

    @Test
    @DisplayName("9.2: moments are rounded up to Kafka's milliseconds, and kept within what Kafka takes")
    void moments() {
        assertThat(Arrays.asList(
                        LogPlaces.millis(Instant.ofEpochMilli(5)),
                        LogPlaces.millis(Instant.ofEpochMilli(5).plusNanos(1)),
                        LogPlaces.millis(Instant.ofEpochMilli(-5)),
                        LogPlaces.millis(Instant.MIN),
                        LogPlaces.millis(Instant.MAX)))
                .containsExactly(5L, 6L, 0L, 0L, Long.MAX_VALUE);
    }
}
