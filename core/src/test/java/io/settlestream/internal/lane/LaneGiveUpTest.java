package io.settlestream.internal.lane;

import static io.settlestream.internal.lane.LaneRig.Kind.BATCH;
import static io.settlestream.internal.lane.LaneRig.Kind.BY_KEY;
import static io.settlestream.internal.lane.LaneRig.Kind.SHARED;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.settlestream.Health;
import io.settlestream.internal.lane.LaneRig.Kind;
import io.settlestream.internal.position.OwnedPartition;
import io.settlestream.internal.settle.Delivery;
import io.settlestream.internal.testing.Records;
import io.settlestream.internal.testing.Seeds;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.LoggerFactory;

/** Handlers whose delivery is given up: by a revocation, by a loss, by a stop that waits no longer. */
class LaneGiveUpTest {

    /** Long for a retry, short for a stuck handler. */
    private static final Duration A_WAIT = Duration.ofMillis(100);

    private static final Logger LOG = (Logger) LoggerFactory.getLogger(Lanes.class);

    /** Thousands of handlers are given up here, with a warning each. */
    @BeforeAll
    static void noWarnings() {
        LOG.setLevel(Level.ERROR);
    }

    @AfterAll
    static void warnings() {
        LOG.setLevel(null);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName(
            "9.4: a handler that asked for the seek that voids it is not interrupted, but counts as stuck; a stop does")
    void sparesTheHandlerThatAsked(Kind kind) throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        AtomicReference<Delivery> asks = new AtomicReference<>();
        AtomicInteger interrupted = new AtomicInteger();
        try (LaneRig rig = LaneRig.start(kind, (lanes, delivery) -> {
            asks.set(delivery);
            try {
                LaneRig.await(never);
            } catch (InterruptedException e) {
                interrupted.incrementAndGet();
            }
            return lanes.ack(delivery);
        })) {
            OwnedPartition partition = rig.assign(0);
            rig.offer(partition, 0, 1);
            rig.await("it runs", () -> asks.get() != null);
            asks.get().spare();
            rig.lose(partition);
            assertThat(asks.get().cancelled()).isTrue();
            assertThat(rig.lanes().stuckHandlers())
                    .extracting(Health.StuckHandler::offset)
                    .containsExactly(0L);
            // Idle workers are woken to look again, and do for a moment.
            rig.awaitQuiet();
            // Other partitions go meanwhile, which is no reason either.
            rig.lose(rig.assign(1));
            assertThat(interrupted).hasValue(0);
            rig.stop();
            rig.lanes().giveUpRunning();
            rig.await("interrupted", () -> interrupted.get() == 1);
            assertThat(rig.counters.stale.sum()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("1.2, 1.3, 3.8: the handler of a lost partition is interrupted, and its outcome is stale")
    void interruptsTheHandler(Kind kind) throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        AtomicInteger interrupted = new AtomicInteger();
        try (LaneRig rig = LaneRig.start(kind, (lanes, delivery) -> {
            if (delivery.partition() == 0) {
                try {
                    LaneRig.await(never);
                } catch (InterruptedException e) {
                    interrupted.incrementAndGet();
                    assertThat(delivery.cancelled()).isTrue();
                }
            }
            return lanes.ack(delivery);
        })) {
            OwnedPartition partition = rig.assign(0);
            rig.offer(partition, 0, 1);
            rig.awaitBegun("0@0#1");
            assertThat(rig.lanes().runs(partition)).isTrue();
            rig.lose(partition);
            rig.await("stale", () -> rig.counters.stale.sum() == 1);
            assertThat(interrupted).hasValue(1);
            assertThat(rig.position(partition)).isZero();
            assertThat(partition.openRecords()).isEqualTo(1);

            rig.offer(rig.assign(1), 0, 1);
            rig.await("the worker goes on", () -> rig.counters.acked.sum() == 1);
            rig.await("none stuck", () -> rig.lanes().stuckHandlers().isEmpty());
        }
    }

    @Test
    @DisplayName("1.3: only handlers of partitions that are gone are interrupted")
    void interruptsNoOther() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        try (LaneRig rig = LaneRig.start(SHARED, 2, (lanes, delivery) -> {
            LaneRig.await(release);
            return lanes.ack(delivery);
        })) {
            OwnedPartition gone = rig.assign(0);
            OwnedPartition kept = rig.assign(1);
            rig.offer(gone, 0, 1);
            rig.offer(kept, 0, 1);
            rig.awaitBegun("0@0#1", "1@0#1");
            rig.lose(gone);
            rig.await("stale", () -> rig.counters.stale.sum() == 1);
            assertThat(rig.lanes().runs(kept)).isTrue();
            release.countDown();
            rig.await("acked", () -> rig.counters.acked.sum() == 1);
        }
    }

    @Test
    @DisplayName("1.3: a redelivery waits for the stuck handler of its record, others do not, and health tells")
    void redeliveryWaits() throws Exception {
        CountDownLatch stuck = new CountDownLatch(1);
        try (LaneRig rig = stuckAt(SHARED, 3, stuck)) {
            OwnedPartition again = rig.assign(0);
            rig.offer(again, 0, 3);
            rig.awaitBegun("0@1#1", "0@2#1");
            rig.time.advance(LaneRig.STUCK_BOUND.minusNanos(1));
            assertThat(rig.begun).containsOnlyOnce("0@0#1");
            assertThat(rig.lanes().stuckHandlers())
                    .containsExactly(new Health.StuckHandler("orders", 0, 0, LaneRig.STUCK_BOUND.minusNanos(1)));
            assertThat(rig.lanes().runs(again)).isFalse();

            stuck.countDown();
            rig.await("acked", () -> rig.counters.acked.sum() == 3);
            assertThat(rig.position(again)).isEqualTo(3);
            assertThat(rig.lanes().stuckHandlers()).isEmpty();
            assertThat(rig.time.timers()).isZero();
        }
    }

    @Test
    @DisplayName("1.3: a redelivery waits no longer than the bound")
    void redeliveryWaitsUpToTheBound() throws Exception {
        CountDownLatch stuck = new CountDownLatch(1);
        try (LaneRig rig = stuckAt(SHARED, 2, stuck)) {
            OwnedPartition again = rig.assign(0);
            rig.offer(again, 0, 1);
            rig.await("waits", () -> rig.time.timers() == 1);
            rig.time.advance(LaneRig.STUCK_BOUND);
            rig.await("acked", () -> rig.counters.acked.sum() == 1);
            assertThat(rig.lanes().stuckHandlers()).hasSize(1);
            stuck.countDown();
            rig.await("stale", () -> rig.counters.stale.sum() == 1);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"BY_PARTITION", "BY_KEY"})
    @DisplayName("1.3, 5.1: under a stuck handler its key waits, other keys do not")
    void keyWaits(Kind kind) throws Exception {
        CountDownLatch stuck = new CountDownLatch(1);
        try (LaneRig rig = stuckAt(kind, 2, stuck)) {
            rig.offer(rig.assign(0), 0, 2);
            rig.offer(rig.assign(1), 0, 2);
            rig.await("the other key is acked", () -> rig.counters.acked.sum() == 2);
            rig.awaitQuietWorkers();
            assertThat(rig.begun).hasSize(3);
            stuck.countDown();
            rig.await("all acked", () -> rig.counters.acked.sum() == 4);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"BY_PARTITION", "BY_KEY"})
    @DisplayName("1.3: a key waits for a stuck handler no longer than the bound")
    void keyWaitsUpToTheBound(Kind kind) throws Exception {
        CountDownLatch stuck = new CountDownLatch(1);
        try (LaneRig rig = stuckAt(kind, 2, stuck)) {
            rig.offer(rig.assign(0), 0, 2);
            rig.await("waits", () -> rig.time.timers() == 1);
            rig.awaitQuietWorkers();
            assertThat(rig.counters.acked.sum()).isZero();
            rig.time.advance(LaneRig.STUCK_BOUND);
            rig.await("acked", () -> rig.counters.acked.sum() == 2);
            assertThat(rig.lanes().stuckHandlers()).hasSize(1);
            stuck.countDown();
            rig.await("stale", () -> rig.counters.stale.sum() == 1);
        }
    }

    @Test
    @DisplayName("1.3: a redelivery that waits for a stuck handler when the lanes close is not begun")
    void closeEndsTheWait() throws Exception {
        CountDownLatch stuck = new CountDownLatch(1);
        try (LaneRig rig = stuckAt(SHARED, 2, stuck)) {
            rig.offer(rig.assign(0), 0, 1);
            rig.await("waits", () -> rig.time.timers() == 1);
            rig.lanes().close();
            rig.await(
                    "waits no longer",
                    () -> rig.time.timers() == 0 && rig.lanes().hungry());
            assertThat(rig.begun).containsExactly("0@0#1");
            stuck.countDown();
        }
    }

    /** One handler runs for a partition that is gone, and does not care. */
    private static LaneRig stuckAt(Kind kind, int workers, CountDownLatch stuck) throws InterruptedException {
        AtomicReference<OwnedPartition> gone = new AtomicReference<>();
        LaneRig rig = LaneRig.start(kind, workers, (lanes, delivery) -> {
            if (delivery.owner() == gone.get()) {
                ignoringInterrupts(stuck);
            }
            return lanes.ack(delivery);
        });
        OwnedPartition before = rig.assign(0);
        gone.set(before);
        rig.offer(before, 0, 1);
        rig.awaitBegun("0@0#1");
        rig.lose(before);
        return rig;
    }

    @Test
    @DisplayName("3.8: a batch runs for each of its partitions until that one is gone, and is interrupted when all are")
    void batchOfTwoPartitions() throws Exception {
        CountDownLatch offered = new CountDownLatch(1);
        AtomicInteger interrupted = new AtomicInteger();
        try (LaneRig rig = LaneRig.start(BATCH, (lanes, delivery) -> {
            if (delivery.partition() == 2) {
                LaneRig.await(offered);
            } else {
                try {
                    LaneRig.await(new CountDownLatch(1));
                } catch (InterruptedException e) {
                    interrupted.incrementAndGet();
                    Thread.currentThread().interrupt();
                }
            }
            return lanes.ack(delivery);
        })) {
            rig.offer(rig.assign(2), 0, 1);
            rig.awaitBegun("2@0#1");
            OwnedPartition first = rig.assign(0);
            OwnedPartition second = rig.assign(1);
            rig.offer(first, 0, 1);
            rig.offer(second, 0, 1);
            offered.countDown();
            rig.awaitBegun("0@0#1");

            rig.lose(first);
            assertThat(rig.lanes().runs(second)).isTrue();
            assertThat(rig.lanes().quiet()).isFalse();
            assertThat(interrupted).hasValue(0);
            rig.lose(second);
            rig.await("stale", () -> rig.counters.stale.sum() == 2);
            rig.await("none stuck", () -> rig.lanes().stuckHandlers().isEmpty());
            assertThat(interrupted.get()).isPositive();
        }
    }

    @Test
    @DisplayName("3.8: a revocation does not wait for a batch from which its partition's records were refused")
    void refusedElementsHoldNothingUp() throws Exception {
        Semaphore steps = new Semaphore(0);
        try (LaneRig rig = LaneRig.start(BATCH, (lanes, delivery) -> {
            steps.acquire();
            return lanes.ack(delivery);
        })) {
            OwnedPartition leaving = rig.assign(0);
            OwnedPartition staying = rig.assign(1);
            rig.offer(staying, 0, 1);
            rig.awaitBegun("1@0#1");
            rig.offer(leaving, 0, 1);
            rig.offer(staying, 1, 1);
            leaving.admitNothing();
            steps.release();
            rig.awaitBegun("1@1#1");
            assertThat(rig.lanes().runs(staying)).isTrue();
            assertThat(rig.lanes().runs(leaving)).isFalse();
            steps.release();
            rig.await("acked", () -> rig.counters.acked.sum() == 2);
            assertThat(rig.position(leaving)).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("10.3: handlers that still run at the bound are interrupted, and their records stay open")
    void givesUpWhatRuns(Kind kind) throws Exception {
        CountDownLatch stuck = new CountDownLatch(1);
        try (LaneRig rig = LaneRig.start(kind, (lanes, delivery) -> {
            ignoringInterrupts(stuck);
            assertThat(delivery.cancelled()).isTrue();
            return lanes.ack(delivery);
        })) {
            OwnedPartition partition = rig.assign(0);
            rig.offer(partition, 0, 1);
            rig.awaitBegun("0@0#1");
            rig.stop(partition);
            assertThat(rig.lanes().quiet()).isFalse();
            rig.lanes().giveUpRunning();
            rig.awaitQuiet();
            assertThat(rig.lanes().runs(partition)).isFalse();
            stuck.countDown();
            rig.await("stale", () -> rig.counters.stale.sum() == 1);
            assertThat(rig.position(partition)).isZero();
            assertThat(partition.openRecords()).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("10.3: after the bound nothing more is begun, also not what lies in front of something begun")
    void beginsNothingAfterTheBound() throws Exception {
        CountDownLatch stuck = new CountDownLatch(1);
        try (LaneRig rig = LaneRig.start(BY_KEY, 2, (lanes, delivery) -> {
            if (delivery.offset() == 0) {
                ignoringInterrupts(stuck);
            }
            return lanes.ack(delivery);
        })) {
            OwnedPartition partition = rig.assign(0);
            rig.offer(partition, 0, "slow", "slow", "quick");
            rig.await("acked", () -> rig.begun.size() == 2 && rig.counters.acked.sum() == 1);
            rig.stop(partition);
            partition.admitNothing();
            rig.lanes().giveUpRunning();
            stuck.countDown();
            rig.await("stale", () -> rig.counters.stale.sum() == 1);
            rig.awaitQuiet();
            assertThat(rig.begun).containsExactlyInAnyOrder("0@0#1", "0@2#1");
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("1.2, 1.3, 3.8: an interrupt hits the handlers of a partition that is gone and never another one")
    void interruptsExactly(Kind kind) {
        Seeds.each(2, random -> interruptsExactly(kind, random));
    }

    /** Partitions come and go while short handlers run; one that is gone comes back with the same records. */
    private static void interruptsExactly(Kind kind, SplittableRandom random) throws Exception {
        Map<String, AtomicInteger> running = new ConcurrentHashMap<>();
        AtomicLong interrupts = new AtomicLong();
        SplittableRandom speeds = random.split();
        try (LaneRig rig = LaneRig.start(kind, (lanes, delivery) -> {
            assertThat(Thread.currentThread().isInterrupted() && !delivery.cancelled())
                    .as("interrupted before it began")
                    .isFalse();
            AtomicInteger here = running.computeIfAbsent(delivery.toString(), d -> new AtomicInteger());
            assertThat(here.incrementAndGet()).as("at a time of %s", delivery).isEqualTo(1);
            int spins;
            synchronized (speeds) {
                spins = speeds.nextInt(4) == 0 ? speeds.nextInt(3_000) : 0;
            }
            for (int i = 0; i < spins; i++) {
                Thread.onSpinWait();
            }
            boolean interrupted = Thread.currentThread().isInterrupted();
            assertThat(interrupted && !delivery.cancelled())
                    .as("interrupted although it is wanted")
                    .isFalse();
            if (interrupted) {
                interrupts.incrementAndGet();
            }
            here.decrementAndGet();
            return lanes.ack(delivery);
        })) {
            rig.begunIsKept = false;
            for (int turn = 0; turn < 1_500; turn++) {
                OwnedPartition partition = rig.assign(turn % 2);
                int count = 1 + random.nextInt(8);
                rig.offer(partition, 0, count);
                for (int i = random.nextInt(2_000); i > 0; i--) {
                    Thread.onSpinWait();
                }
                switch (random.nextInt(3)) {
                    case 0 -> rig.lose(partition);
                    case 1 -> {
                        partition.admitNothing();
                        rig.await("nothing runs for it", () -> !rig.lanes().runs(partition));
                        long position = rig.position(partition);
                        long open = partition.openRecords();
                        rig.lose(partition);
                        assertThat(partition.openRecords()).isEqualTo(open);
                        assertThat(rig.position(partition)).isEqualTo(position);
                    }
                    default -> {
                        rig.await("all acked", () -> partition.openRecords() == 0 || !rig.failures.isEmpty());
                        rig.lose(partition);
                    }
                }
                assertThat(rig.failures).isEmpty();
            }
            OwnedPartition last = rig.assign(0);
            rig.offer(last, 0, 20);
            rig.await("all acked", () -> last.openRecords() == 0);
            rig.await("none stuck", () -> rig.lanes().stuckHandlers().isEmpty());
            assertThat(rig.time.timers()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"ONE", "BY_PARTITION"})
    @DisplayName("1.3, 3.8: a worker that takes records of a partition that is gone goes on uninterrupted")
    void refusesWhatIsGivenUp(Kind kind) throws Exception {
        List<ConsumerRecord<byte[], byte[]>> records = Records.row(new TopicPartition("orders", 0), 0, 20_000);
        try (LaneRig rig = LaneRig.start(kind, 1, LaneRig::ack)) {
            rig.begunIsKept = false;
            for (int turn = 0; turn < 50; turn++) {
                OwnedPartition partition = rig.assign(0);
                partition.discard();
                rig.offer(partition, records);
                while (!rig.lanes().hungry() && rig.failures.isEmpty()) {
                    rig.lanes().giveUpDiscarded();
                }
                assertThat(rig.failures).isEmpty();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName(
            "3.1, 3.4, 3.8: while partitions come and go, all that is live is handled until it is acked, none twice")
    void partitionsComeAndGo(Kind kind) {
        Seeds.each(10, random -> partitionsComeAndGo(kind, random));
    }

    private static void partitionsComeAndGo(Kind kind, SplittableRandom random) throws Exception {
        Map<String, AtomicInteger> running = new ConcurrentHashMap<>();
        SplittableRandom answers = random.split();
        try (LaneRig rig = LaneRig.start(kind, (lanes, delivery) -> {
            AtomicInteger here = running.computeIfAbsent(delivery.toString(), d -> new AtomicInteger());
            assertThat(here.incrementAndGet()).as("at a time of %s", delivery).isEqualTo(1);
            int answer;
            synchronized (answers) {
                answer = answers.nextInt(10);
            }
            if (answer < 3) {
                LaneRig.yieldToOthers();
            }
            here.decrementAndGet();
            return answer == 0 ? lanes.retry(delivery) : lanes.ack(delivery);
        })) {
            rig.begunIsKept = false;
            OwnedPartition[] partitions = {rig.assign(0), rig.assign(1), rig.assign(2)};
            long[] ends = new long[partitions.length];
            for (int turn = 0; turn < 300; turn++) {
                int p = random.nextInt(partitions.length);
                switch (random.nextInt(8)) {
                    case 0 -> {
                        rig.lose(partitions[p]);
                        partitions[p] = rig.assign(p);
                        ends[p] = 0;
                    }
                    case 1, 2 -> rig.time.advance(A_WAIT);
                    case 3 -> {
                        Object unused = ends[p] == 0 ? null : partitions[p].position();
                        partitions[p].compact();
                    }
                    default -> {
                        String[] keys = new String[1 + random.nextInt(6)];
                        for (int i = 0; i < keys.length; i++) {
                            keys[i] = random.nextInt(5) == 0 ? null : "key-" + random.nextInt(5);
                        }
                        rig.offer(partitions[p], ends[p], keys);
                        ends[p] += keys.length;
                    }
                }
            }
            rig.await("none stuck", () -> rig.lanes().stuckHandlers().isEmpty());
            rig.passTimeUntil(
                    "all acked",
                    () -> !rig.failures.isEmpty()
                            || List.of(partitions).stream().allMatch(each -> each.openRecords() == 0));
            assertThat(rig.failures).isEmpty();
            for (int p = 0; p < partitions.length; p++) {
                if (ends[p] > 0) {
                    assertThat(rig.position(partitions[p])).isEqualTo(ends[p]);
                }
            }
            rig.awaitQuiet();
            if (rig.lanes() instanceof KeyedLanes keyed) {
                assertThat(keyed.lanes()).isZero();
            }
        }
    }

    private static void ignoringInterrupts(CountDownLatch latch) {
        boolean interrupted = false;
        while (latch.getCount() > 0) {
            try {
                LaneRig.await(latch);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
