package io.settlestream.internal.lane;

import static io.settlestream.internal.lane.LaneRig.Kind.BY_KEY;
import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.internal.lane.LaneRig.Kind;
import io.settlestream.internal.position.OwnedPartition;
import io.settlestream.internal.position.Slots;
import io.settlestream.internal.settle.Delivery;
import io.settlestream.internal.settle.Disposition;
import io.settlestream.internal.testing.Seeds;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A stop after which a restart repeats nothing that was handled. */
class LaneStopTest {

    /** Handlers of the records named here wait until they are released. */
    private final Map<String, CountDownLatch> gates = new ConcurrentHashMap<>();

    private void block(String... records) {
        for (String record : records) {
            gates.put(record, new CountDownLatch(1));
        }
    }

    private void release(String record) {
        gates.get(record).countDown();
    }

    private void pass(Delivery delivery) throws InterruptedException {
        CountDownLatch gate = gates.get(delivery.partition() + "@" + delivery.offset());
        if (gate != null) {
            LaneRig.await(gate);
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("10.3: whenever the stop comes, nothing that was handled lies behind the position")
    void repeatsNothing(Kind kind) {
        Seeds.each(60, random -> repeatsNothing(kind, random));
    }

    private static void repeatsNothing(Kind kind, SplittableRandom random) throws Exception {
        List<Set<Long>> handled = new ArrayList<>();
        SplittableRandom speeds = random.split();
        Slots.State passedWhen = random.nextBoolean() ? Slots.State.HANDED : Slots.State.SETTLED;
        try (LaneRig rig = LaneRig.start(kind, (lanes, delivery) -> {
            int yields;
            synchronized (speeds) {
                yields = speeds.nextInt(10) == 0 ? speeds.nextInt(100) : 0;
            }
            for (int i = 0; i < yields; i++) {
                LaneRig.yieldToOthers();
            }
            handled.get(delivery.partition()).add(delivery.offset());
            return lanes.ack(delivery);
        })) {
            OwnedPartition[] partitions = new OwnedPartition[3];
            long[] ends = new long[partitions.length];
            for (int i = 0; i < partitions.length; i++) {
                handled.add(ConcurrentHashMap.newKeySet());
                partitions[i] = rig.assign(i, passedWhen);
            }
            for (int poll = random.nextInt(30); poll >= 0; poll--) {
                int p = random.nextInt(partitions.length);
                String[] keys = new String[1 + random.nextInt(10)];
                for (int i = 0; i < keys.length; i++) {
                    keys[i] = "key-" + random.nextInt(8);
                }
                rig.offer(partitions[p], ends[p], keys);
                ends[p] += keys.length;
                Object ignored = partitions[p].position();
                partitions[p].compact();
            }
            int begun = random.nextInt((int) (ends[0] + ends[1] + ends[2]));
            rig.await("some begun", () -> rig.begun.size() >= begun);
            rig.stop(partitions);
            rig.awaitQuiet();

            for (int i = 0; i < partitions.length; i++) {
                long position = ends[i] == 0 ? 0 : rig.position(partitions[i]);
                assertThat(handled.get(i))
                        .as("handled below %d", position)
                        .hasSize((int) position)
                        .allMatch(offset -> offset < position);
            }
            int ended = rig.begun.size();
            rig.offer(partitions[0], ends[0], 1);
            assertThat(rig.begun).hasSize(ended);
        }
    }

    @Test
    @DisplayName("10.3: what lies in front of a record that was begun is still handled, the rest is not")
    void handlesWhatLiesInFront() throws Exception {
        block("0@0");
        try (LaneRig rig = LaneRig.start(BY_KEY, 2, this::passAndAck)) {
            OwnedPartition partition = rig.assign(0);
            rig.offer(partition, 0, "slow", "slow", "quick", "slow", "quick");
            rig.offer(partition, 5, "slow", "slow");
            rig.awaitBegun("0@4#1");
            rig.await("acked", () -> rig.counters.acked.sum() == 2);
            rig.stop(partition);
            assertThat(rig.lanes().quiet()).isFalse();
            release("0@0");
            rig.awaitQuiet();

            assertThat(rig.begun).endsWith("0@1#1", "0@3#1").hasSize(5);
            assertThat(rig.position(partition)).isEqualTo(5);
        }
    }

    @Test
    @DisplayName("10.3: so it is when the begun record's bookkeeping was merged already")
    void handlesWhatLiesInFrontOfMerged() throws Exception {
        block("0@0");
        try (LaneRig rig = LaneRig.start(BY_KEY, 2, this::passAndAck)) {
            OwnedPartition partition = rig.assign(0);
            rig.offer(partition, 0, "slow", "slow");
            rig.offer(partition, 2, "quick", "quick");
            rig.offer(partition, 4, "slow", "slow");
            rig.await("acked", () -> rig.counters.acked.sum() == 2);
            assertThat(rig.position(partition)).isZero();
            partition.compact();
            rig.stop(partition);
            release("0@0");
            rig.awaitQuiet();

            assertThat(rig.begun).endsWith("0@1#1").hasSize(4);
            assertThat(rig.position(partition)).isEqualTo(4);
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("10.3: a retry that waits at the stop stays open")
    void waitingRetryStaysOpen(Kind kind) throws Exception {
        try (LaneRig rig = LaneRig.start(kind, LaneRig::retry)) {
            OwnedPartition partition = rig.assign(0);
            rig.offer(partition, 0, 1);
            rig.await("backs off", () -> rig.time.timers() == 1);
            rig.awaitQuietWorkers();
            rig.stop(partition);
            rig.awaitQuiet();
            rig.time.advanceToNext();
            rig.awaitQuiet();
            assertThat(rig.begun).containsExactly("0@0#1", "0@0#2");
            assertThat(rig.position(partition)).isZero();
            assertThat(partition.openRecords()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("10.3: a retry that is answered after the stop stays open")
    void lateRetryStaysOpen(Kind kind) throws Exception {
        block("0@0");
        try (LaneRig rig = LaneRig.start(kind, (lanes, delivery) -> {
            pass(delivery);
            return lanes.retry(delivery);
        })) {
            OwnedPartition partition = rig.assign(0);
            rig.offer(partition, 0, 1);
            rig.awaitBegun("0@0#1");
            rig.stop(partition);
            release("0@0");
            rig.awaitQuiet();
            assertThat(rig.begun).containsExactly("0@0#1");
            assertThat(rig.position(partition)).isZero();
            assertThat(rig.time.timers()).isZero();
        }
    }

    @Test
    @DisplayName("10.3: what lies behind a retry that stays open is repeated anyway, and not begun any more")
    void beginsNothingBehindAWaitingRetry() throws Exception {
        block("0@1");
        try (LaneRig rig = LaneRig.start(BY_KEY, 2, (lanes, delivery) -> {
            pass(delivery);
            return delivery.offset() == 0 ? lanes.retry(delivery) : lanes.ack(delivery);
        })) {
            OwnedPartition partition = rig.assign(0);
            rig.offer(partition, 0, "retried");
            rig.await("backs off", () -> rig.time.timers() == 1);
            rig.offer(partition, 1, "slow", "slow", "quick");
            rig.awaitBegun("0@3#1");
            rig.stop(partition);
            release("0@1");
            rig.awaitQuiet();
            assertThat(rig.begun).doesNotContain("0@2#1");
        }
    }

    @Test
    @DisplayName("10.3: nor is what lies behind a record that is retried after the stop, or whose reply fails then")
    void beginsNothingBehindALateRetry() throws Exception {
        block("0@0", "0@2");
        Queue<Delivery> unreported = new ConcurrentLinkedQueue<>();
        try (LaneRig rig = LaneRig.start(BY_KEY, 3, (lanes, delivery) -> {
            pass(delivery);
            if (delivery.offset() == 1) {
                unreported.add(delivery);
                return Disposition.AWAITING_REPORT;
            }
            return delivery.offset() == 0 ? lanes.retry(delivery) : lanes.ack(delivery);
        })) {
            OwnedPartition partition = rig.assign(0);
            rig.offer(partition, 0, "retried", "replied", "slow", "retried", "replied", "slow", "quick");
            rig.awaitBegun("0@6#1");
            rig.await("others are done", () -> rig.lanes().hungry());
            // The replied one's lane went on without waiting for its report.
            assertThat(rig.begun).contains("0@4#1");
            rig.stop(partition);
            rig.lanes().retry(unreported.remove());
            release("0@2");
            rig.await("one is left", () -> rig.counters.acked.sum() == 3);
            release("0@0");
            rig.awaitQuiet();
            assertThat(rig.begun).doesNotContain("0@3#1", "0@5#1", "0@1#2", "0@0#2");
            assertThat(rig.position(partition)).isZero();
        }
    }

    @Test
    @DisplayName("7.5, 10.3: nothing behind a failed record is begun by the stop that follows, what is in front is")
    void beginsNothingBehindAFailure() throws Exception {
        block("0@0", "0@2");
        try (LaneRig rig = LaneRig.start(BY_KEY, 3, (lanes, delivery) -> {
            pass(delivery);
            return delivery.offset() == 2 ? lanes.fail(delivery) : lanes.ack(delivery);
        })) {
            OwnedPartition partition = rig.assign(0);
            rig.offer(partition, 0, "slow", "slow", "failing", "failing", "slow", "quick");
            rig.awaitBegun("0@0#1", "0@2#1", "0@5#1");
            release("0@2");
            rig.await("one has failed, one is done", () -> !partition.admits(2) && rig.counters.acked.sum() == 1);
            rig.stop(partition);
            release("0@0");
            rig.awaitQuiet();
            assertThat(rig.begun).containsExactlyInAnyOrder("0@0#1", "0@2#1", "0@5#1", "0@1#1");
            assertThat(rig.position(partition)).isEqualTo(2);
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("10.3: a failure after the stop does not keep the lanes from coming to rest")
    void failureAfterTheStop(Kind kind) throws Exception {
        block("0@0");
        try (LaneRig rig = LaneRig.start(kind, 1, (lanes, delivery) -> {
            pass(delivery);
            return lanes.fail(delivery);
        })) {
            OwnedPartition partition = rig.assign(0);
            rig.offer(partition, 0, "a");
            rig.awaitBegun("0@0#1");
            rig.offer(partition, 1, "b", "a");
            rig.stop(partition);
            release("0@0");
            rig.awaitQuiet();
            assertThat(rig.begun).containsExactly("0@0#1");
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("10.3: an idle stop waits for nothing")
    void idleStop(Kind kind) throws Exception {
        try (LaneRig rig = LaneRig.start(kind, LaneRig::ack)) {
            rig.awaitQuiet();
            rig.stop(rig.assign(0));
            rig.awaitQuiet();
            assertThat(rig.begun).isEmpty();
        }
    }

    private Disposition passAndAck(LaneRig rig, Delivery delivery) throws InterruptedException {
        pass(delivery);
        return rig.ack(delivery);
    }
}
