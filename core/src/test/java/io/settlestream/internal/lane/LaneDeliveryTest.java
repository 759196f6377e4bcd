package io.settlestream.internal.lane;

import static io.settlestream.internal.lane.LaneRig.Kind.BATCH;
import static io.settlestream.internal.lane.LaneRig.Kind.BATCHES;
import static io.settlestream.internal.lane.LaneRig.Kind.ONE;
import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.internal.lane.LaneRig.Kind;
import io.settlestream.internal.position.OwnedPartition;
import io.settlestream.internal.settle.Delivery;
import io.settlestream.internal.settle.Disposition;
import io.settlestream.internal.testing.Seeds;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Which record is handled when. */
class LaneDeliveryTest {

    private static final int PARTITIONS = 3;
    private static final Duration FIRST_WAIT = Duration.ofMillis(50);

    @ParameterizedTest
    @EnumSource
    @DisplayName("3.1, 5.1: every record is handled exactly once when all are acked")
    void handlesEachRecordOnce(Kind kind) {
        Seeds.each(20, random -> handlesAll(kind, random, 0));
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("3.4, 5.1: a retried record comes back until it is acked, and in front of what its lane has not begun")
    void handlesEachRecordUntilAcked(Kind kind) {
        Seeds.each(20, random -> handlesAll(kind, random, 10));
    }

    /** Offers polls of several partitions while workers run, and looks at what they did. */
    private static void handlesAll(Kind kind, SplittableRandom random, int retryPercent) throws Exception {
        long seed = random.nextLong();
        Map<String, Integer> attempts = new ConcurrentHashMap<>();
        List<ConcurrentLinkedQueue<Long>> begun = new ArrayList<>();
        AtomicLong acked = new AtomicLong();
        for (int i = 0; i < PARTITIONS; i++) {
            begun.add(new ConcurrentLinkedQueue<>());
        }
        LaneRig rig = LaneRig.start(kind, (lanes, delivery) -> {
            assertThat(attempts.merge(delivery.toString(), 1, Integer::sum)).isEqualTo(delivery.attempt());
            begun.get(delivery.partition()).add(delivery.offset());
            if (chance(seed, delivery, retryPercent)) {
                return lanes.retry(delivery);
            }
            acked.incrementAndGet();
            return lanes.ack(delivery);
        });
        try (rig) {
            List<OwnedPartition> partitions = new ArrayList<>();
            long[] ends = new long[PARTITIONS];
            for (int i = 0; i < PARTITIONS; i++) {
                partitions.add(rig.assign(i));
            }
            for (int poll = 0; poll < 20; poll++) {
                int partition = random.nextInt(PARTITIONS);
                String[] keys = new String[1 + random.nextInt(20)];
                for (int i = 0; i < keys.length; i++) {
                    keys[i] = random.nextInt(5) == 0 ? null : "key-" + random.nextInt(6);
                }
                rig.offer(partitions.get(partition), ends[partition], keys);
                ends[partition] += keys.length;
            }
            long offered = ends[0] + ends[1] + ends[2];
            rig.passTimeUntil("all acked", () -> acked.get() == offered);

            rig.await("at rest", rig.lanes()::quiet);
            assertThat(attempts).hasSize((int) offered);
            assertThat(rig.counters.acked.sum()).isEqualTo(offered);
            assertThat(rig.counters.stale.sum()).isZero();
            for (int i = 0; i < PARTITIONS; i++) {
                if (ends[i] > 0) {
                    assertThat(rig.position(partitions.get(i))).isEqualTo(ends[i]);
                }
                assertThat(partitions.get(i).openRecords()).isZero();
                if (kind.partitionInOrder && (retryPercent == 0 || kind != BATCH)) {
                    assertThat(List.copyOf(begun.get(i))).isSorted();
                }
            }
        }
    }

    /** The same answer for one attempt whenever it runs. */
    private static boolean chance(long seed, Delivery delivery, int percent) {
        long which = 31L * (31L * delivery.partition() + delivery.offset()) + delivery.attempt();
        return new SplittableRandom(seed + which).nextInt(100) < percent;
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("3.6: a retry comes at once, then after 50 ms doubling to 1 s")
    void backsOff(Kind kind) throws Exception {
        List<Long> begunAt = new ArrayList<>();
        try (LaneRig rig = LaneRig.start(kind, (lanes, delivery) -> {
            begunAt.add(lanes.time.nanoTime() / 1_000_000);
            return delivery.attempt() < 9 ? lanes.retry(delivery) : lanes.ack(delivery);
        })) {
            OwnedPartition partition = rig.assign(0);
            rig.offer(partition, 0, 1);
            rig.passTimeUntil("acked", () -> rig.counters.acked.sum() == 1);

            assertThat(begunAt).containsExactly(0L, 0L, 50L, 150L, 350L, 750L, 1550L, 2550L, 3550L);
            assertThat(rig.counters.retried.sum()).isEqualTo(8);
            assertThat(rig.position(partition)).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"ONE", "BATCH"})
    @DisplayName("3.6: one lane waits for the record that backs off, so its order is kept")
    void oneLaneWaits(Kind kind) throws Exception {
        try (LaneRig rig = LaneRig.start(kind, LaneDeliveryTest::firstRecordThreeTimes)) {
            rig.offer(rig.assign(0), 0, 1);
            rig.awaitBegun("0@0#2");
            OwnedPartition other = rig.assign(1);
            rig.offer(other, 0, 2);
            rig.await("at rest", () -> rig.time.timers() == 1 && rig.lanes().hungry());
            rig.time.advance(FIRST_WAIT.minusNanos(1));
            assertThat(rig.begun).containsExactly("0@0#1", "0@0#2");

            rig.time.advance(Duration.ofNanos(1));
            rig.awaitBegun("1@1#1");
            assertThat(rig.begun).containsExactly("0@0#1", "0@0#2", "0@0#3", "1@0#1", "1@1#1");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SHARED", "DEDICATED", "BATCHES"})
    @DisplayName("3.6, 5.1: with several workers on one queue a record that backs off holds none of them")
    void severalWorkersGoOn(Kind kind) throws Exception {
        int workers = 2;
        try (LaneRig rig = LaneRig.start(
                kind,
                workers,
                (lanes, delivery) -> delivery.offset() < workers && delivery.attempt() < 3
                        ? lanes.retry(delivery)
                        : lanes.ack(delivery))) {
            OwnedPartition partition = rig.assign(0);
            rig.offer(partition, 0, 1);
            rig.offer(partition, 1, 1);
            rig.await("both back off", () -> rig.counters.retried.sum() == 2 * workers && rig.time.timers() > 0);
            rig.offer(partition, workers, 20);
            rig.await("the rest is acked", () -> rig.counters.acked.sum() == 20);
            assertThat(rig.position(partition)).isZero();

            rig.passTimeUntil("all acked", () -> rig.counters.acked.sum() == 20 + workers);
            assertThat(rig.position(partition)).isEqualTo(20 + workers);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SHARED", "BATCHES"})
    @DisplayName("3.4, 5.1: with several workers a retry that is due goes to the head of the queue")
    void retryGoesToTheHead(Kind kind) throws Exception {
        CountDownLatch blocked = new CountDownLatch(1);
        CountDownLatch busy = new CountDownLatch(1);
        try (LaneRig rig = LaneRig.start(kind, 2, (lanes, delivery) -> {
            switch ((int) delivery.offset()) {
                case 0 -> {
                    return delivery.attempt() < 3 ? lanes.retry(delivery) : lanes.ack(delivery);
                }
                case 1 -> LaneRig.await(blocked);
                case 2 -> LaneRig.await(busy);
                default -> {}
            }
            return lanes.ack(delivery);
        })) {
            OwnedPartition partition = rig.assign(0);
            rig.offer(partition, 0, 1);
            rig.await("backs off", () -> rig.time.timers() == 1);
            rig.offer(partition, 1, 1);
            rig.awaitBegun("0@1#1");
            rig.offer(partition, 2, 1);
            rig.awaitBegun("0@2#1");
            rig.offer(partition, 3, 10);
            rig.time.advance(FIRST_WAIT);
            busy.countDown();
            rig.awaitBegun("0@12#1");
            blocked.countDown();

            assertThat(rig.begun).startsWith("0@0#1", "0@0#2", "0@1#1", "0@2#1", "0@0#3");
        }
    }

    @Test
    @DisplayName("3.4: what a report hands back wakes an idle lane, and comes in front of what is queued")
    void handedBackLater() throws Exception {
        ConcurrentLinkedQueue<Delivery> unreported = new ConcurrentLinkedQueue<>();
        CountDownLatch busy = new CountDownLatch(1);
        try (LaneRig rig = LaneRig.start(ONE, (lanes, delivery) -> {
            if (delivery.offset() < 2 && delivery.attempt() == 1) {
                unreported.add(delivery);
                return Disposition.AWAITING_REPORT;
            }
            if (delivery.offset() == 2) {
                LaneRig.await(busy);
            }
            return lanes.ack(delivery);
        })) {
            OwnedPartition partition = rig.assign(0);
            rig.offer(partition, 0, 1);
            rig.awaitQuiet();
            rig.lanes().retry(unreported.remove());
            rig.awaitBegun("0@0#2");

            rig.offer(partition, 1, 3);
            rig.awaitBegun("0@2#1");
            rig.lanes().retry(unreported.remove());
            busy.countDown();
            rig.awaitBegun("0@3#1");
            assertThat(rig.begun).endsWith("0@1#1", "0@2#1", "0@1#2", "0@3#1");
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("7.5: after a failure nothing more is begun")
    void haltsAfterAFailure(Kind kind) throws Exception {
        CountDownLatch offered = new CountDownLatch(1);
        try (LaneRig rig = LaneRig.start(kind, 1, (lanes, delivery) -> {
            LaneRig.await(offered);
            return delivery.offset() == 0 ? lanes.fail(delivery) : lanes.ack(delivery);
        })) {
            OwnedPartition failing = rig.assign(0);
            OwnedPartition other = rig.assign(1);
            rig.offer(failing, 0, "a");
            rig.awaitBegun("0@0#1");
            rig.offer(failing, 1, "a", "b");
            rig.offer(other, 1, "a", "c");
            offered.countDown();
            rig.await("at rest", rig.lanes()::hungry);
            rig.offer(other, 3, "d");
            rig.await("at rest", rig.lanes()::hungry);
            assertThat(rig.begun).containsExactly("0@0#1");

            rig.stop(failing, other);
            rig.awaitQuiet();
            assertThat(rig.begun).containsExactly("0@0#1");
            assertThat(rig.position(failing)).isZero();
            assertThat(rig.position(other)).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("10.3: workers end with the close, and nothing more is begun")
    void closes(Kind kind) throws Exception {
        CountDownLatch closed = new CountDownLatch(1);
        try (LaneRig rig = LaneRig.start(kind, 1, (lanes, delivery) -> {
            assertThat(lanes.lanes().runsOn(Thread.currentThread())).isTrue();
            LaneRig.await(closed);
            return lanes.ack(delivery);
        })) {
            rig.offer(rig.assign(0), 0, 50);
            rig.awaitBegun("0@0#1");
            rig.lanes().close();
            closed.countDown();
            rig.awaitEnd();
            assertThat(rig.begun).hasSize(kind == BATCH || kind == BATCHES ? LaneRig.BATCH_SIZE : 1);
            assertThat(rig.lanes().runsOn(Thread.currentThread())).isFalse();
        }
    }

    private static Disposition firstRecordThreeTimes(LaneRig rig, Delivery delivery) {
        boolean again = delivery.partition() == 0 && delivery.offset() == 0 && delivery.attempt() < 3;
        return again ? rig.retry(delivery) : rig.ack(delivery);
    }
}
