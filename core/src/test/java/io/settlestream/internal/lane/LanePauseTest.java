package io.settlestream.internal.lane;

import static io.settlestream.internal.lane.LaneRig.Kind.BATCH;
import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.internal.handle.BatchRunner;
import io.settlestream.internal.lane.LaneRig.Kind;
import io.settlestream.internal.position.OwnedPartition;
import io.settlestream.internal.settle.Delivery;
import io.settlestream.internal.testing.Seeds;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the user pauses is held back, and goes on where it was. */
class LanePauseTest {

    @ParameterizedTest
    @EnumSource
    @DisplayName("9.5: nothing of a paused partition is begun, others flow, and a resume goes on in order")
    void holdsBack(Kind kind) throws Exception {
        try (LaneRig rig = LaneRig.start(kind, LaneRig::ack)) {
            OwnedPartition paused = rig.assign(0);
            OwnedPartition flowing = rig.assign(1);
            rig.lanes().pause(paused);
            rig.offer(paused, 0, "a", "b", "a", null, "c", "a", "b");
            rig.offer(flowing, 0, "a", "b", "a", null, "c", "a", "b");
            rig.offer(paused, 7, 5);
            rig.await("the other is handled", () -> rig.counters.acked.sum() == 7);
            rig.awaitQuietWorkers();
            assertThat(begun(rig, 0)).isEmpty();
            assertThat(rig.position(paused)).isZero();
            assertThat(paused.openRecords()).isEqualTo(12);

            rig.lanes().resume(paused);
            rig.offer(paused, 12, 3);
            rig.await("all are handled", () -> rig.counters.acked.sum() == 7 + 15);
            assertThat(begun(rig, 0))
                    .containsExactlyInAnyOrder(LongStream.range(0, 15)
                            .mapToObj(offset -> "0@" + offset + "#1")
                            .toArray(String[]::new));
            if (kind.partitionInOrder) {
                assertThat(begun(rig, 0)).startsWith("0@0#1", "0@1#1", "0@2#1").endsWith("0@13#1", "0@14#1");
            }
            assertThat(rig.position(paused)).isEqualTo(15);
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName(
            "9.5: whenever pauses come and go, each record is begun once an attempt, in its order, and none in a pause")
    void comesAndGoes(Kind kind) {
        Seeds.each(30, random -> comesAndGoes(kind, random));
    }

    private static void comesAndGoes(Kind kind, SplittableRandom random) throws Exception {
        long seed = random.nextLong();
        AtomicLong acked = new AtomicLong();
        Set<String> attempts = ConcurrentHashMap.newKeySet();
        List<ConcurrentLinkedQueue<Long>> begun = Stream.generate(() -> new ConcurrentLinkedQueue<Long>())
                .limit(2)
                .toList();
        try (LaneRig rig = LaneRig.start(kind, (lanes, delivery) -> {
            assertThat(attempts.add(delivery + "#" + delivery.attempt())).isTrue();
            begun.get(delivery.partition()).add(delivery.offset());
            SplittableRandom chance = new SplittableRandom(seed + 31 * delivery.offset() + delivery.partition());
            for (int i = chance.nextInt(20); i > 0; i--) {
                LaneRig.yieldToOthers();
            }
            if (delivery.attempt() == 1 && chance.nextInt(10) == 0) {
                return lanes.retry(delivery);
            }
            acked.incrementAndGet();
            return lanes.ack(delivery);
        })) {
            OwnedPartition[] partitions = {rig.assign(0), rig.assign(1)};
            long[] ends = new long[2];
            for (int step = 0; step < 30; step++) {
                int p = random.nextInt(2);
                switch (random.nextInt(4)) {
                    case 0 -> pauseAndLook(rig, partitions[p], begun.get(p));
                    case 1 -> rig.lanes().resume(partitions[p]);
                    default -> {
                        String[] keys = new String[1 + random.nextInt(8)];
                        for (int i = 0; i < keys.length; i++) {
                            keys[i] = "key-" + random.nextInt(4);
                        }
                        rig.offer(partitions[p], ends[p], keys);
                        ends[p] += keys.length;
                    }
                }
            }
            for (OwnedPartition partition : partitions) {
                rig.lanes().resume(partition);
            }
            rig.passTimeUntil("all are acked", () -> acked.get() == ends[0] + ends[1]);
            for (int p = 0; p < 2; p++) {
                assertThat(begun.get(p).stream().distinct().count()).isEqualTo(ends[p]);
                if (kind.partitionInOrder) {
                    // What a batch retries comes after all of the batch.
                    Stream<Long> inOrder = begun.get(p).stream();
                    assertThat((kind == BATCH ? inOrder.distinct() : inOrder).toList())
                            .isSorted();
                }
            }
        }
    }

    private static void pauseAndLook(LaneRig rig, OwnedPartition partition, ConcurrentLinkedQueue<Long> begun)
            throws InterruptedException {
        rig.lanes().pause(partition);
        rig.await("what ran has ended", () -> !rig.lanes().runs(partition));
        int before = begun.size();
        for (int i = 0; i < 20; i++) {
            LaneRig.yieldToOthers();
        }
        assertThat(begun).hasSize(before);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("9.5: a retry of a paused partition waits for the resume, and counts as one attempt")
    void holdsRetriesBack(Kind kind) throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        try (LaneRig rig = LaneRig.start(kind, (lanes, delivery) -> {
            if (delivery.attempt() == 1 && delivery.offset() == 0) {
                LaneRig.await(gate);
                return lanes.retry(delivery);
            }
            return lanes.ack(delivery);
        })) {
            OwnedPartition partition = rig.assign(0);
            rig.offer(partition, 0, 1);
            rig.awaitBegun("0@0#1");
            rig.lanes().pause(partition);
            rig.offer(partition, 1, 2);
            gate.countDown();
            rig.await(
                    "answered",
                    () -> rig.counters.retried.sum() == 1 && !rig.lanes().runs(partition));
            rig.time.advanceToNext();
            rig.await("all are idle", () -> !rig.lanes().runs(partition));
            assertThat(rig.begun).containsExactly("0@0#1");
            assertThat(rig.position(partition)).isZero();

            rig.lanes().resume(partition);
            rig.passTimeUntil("all are handled", () -> rig.counters.acked.sum() == 3);
            assertThat(rig.begun).containsExactlyInAnyOrder("0@0#1", "0@0#2", "0@1#1", "0@2#1");
            if (kind.partitionInOrder) {
                assertThat(rig.begun).containsExactly("0@0#1", "0@0#2", "0@1#1", "0@2#1");
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("9.5, 10.3: a stop does not wait for what is held back, and no position passes it")
    void stopsWithoutIt(Kind kind) throws Exception {
        try (LaneRig rig = LaneRig.start(kind, LaneRig::ack)) {
            OwnedPartition partition = rig.assign(0);
            rig.offer(partition, 0, 3);
            rig.await("three are handled", () -> rig.counters.acked.sum() == 3);
            rig.lanes().pause(partition);
            rig.offer(partition, 3, 6);
            rig.awaitQuietWorkers();
            rig.stop(partition);
            rig.awaitQuiet();
            rig.lanes().resume(partition);
            rig.awaitQuiet();
            assertThat(rig.begun).hasSize(3);
            assertThat(rig.position(partition)).isEqualTo(3);
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("3.8, 9.5: what is held back of an assignment that is over never comes back")
    void forgetsWhatIsOver(Kind kind) throws Exception {
        try (LaneRig rig = LaneRig.start(kind, LaneRig::ack)) {
            OwnedPartition old = rig.assign(0);
            rig.lanes().pause(old);
            rig.offer(old, 0, 4);
            rig.awaitQuietWorkers();
            rig.lose(old);
            OwnedPartition anew = rig.assign(0);
            rig.offer(anew, 2, 2);
            rig.lanes().resume(old);
            rig.await("the new ones are handled", () -> rig.counters.acked.sum() == 2);
            rig.awaitQuietWorkers();
            assertThat(rig.begun).containsExactlyInAnyOrder("0@2#1", "0@3#1");
        }
    }

    @Test
    @DisplayName("4.3, 9.5: an element that asked for a retry comes back alone after a pause, too")
    void retriesComeBackAlone() throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        ConcurrentLinkedQueue<List<String>> batches = new ConcurrentLinkedQueue<>();
        try (LaneRig rig = LaneRig.startBatches(1, 10, (lanes, batch) -> {
            List<String> shown = new ArrayList<>();
            List<Delivery> again = new ArrayList<>();
            for (Delivery delivery : batch.deliveries()) {
                shown.add(delivery.offset() + "#" + delivery.attempt());
                if (delivery.attempt() == 1 && delivery.offset() == 1) {
                    LaneRig.await(gate);
                    lanes.retry(delivery);
                    again.add(delivery);
                } else {
                    lanes.ack(delivery);
                }
            }
            batches.add(shown);
            return new BatchRunner.Result(again, List.of(), false);
        })) {
            OwnedPartition partition = rig.assign(0);
            rig.offer(partition, 0, 2);
            rig.awaitBegun("0@1#1");
            rig.lanes().pause(partition);
            rig.offer(partition, 2, 3);
            gate.countDown();
            rig.await("set aside", () -> batches.size() == 1 && rig.lanes().hungry());
            rig.lanes().resume(partition);
            rig.await("all are handled", () -> rig.counters.acked.sum() == 5);
            rig.await("all are seen", () -> batches.size() == 3);
            assertThat(batches).containsExactly(List.of("0#1", "1#1"), List.of("1#2"), List.of("2#1", "3#1", "4#1"));
        }
    }

    private static List<String> begun(LaneRig rig, int partition) {
        return rig.begun.stream()
                .filter(attempt -> attempt.startsWith(partition + "@"))
                .toList();
    }
}
