package io.settlestream.internal.lane;

import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.internal.handle.BatchRunner.Result;
import io.settlestream.internal.position.OwnedPartition;
import io.settlestream.internal.settle.BatchUnit;
import io.settlestream.internal.settle.Delivery;
import io.settlestream.internal.settle.Disposition;
import io.settlestream.internal.testing.Seeds;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.function.Predicate;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What comes in one batch. */
class BatchLaneTest {

    private static final Duration FIRST_WAIT = Duration.ofMillis(50);

    /** The batches begun, each as {@code partition@offset#attempt} of its elements. */
    private final ConcurrentLinkedQueue<List<String>> batches = new ConcurrentLinkedQueue<>();

    private final Semaphore steps = new Semaphore(0);

    private LaneRig start(int workers, int maxSize, Predicate<Delivery> retried) {
        return LaneRig.startBatches(workers, maxSize, (rig, batch) -> {
            batches.add(shown(batch));
            rig.progressed();
            steps.acquire();
            return settle(rig, batch, retried);
        });
    }

    private static List<String> shown(BatchUnit batch) {
        return batch.deliveries().stream()
                .map(d -> d.partition() + "@" + d.offset() + "#" + d.attempt())
                .toList();
    }

    private static Result settle(LaneRig rig, BatchUnit batch, Predicate<Delivery> retried) {
        List<Delivery> again = new ArrayList<>();
        for (Delivery delivery : batch.deliveries()) {
            Disposition disposition = retried.test(delivery) ? rig.retry(delivery) : rig.ack(delivery);
            if (disposition.equals(Disposition.RETRY)) {
                again.add(delivery);
            }
        }
        return new Result(again, List.of(), false);
    }

    private void step(LaneRig rig, String... expected) throws InterruptedException {
        rig.await("next batch", () -> !batches.isEmpty());
        assertThat(batches.remove()).containsExactly(expected);
        steps.release();
    }

    @Test
    @DisplayName("4.1: a batch is a record and what is already fetched, at most n, of any partition, without waiting")
    void takesWhatIsThere() throws Exception {
        try (LaneRig rig = start(1, 4, d -> false)) {
            OwnedPartition one = rig.assign(1);
            OwnedPartition two = rig.assign(2);
            rig.offer(one, 0, 1);
            rig.await("the first one alone", () -> !batches.isEmpty());
            rig.offer(one, 1, 2);
            rig.offer(two, 7, 6);
            rig.offer(one, 3, 1);

            step(rig, "1@0#1");
            step(rig, "1@1#1", "1@2#1", "2@7#1", "2@8#1");
            step(rig, "2@9#1", "2@10#1", "2@11#1", "2@12#1");
            step(rig, "1@3#1");
            rig.awaitQuiet();
            assertThat(batches).isEmpty();
            assertThat(rig.position(one)).isEqualTo(4);
            assertThat(rig.position(two)).isEqualTo(13);
        }
    }

    @Test
    @DisplayName("4.3, 3.6: elements that are retried come back alone and first, after their back-off")
    void retriesComeAlone() throws Exception {
        try (LaneRig rig = start(1, 4, d -> d.offset() % 2 == 1 && d.offset() < 4 && d.attempt() < 3)) {
            OwnedPartition partition = rig.assign(0);
            rig.offer(partition, 0, 4);
            rig.await("begun", () -> !batches.isEmpty());
            rig.offer(partition, 4, 3);

            step(rig, "0@0#1", "0@1#1", "0@2#1", "0@3#1");
            step(rig, "0@1#2", "0@3#2");
            rig.await("backs off", () -> rig.time.timers() > 0 && rig.lanes().hungry());
            assertThat(batches).isEmpty();
            assertThat(rig.position(partition)).isEqualTo(1);
            rig.time.advance(FIRST_WAIT);
            step(rig, "0@1#3", "0@3#3");
            step(rig, "0@4#1", "0@5#1", "0@6#1");
            rig.awaitQuiet();
            assertThat(rig.position(partition)).isEqualTo(7);
        }
    }

    @Test
    @DisplayName("4.1, 4.3: no batch is larger than n, also one of elements whose reports came late")
    void retriesAreNoLargerThanABatch() throws Exception {
        List<Delivery> unreported = new CopyOnWriteArrayList<>();
        try (LaneRig rig = LaneRig.startBatches(1, 2, (lanes, batch) -> {
            batches.add(shown(batch));
            if (batch.deliveries().get(0).attempt() > 1) {
                return settle(lanes, batch, d -> false);
            }
            unreported.addAll(batch.deliveries());
            return new Result(List.of(), List.of(), false);
        })) {
            OwnedPartition partition = rig.assign(0);
            rig.offer(partition, 0, 5);
            rig.await("all begun", () -> unreported.size() == 5);
            rig.awaitQuiet();
            batches.clear();
            rig.lanes().lock.lock();
            try {
                List.of(4, 2, 0, 3, 1).forEach(i -> rig.lanes().retry(unreported.get(i)));
            } finally {
                rig.lanes().lock.unlock();
            }
            rig.await("all acked", () -> rig.counters.acked.sum() == 5);
            assertThat(batches).containsExactly(List.of("0@0#2", "0@1#2"), List.of("0@2#2", "0@3#2"), List.of("0@4#2"));
        }
    }

    @Test
    @DisplayName("4.1-4.3: one worker's batches keep the order of each partition, retried elements alone and first")
    void batchesKeepTheirOrder() {
        Seeds.each(40, this::batchesKeepTheirOrder);
    }

    private void batchesKeepTheirOrder(SplittableRandom random) throws Exception {
        batches.clear();
        int maxSize = 1 + random.nextInt(8);
        SplittableRandom answers = random.split();
        LaneRig started = LaneRig.startBatches(1, maxSize, (rig, batch) -> {
            batches.add(shown(batch));
            return settle(rig, batch, d -> answers.nextInt(6) == 0);
        });
        try (LaneRig rig = started) {
            List<OwnedPartition> partitions = List.of(rig.assign(0), rig.assign(1), rig.assign(2));
            long[] ends = new long[3];
            for (int poll = 0; poll < 20; poll++) {
                int p = random.nextInt(3);
                int count = 1 + random.nextInt(12);
                rig.offer(partitions.get(p), ends[p], count);
                ends[p] += count;
            }
            long offered = ends[0] + ends[1] + ends[2];
            rig.passTimeUntil("all acked", () -> rig.counters.acked.sum() == offered);

            long[] next = new long[3];
            for (List<String> batch : batches) {
                assertThat(batch.size()).isBetween(1, maxSize);
                boolean retried = !batch.get(0).endsWith("#1");
                long[] last = {-1, -1, -1};
                for (String element : batch) {
                    int p = element.charAt(0) - '0';
                    long offset = Long.parseLong(element.substring(2, element.indexOf('#')));
                    assertThat(!element.endsWith("#1")).as("%s", batch).isEqualTo(retried);
                    assertThat(offset).as("%s", batch).isGreaterThan(last[p]);
                    last[p] = offset;
                    if (!retried) {
                        assertThat(offset).as("%s", batch).isEqualTo(next[p]++);
                    }
                }
            }
        }
    }
}
