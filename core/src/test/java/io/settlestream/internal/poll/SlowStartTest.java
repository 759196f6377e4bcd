package io.settlestream.internal.poll;

import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.internal.commit.Committer;
import io.settlestream.internal.health.Counters;
import io.settlestream.internal.position.OwnedPartition;
import io.settlestream.internal.position.Slots;
import io.settlestream.internal.settle.Delivery;
import io.settlestream.internal.testing.ManualTime;
import io.settlestream.internal.testing.Records;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.kafka.StartOffset;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** How records are handed out after an owner that did not come to a proper end. */
class SlowStartTest {

    private static final Duration INTERVAL = Duration.ofSeconds(5);

    private final ManualTime time = new ManualTime();
    private final Map<String, String> committed = new HashMap<>();
    private boolean refuses;

    private final MockConsumer<byte[], byte[]> consumer = new MockConsumer<>("none") {
        @Override
        public void commitSync(Map<TopicPartition, OffsetAndMetadata> offsets, Duration timeout) {
            if (refuses) {
                throw new KafkaException("refused");
            }
            offsets.forEach((partition, offset) ->
                    committed.put(partition.toString(), offset.offset() + " " + offset.metadata()));
        }
    };

    private final SubscriptionPlan plan = new SubscriptionPlan(
            "in",
            Reading.of(KafkaTopic.of("in")),
            Optional.empty(),
            Optional.of("g"),
            true,
            StartOffset.EARLIEST,
            Optional.empty(),
            Map.of(),
            INTERVAL,
            Duration.ofMinutes(5),
            Duration.ofSeconds(10),
            1000,
            1 << 20);

    private final List<Delivery> inHand = new ArrayList<>();
    private final SlowStart slowStart = new SlowStart(
            plan,
            new Committer(consumer, "in", null, INTERVAL, new Counters(), failure -> {}, time),
            (partition, slots) -> {
                for (int slot = 0; slot < slots.size(); slot++) {
                    Delivery delivery = new Delivery(null, slots, slot);
                    assertThat(delivery.handOver()).isTrue();
                    inHand.add(delivery);
                }
            },
            time);

    private OwnedPartition begin(int number, long from, int count) {
        TopicPartition name = new TopicPartition("in", number);
        OwnedPartition partition = new OwnedPartition(name, Slots.State.SETTLED, ignored -> {});
        boolean unended =
                partition.takeOver(new OffsetAndMetadata(from, Optional.empty(), "settlestream/1 at=" + from + " run"));
        assertThat(unended).isTrue();
        partition.running(true);
        slowStart.begin(partition);
        slowStart.add(partition, Records.row(name, from, count), from + count, 0);
        return partition;
    }

    private List<Long> handedOut() {
        return inHand.stream().map(Delivery::offset).toList();
    }

    private void settleAll() {
        inHand.forEach(delivery -> assertThat(delivery.settle()).isTrue());
        inHand.clear();
    }

    @Test
    @DisplayName(
            "7.4: one record is handed out, then two, then four, each when the ones before are settled and committed")
    void doubles() {
        OwnedPartition partition = begin(0, 10, 20);

        slowStart.advance();
        assertThat(handedOut()).containsExactly(10L);
        assertThat(committed).containsEntry("in-0", "10 settlestream/1 at=10 run alone=10");
        slowStart.advance();
        assertThat(handedOut()).as("while it is in hand").containsExactly(10L);
        assertThat(slowStart.holds(partition)).isTrue();

        settleAll();
        slowStart.advance();
        assertThat(handedOut()).containsExactly(11L, 12L);
        assertThat(committed).containsEntry("in-0", "11 settlestream/1 at=11 run");
        inHand.get(1).settle();
        inHand.remove(1);
        slowStart.advance();
        assertThat(handedOut()).as("one of two is settled").containsExactly(11L);

        settleAll();
        slowStart.advance();
        assertThat(handedOut()).containsExactly(13L, 14L, 15L, 16L);
    }

    @Test
    @DisplayName("7.4: nothing is handed out whose end could not be noted")
    void notWithoutANote() {
        begin(0, 10, 3);
        refuses = true;
        slowStart.advance();
        assertThat(inHand).isEmpty();

        refuses = false;
        slowStart.advance();
        assertThat(handedOut()).containsExactly(10L);
    }

    @Test
    @DisplayName("7.4: partitions take turns, so that a record is alone in hand")
    void turns() {
        begin(0, 10, 3);
        begin(1, 50, 3);

        slowStart.advance();
        slowStart.advance();
        assertThat(handedOut()).containsExactly(10L);
        settleAll();
        slowStart.advance();
        assertThat(handedOut()).containsExactly(50L);
        settleAll();
        slowStart.advance();
        assertThat(handedOut()).containsExactly(11L, 12L);
    }

    @Test
    @DisplayName("7.4: after a commit interval everything is handed out, and nothing counts as alone any more")
    void over() {
        OwnedPartition partition = begin(0, 10, 5);
        slowStart.advance();
        time.advance(INTERVAL);

        slowStart.advance();

        assertThat(handedOut()).containsExactly(10L, 11L, 12L, 13L, 14L);
        assertThat(slowStart.covers(partition)).isFalse();
        assertThat(slowStart.holds(partition)).isFalse();
        assertThat(partition.uncommitted().note()).isEqualTo("settlestream/1 at=10 run");
    }

    @Test
    @DisplayName("a partition that leaves gives its turn away")
    void leaves() {
        OwnedPartition first = begin(0, 10, 3);
        begin(1, 50, 3);
        slowStart.advance();
        assertThat(handedOut()).containsExactly(10L);

        first.discard();
        slowStart.advance();

        assertThat(handedOut()).containsExactly(10L, 50L);
    }

    @Test
    @DisplayName("a stop hands nothing out any more")
    void stop() {
        OwnedPartition partition = begin(0, 10, 3);
        slowStart.stop();
        slowStart.advance();
        assertThat(inHand).isEmpty();
        assertThat(slowStart.holds(partition)).isFalse();
    }
}
