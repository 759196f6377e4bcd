package io.settlestream.internal.lane;

import static io.settlestream.internal.lane.LaneRig.Kind.BY_KEY;
import static io.settlestream.internal.lane.LaneRig.Kind.BY_PARTITION;
import static java.nio.charset.StandardCharsets.UTF_8;
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
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Lanes by key: order within a key, no waiting between keys. */
class KeyedLanesTest {

    private static final Duration FIRST_WAIT = Duration.ofMillis(50);

    @ParameterizedTest
    @EnumSource(names = {"BY_PARTITION", "BY_KEY"})
    @DisplayName("3.8: a retry asked for when the partition has just gone leaves no lane behind")
    void retryAfterTheLoss(Kind kind) throws Exception {
        CountDownLatch answers = new CountDownLatch(1);
        CountDownLatch lost = new CountDownLatch(1);
        try (LaneRig rig = LaneRig.start(kind, 1, (lanes, delivery) -> {
            Disposition answered = lanes.retry(delivery);
            answers.countDown();
            while (lost.getCount() > 0) {
                try {
                    LaneRig.await(lost);
                } catch (InterruptedException givenUp) {
                    // It has answered already.
                }
            }
            return answered;
        })) {
            OwnedPartition partition = rig.assign(0);
            rig.offer(partition, 0, "k");
            LaneRig.await(answers);
            rig.lose(partition);
            lost.countDown();
            rig.awaitQuietWorkers();

            assertThat(((KeyedLanes) rig.lanes()).lanes()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"BY_PARTITION", "BY_KEY"})
    @DisplayName("5.1: deliveries of one key run in order, one after the other, also when they are retried")
    void keysKeepTheirOrder(Kind kind) {
        Seeds.each(40, random -> keysKeepTheirOrder(kind, random));
    }

    private static void keysKeepTheirOrder(Kind kind, SplittableRandom random) throws Exception {
        Map<String, Queue<String>> expected = new ConcurrentHashMap<>();
        Map<String, AtomicInteger> running = new ConcurrentHashMap<>();
        SplittableRandom answers = random.split();
        try (LaneRig rig = LaneRig.start(kind, (lanes, delivery) -> {
            String key = keyOf(kind, delivery);
            AtomicInteger here = running.computeIfAbsent(key, k -> new AtomicInteger());
            assertThat(here.incrementAndGet()).as("at a time of %s", key).isEqualTo(1);
            assertThat(delivery.toString()).isEqualTo(expected.get(key).peek());
            boolean again;
            synchronized (answers) {
                again = answers.nextInt(8) == 0;
            }
            LaneRig.yieldToOthers();
            if (!again) {
                expected.get(key).remove();
            }
            here.decrementAndGet();
            return again ? lanes.retry(delivery) : lanes.ack(delivery);
        })) {
            List<OwnedPartition> partitions = new ArrayList<>();
            long[] ends = new long[3];
            for (int i = 0; i < ends.length; i++) {
                partitions.add(rig.assign(i));
            }
            for (int poll = 0; poll < 12; poll++) {
                int p = random.nextInt(ends.length);
                String[] keys = new String[1 + random.nextInt(20)];
                for (int i = 0; i < keys.length; i++) {
                    keys[i] = random.nextInt(4) == 0 ? null : "key-" + random.nextInt(4);
                    String key = kind == BY_PARTITION || keys[i] == null ? "partition-" + p : keys[i];
                    expected.computeIfAbsent(key, k -> new ConcurrentLinkedQueue<>())
                            .add("orders-" + p + "@" + (ends[p] + i));
                }
                rig.offer(partitions.get(p), ends[p], keys);
                ends[p] += keys.length;
            }
            long offered = ends[0] + ends[1] + ends[2];
            rig.passTimeUntil("all acked", () -> rig.counters.acked.sum() == offered || !rig.failures.isEmpty());
        }
    }

    private static String keyOf(Kind kind, Delivery delivery) {
        return kind == BY_PARTITION || delivery.key() == null
                ? "partition-" + delivery.partition()
                : new String(delivery.key(), UTF_8);
    }

    @ParameterizedTest
    @EnumSource(names = {"BY_PARTITION", "BY_KEY"})
    @DisplayName("5.1: no key waits for another while a worker is free")
    void noKeyWaitsForAnother(Kind kind) throws Exception {
        int workers = 4;
        CountDownLatch blocked = new CountDownLatch(1);
        try (LaneRig rig = LaneRig.start(kind, workers, (lanes, delivery) -> {
            if (delivery.partition() < workers - 1) {
                LaneRig.await(blocked);
            }
            return lanes.ack(delivery);
        })) {
            // All but one worker are blocked, each by a key with more behind it; many keys are left for the last one.
            for (int i = 0; i < workers - 1; i++) {
                rig.offer(rig.assign(i), 0, "key-" + i, "key-" + i);
            }
            for (int i = workers - 1; i < 60; i++) {
                rig.offer(rig.assign(i), 0, "key-" + i, "key-" + i);
            }
            long others = 2L * (60 - workers + 1);
            rig.await(
                    "all other keys are handled, and the blocked ones are begun",
                    () -> rig.counters.acked.sum() == others && rig.begun.size() == others + workers - 1);

            blocked.countDown();
            rig.await("all keys are handled", () -> rig.counters.acked.sum() == 2 * 60);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"BY_PARTITION", "BY_KEY"})
    @DisplayName("3.6: a key that backs off holds no worker, and its order is kept")
    void backOffHoldsNoWorker(Kind kind) throws Exception {
        try (LaneRig rig = LaneRig.start(
                kind,
                1,
                (lanes, delivery) -> delivery.partition() == 0 && delivery.offset() == 0 && delivery.attempt() < 3
                        ? lanes.retry(delivery)
                        : lanes.ack(delivery))) {
            rig.offer(rig.assign(0), 0, "a", "a");
            rig.await("backs off", () -> rig.time.timers() == 1);
            rig.offer(rig.assign(1), 0, "b", "b");
            rig.awaitBegun("1@1#1");
            rig.awaitQuiet();
            assertThat(rig.begun).containsExactly("0@0#1", "0@0#2", "1@0#1", "1@1#1");

            rig.time.advance(FIRST_WAIT);
            rig.awaitBegun("0@1#1");
            assertThat(rig.begun).endsWith("0@0#3", "0@1#1");
        }
    }

    @Test
    @DisplayName("5.1: keys are equal by their bytes, and a record without one goes with those of its partition")
    void keysAreBytes() throws Exception {
        Semaphore steps = new Semaphore(0);
        try (LaneRig rig = LaneRig.start(BY_KEY, 4, (lanes, delivery) -> {
            steps.acquire();
            return lanes.ack(delivery);
        })) {
            rig.offer(rig.assign(0), 0, "a", null, "", null);
            rig.offer(rig.assign(1), 0, "a", null, "");
            rig.awaitBegun("0@0#1", "0@1#1", "0@2#1", "1@1#1");
            assertThat(rig.begun).hasSize(4);
            steps.release(7);
            rig.await("all acked", () -> rig.counters.acked.sum() == 7);
        }
    }

    @Test
    @DisplayName("3.8: a retry of a partition that is gone holds up no other partition's records of its key")
    void lostRetryHoldsUpNothing() throws Exception {
        try (LaneRig rig = LaneRig.start(
                BY_KEY, (lanes, delivery) -> delivery.partition() == 0 ? lanes.retry(delivery) : lanes.ack(delivery))) {
            OwnedPartition gone = rig.assign(0);
            rig.offer(gone, 0, "a");
            rig.await("backs off", () -> rig.time.timers() == 1);
            rig.offer(rig.assign(1), 0, "a");
            rig.awaitQuiet();
            rig.lose(gone);
            rig.awaitBegun("1@0#1");
        }
    }

    @Test
    @DisplayName("12.3: a lane is forgotten when its last record is settled or its partition gone")
    void forgetsLanes() throws Exception {
        try (LaneRig rig = LaneRig.start(
                BY_KEY, (lanes, delivery) -> delivery.partition() == 0 ? lanes.retry(delivery) : lanes.ack(delivery))) {
            OwnedPartition gone = rig.assign(0);
            for (int i = 0; i < 100; i++) {
                rig.offer(gone, i, "retried-" + i);
                rig.offer(rig.assign(i + 1), 0, "acked-" + i);
            }
            rig.await("all begun", () -> rig.begun.size() == 300 && rig.time.timers() == 100);
            rig.awaitQuiet();
            assertThat(((KeyedLanes) rig.lanes()).lanes()).isEqualTo(100);
            rig.lose(gone);
            rig.time.advance(FIRST_WAIT);
            rig.awaitQuiet();
            assertThat(((KeyedLanes) rig.lanes()).lanes()).isZero();
        }
    }
}
