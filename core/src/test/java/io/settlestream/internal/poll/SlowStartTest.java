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
            Optional.of(3),
            StartOffset.EARLIEST,
            Optional.empty(),
            Map.of(),
            INTERVAL,
            Duration.ofMinutes(5),
            Duration.ofSeconds(10),
            1000,
            1 << 20);

    private final List<Delivery> inHand = new ArrayList<>();
    private final List<OwnedPartition> owned = new ArrayList<>();
    private final SlowStart slowStart = new SlowStart(
            plan,
            () -> owned,
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
        return begin(number, from, count, "run=1");
    }

    private OwnedPartition begin(int number, long from, int count, String noted) {
        OwnedPartition partition = partition(number);
        int unended = partition.takeOver(
                new OffsetAndMetadata(from, Optional.empty(), "settlestream/1 at=" + from + " " + noted));
        partition.running(true);
        slowStart.begin(partition, unended);
        fetch(partition, from, count);
        return partition;
    }

    private OwnedPartition partition(int number) {
        OwnedPartition partition =
                new OwnedPartition(new TopicPartition("in", number), Slots.State.SETTLED, ignored -> {});
        owned.add(partition);
        return partition;
    }

    private void fetch(OwnedPartition partition, long from, int count) {
        slowStart.add(partition, Records.row(partition.topicPartition(), from, count), from + count, 0);
    }

    /** As without a slow start. */
    private Delivery inFlow(OwnedPartition partition, long offset) {
        Slots slots = partition.register(Records.row(partition.topicPartition(), offset, 1), offset + 1, 0, 0);
        Delivery delivery = new Delivery(null, slots, 0);
        assertThat(delivery.handOver()).isTrue();
        return delivery;
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
        assertThat(committed).containsEntry("in-0", "10 settlestream/1 at=10 run=2 alone=10:1");
        slowStart.advance();
        assertThat(handedOut()).as("while it is in hand").containsExactly(10L);
        assertThat(slowStart.holds(partition)).isTrue();

        settleAll();
        slowStart.advance();
        assertThat(handedOut()).containsExactly(11L, 12L);
        assertThat(committed).containsEntry("in-0", "11 settlestream/1 at=11 run=1");
        assertThat(slowStart.waits()).isTrue();
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
        refuses = true;
        slowStart.advance();
        assertThat(handedOut()).as("as long as the group takes 10 for alone").containsExactly(10L);
        assertThat(slowStart.untilNextLook(INTERVAL)).isEqualTo(Duration.ofMillis(100));

        refuses = false;
        slowStart.advance();

        assertThat(committed).containsEntry("in-0", "10 settlestream/1 at=10 run=2");
        assertThat(handedOut()).containsExactly(10L, 11L, 12L, 13L, 14L);
        assertThat(slowStart.active()).isFalse();
        assertThat(slowStart.holds(partition)).isFalse();
    }

    @Test
    @DisplayName(
            "7.4: it lasts twice as long for each further owner that ended where it began, so that a slow record is"
                    + " alone when it kills")
    void longer() {
        begin(0, 10, 5, "run=3 alone=10:1");
        slowStart.advance();
        time.advance(INTERVAL.multipliedBy(4).minusMillis(1));
        slowStart.advance();
        assertThat(handedOut()).containsExactly(10L);
        assertThat(committed).containsEntry("in-0", "10 settlestream/1 at=10 run=4 alone=10:2 failed=0:1");

        time.advance(Duration.ofMillis(1));
        slowStart.advance();
        assertThat(handedOut()).hasSize(5);
    }

    @Test
    @DisplayName("7.4: a partition that comes late is started as slowly as one that came first")
    void comesLate() {
        begin(0, 10, 1);
        slowStart.advance();
        settleAll();
        time.advance(INTERVAL.minusMillis(1));
        begin(1, 50, 5);
        time.advance(Duration.ofMillis(2));

        slowStart.advance();

        assertThat(handedOut()).containsExactly(50L);
    }

    @Test
    @DisplayName("7.4: that a record is alone is withdrawn when it is settled, also with nothing behind it")
    void withdrawn() {
        begin(0, 10, 1);
        slowStart.advance();
        settleAll();
        slowStart.advance();
        assertThat(committed).containsEntry("in-0", "11 settlestream/1 at=11 run=1");
    }

    @Test
    @DisplayName(
            "7.4: a partition that came with a proper end has its turn, too, or its record could kill in another's name")
    void properEnd() {
        begin(0, 10, 3);
        slowStart.advance();
        OwnedPartition other = partition(1);
        fetch(other, 50, 5);
        slowStart.advance();
        assertThat(handedOut()).containsExactly(10L);
        assertThat(slowStart.holds(other)).isTrue();

        settleAll();
        slowStart.advance();
        assertThat(handedOut()).containsExactly(11L, 12L);
        settleAll();
        slowStart.advance();
        assertThat(handedOut()).containsExactly(50L);
        assertThat(committed).containsEntry("in-0", "13 settlestream/1 at=13 run=1");
    }

    @Test
    @DisplayName("7.4: what is in hand already comes to its end before a record can be alone")
    void inFlow() {
        OwnedPartition other = partition(1);
        Delivery before = inFlow(other, 50);
        begin(0, 10, 3);

        slowStart.advance();
        assertThat(inHand).isEmpty();
        assertThat(slowStart.waits()).isTrue();
        assertThat(slowStart.holds(other)).isTrue();

        assertThat(before.settle()).isTrue();
        slowStart.advance();
        assertThat(handedOut()).containsExactly(10L);
        assertThat(committed.get("in-0")).endsWith("run=2 alone=10:1");
    }

    @Test
    @DisplayName(
            "7.4: beside a record that waits for the end of a delay or for its dead letter none is alone, and none waits")
    void besideWaiting() {
        OwnedPartition other = partition(1);
        Delivery delayed = inFlow(other, 50);
        other.delayed(1);
        Delivery copied = inFlow(other, 51);
        other.copyBegun(51);
        begin(0, 10, 3);

        slowStart.advance();

        assertThat(handedOut()).containsExactly(10L);
        assertThat(committed).containsEntry("in-0", "10 settlestream/1 at=10 run=2");
        assertThat(delayed.settle() && copied.settle()).isTrue();
    }

    @Test
    @DisplayName("7.4: failed attempts in front of the record that kills are noted before it is handed out")
    void failedInFront() {
        OwnedPartition other = begin(1, 50, 1);
        slowStart.advance();
        other.attempts().failed(50, 1);
        other.delayed(1);
        begin(0, 10, 3);

        slowStart.advance();

        assertThat(handedOut()).containsExactly(50L, 10L);
        assertThat(committed.get("in-1")).isEqualTo("50 settlestream/1 at=50 run=2 failed=0:1");
    }

    @Test
    @DisplayName("7.4: a record that has met its cap is not tried any more, so it is not noted as in hand")
    void metItsCap() {
        begin(0, 10, 3, "run=1 failed=0:3");
        slowStart.advance();
        assertThat(handedOut()).containsExactly(10L);
        assertThat(committed).containsEntry("in-0", "10 settlestream/1 at=10 run=2 failed=0:3");
    }

    @Test
    @DisplayName("a partition that the user pauses has no turn")
    void pausedByUser() {
        begin(0, 10, 3).holdBack();
        begin(1, 50, 3);
        slowStart.advance();
        settleAll();
        slowStart.advance();
        assertThat(handedOut()).containsExactly(51L, 52L);
    }

    @Test
    @DisplayName(
            "3.10: what was fetched is handed out before what comes from another offset, of which there may be a gap")
    void movedOn() {
        OwnedPartition partition = begin(0, 10, 3);
        slowStart.advance();
        assertThat(handedOut()).containsExactly(10L);

        assertThat(slowStart.moved(partition, 40)).isTrue();
        settleAll();
        slowStart.advance();
        assertThat(handedOut()).containsExactly(11L, 12L);
        settleAll();
        fetch(partition, 40, 1);
        slowStart.advance();

        assertThat(handedOut()).containsExactly(40L);
        assertThat(partition.position().offset()).isEqualTo(40);
    }

    @Test
    @DisplayName(
            "3.10: what was fetched of the end of a log that was truncated is not handed out, and what is before is")
    void movedBack() {
        OwnedPartition partition = begin(0, 10, 3);
        slowStart.advance();
        assertThat(slowStart.moved(partition, 12)).isTrue();
        fetch(partition, 12, 1);
        settleAll();
        slowStart.advance();
        assertThat(handedOut()).containsExactly(11L, 12L);

        fetch(partition, 13, 2);
        assertThat(slowStart.moved(partition, 13)).as("nothing left of it").isFalse();
        assertThat(slowStart.moved(partition(1), 13)).as("nothing fetched").isFalse();
    }

    @Test
    @DisplayName("a partition that leaves gives its turn away")
    void leaves() {
        OwnedPartition first = begin(0, 10, 3);
        begin(1, 50, 3);
        slowStart.advance();
        assertThat(handedOut()).containsExactly(10L);

        first.discard();
        owned.remove(first);
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
