package io.settlestream.internal.lane;

import static io.settlestream.internal.lane.LaneRig.Kind.BY_KEY;
import static io.settlestream.internal.lane.LaneRig.Kind.ONE;
import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.internal.lane.LaneRig.Kind;
import io.settlestream.internal.position.OwnedPartition;
import io.settlestream.internal.settle.Delivery;
import io.settlestream.internal.settle.Disposition;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** 3.5: deliveries that wait for the end of a delay. */
class LaneDelayTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    /** Delays the first attempts at the first records: record n for so many seconds. */
    private static LaneRig start(Kind kind, int... seconds) {
        return LaneRig.start(kind, (lanes, delivery) -> {
            int offset = (int) delivery.offset();
            return offset < seconds.length && delivery.attempt() == 1
                    ? lanes.retryAfter(delivery, SECOND.multipliedBy(seconds[offset]))
                    : lanes.ack(delivery);
        });
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("3.5: delays do not wait for each other, and the lane goes on meanwhile")
    void doNotWaitForEachOther(Kind kind) throws Exception {
        try (LaneRig rig = start(kind, 30, 10, 20)) {
            OwnedPartition partition = rig.assign(0);
            rig.offer(partition, 0, 6);
            rig.await("the others are acked", () -> rig.counters.acked.sum() == 3);
            rig.await("the rest waits", () -> partition.delayedRecords() == 3);
            rig.awaitQuiet();
            assertThat(rig.time.timers()).isEqualTo(1);
            assertThat(rig.position(partition)).isZero();

            rig.time.advance(SECOND.multipliedBy(10));
            rig.awaitBegun("0@1#2");
            rig.await("it is acked", () -> rig.counters.acked.sum() == 4);
            assertThat(partition.delayedRecords()).isEqualTo(2);
            rig.time.advance(SECOND.multipliedBy(10).minusNanos(1));
            rig.awaitQuiet();
            assertThat(rig.begun).doesNotContain("0@2#2", "0@0#2");
            rig.time.advance(Duration.ofNanos(1));
            rig.await("the second is acked", () -> rig.counters.acked.sum() == 5);
            rig.time.advance(SECOND.multipliedBy(10));
            rig.await("all are acked", () -> rig.counters.acked.sum() == 6);

            assertThat(rig.begun).endsWith("0@1#2", "0@2#2", "0@0#2").hasSize(9);
            assertThat(rig.position(partition)).isEqualTo(6);
            assertThat(partition.delayedRecords()).isZero();
            assertThat(rig.time.timers()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("3.5: a delay that is asked for later and ends earlier ends at its time")
    void theEarlierIsAddedLater(Kind kind) throws Exception {
        try (LaneRig rig = start(kind, 3600, 1)) {
            OwnedPartition partition = rig.assign(0);
            rig.offer(partition, 0, 1);
            rig.await("the long one waits", () -> partition.delayedRecords() == 1);
            rig.awaitQuiet();
            rig.offer(partition, 1, 1);
            rig.await("both wait", () -> partition.delayedRecords() == 2);
            rig.awaitQuiet();
            assertThat(rig.time.timers()).isEqualTo(1);
            rig.time.advance(SECOND);
            rig.awaitBegun("0@1#2");
            rig.time.advance(SECOND.multipliedBy(3599));
            rig.awaitBegun("0@0#2");
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("3.5: delays that end at one moment end in the order in which they were asked for")
    void inOrderOfAsking(Kind kind) throws Exception {
        try (LaneRig rig = LaneRig.start(
                kind,
                1,
                (lanes, delivery) ->
                        delivery.attempt() == 1 ? lanes.retryAfter(delivery, SECOND) : lanes.ack(delivery))) {
            OwnedPartition partition = rig.assign(0);
            rig.offer(partition, 0, "a", "b", "c", "d");
            rig.await("all wait", () -> partition.delayedRecords() == 4);
            rig.awaitQuiet();
            rig.time.advance(SECOND);
            rig.await("all are acked", () -> rig.counters.acked.sum() == 4);
            assertThat(rig.begun).endsWith("0@0#2", "0@1#2", "0@2#2", "0@3#2");
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("3.5: a delay of nothing is not a spin in the worker's hands: what is due comes through the queue")
    void noDelay(Kind kind) throws Exception {
        try (LaneRig rig = start(kind, 0)) {
            rig.offer(rig.assign(0), 0, 1);
            rig.passTimeUntil("acked", () -> rig.counters.acked.sum() == 1);
            assertThat(rig.begun).containsExactly("0@0#1", "0@0#2");
        }
    }

    @Test
    @DisplayName("3.5, 5.1: by record key the key waits, all of it and nothing else; a keyless record holds up nobody")
    void aKeyWaits() throws Exception {
        try (LaneRig rig = start(BY_KEY, 10, 20)) {
            OwnedPartition partition = rig.assign(0);
            rig.offer(partition, 0, "held", null, "held", null, "other", "held");
            rig.await("the others are acked", () -> rig.counters.acked.sum() == 2);
            rig.await("both wait", () -> partition.delayedRecords() == 2);
            rig.awaitQuiet();
            rig.offer(partition, 6, "held", "other", null);
            rig.await("the others are acked", () -> rig.counters.acked.sum() == 4);
            rig.awaitQuiet();
            assertThat(rig.begun).doesNotContain("0@2#1", "0@5#1", "0@6#1");

            rig.time.advance(SECOND.multipliedBy(10));
            rig.await("the key goes on", () -> rig.counters.acked.sum() == 8);
            assertThat(rig.begun).endsWith("0@0#2", "0@2#1", "0@5#1", "0@6#1");
            rig.time.advance(SECOND.multipliedBy(10));
            rig.await("all are acked", () -> rig.counters.acked.sum() == 9);
            assertThat(rig.position(partition)).isEqualTo(9);
        }
    }

    @Test
    @DisplayName("3.5, 5.1: a key with two delays waits for both, whichever ends first")
    void twoOfOneKey() throws Exception {
        Queue<Delivery> unreported = new ConcurrentLinkedQueue<>();
        try (LaneRig rig = LaneRig.start(BY_KEY, (lanes, delivery) -> {
            if (delivery.offset() == 0 && delivery.attempt() == 1) {
                unreported.add(delivery);
                return Disposition.AWAITING_REPORT;
            }
            return delivery.offset() == 1 && delivery.attempt() == 1
                    ? lanes.retryAfter(delivery, SECOND.multipliedBy(20))
                    : lanes.ack(delivery);
        })) {
            OwnedPartition partition = rig.assign(0);
            rig.offer(partition, 0, "k", "k", "k");
            rig.await("one waits", () -> partition.delayedRecords() == 1);
            rig.awaitQuiet();
            rig.lanes().later(unreported.remove(), SECOND.multipliedBy(10).toNanos());
            rig.time.advance(SECOND.multipliedBy(10));
            rig.awaitQuiet();
            rig.awaitQuietWorkers();
            assertThat(rig.begun).doesNotContain("0@2#1");
            rig.time.advance(SECOND.multipliedBy(10));
            rig.await("all are acked", () -> rig.counters.acked.sum() == 3);
            assertThat(rig.begun).endsWith("0@0#2", "0@1#2", "0@2#1");
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("10.3: a stop holds what waits for a delay: it stays open, and its time never comes")
    void stopHolds(Kind kind) throws Exception {
        try (LaneRig rig = start(kind, 10)) {
            OwnedPartition partition = rig.assign(0);
            rig.offer(partition, 0, 1);
            rig.await("it waits", () -> partition.delayedRecords() == 1);
            rig.awaitQuiet();
            rig.stop(partition);
            rig.awaitQuiet();
            assertThat(rig.time.timers()).isZero();
            assertThat(partition.delayedRecords()).isZero();
            assertThat(partition.openRecords()).isEqualTo(1);
            assertThat(rig.position(partition)).isZero();
            rig.time.advance(SECOND.multipliedBy(20));
            rig.awaitQuiet();
            assertThat(rig.begun).containsExactly("0@0#1");
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("10.3: a delay that is asked for after the stop is none: the record stays open")
    void delayAfterTheStop(Kind kind) throws Exception {
        CountDownLatch stopped = new CountDownLatch(1);
        try (LaneRig rig = LaneRig.start(kind, 1, (lanes, delivery) -> {
            LaneRig.await(stopped);
            return lanes.retryAfter(delivery, SECOND);
        })) {
            OwnedPartition partition = rig.assign(0);
            rig.offer(partition, 0, 1);
            rig.awaitBegun("0@0#1");
            rig.stop(partition);
            stopped.countDown();
            rig.awaitQuiet();
            assertThat(rig.time.timers()).isZero();
            assertThat(partition.delayedRecords()).isZero();
            assertThat(partition.openRecords()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("3.8: a partition that goes takes its delays along, and no other's")
    void discardPurges(Kind kind) throws Exception {
        try (LaneRig rig = start(kind, 10)) {
            OwnedPartition going = rig.assign(0);
            OwnedPartition staying = rig.assign(1);
            rig.offer(going, 0, 1);
            rig.await("one waits", () -> going.delayedRecords() == 1);
            rig.awaitQuiet();
            rig.time.advance(SECOND);
            rig.offer(staying, 0, 1);
            rig.await("both wait", () -> staying.delayedRecords() == 1);
            rig.awaitQuiet();
            rig.lose(going);
            assertThat(going.delayedRecords()).isZero();
            assertThat(rig.time.timers()).isEqualTo(1);
            rig.time.advance(SECOND.multipliedBy(10));
            rig.await("the other is acked", () -> rig.counters.acked.sum() == 1);
            rig.awaitQuiet();
            assertThat(rig.begun).doesNotContain("0@0#2").contains("1@0#2");
        }
    }

    @Test
    @DisplayName("3.8: a key whose delayed record went with its partition goes on when the partition is back")
    void aKeyComesBack() throws Exception {
        try (LaneRig rig = start(BY_KEY, 3600)) {
            OwnedPartition before = rig.assign(0);
            rig.offer(before, 0, "k", "k");
            rig.await("it waits", () -> before.delayedRecords() == 1);
            rig.awaitQuiet();
            rig.lose(before);
            OwnedPartition after = rig.assign(0);
            rig.offer(after, 1, "k");
            rig.await("acked", () -> rig.counters.acked.sum() == 1);
            assertThat(rig.position(after)).isEqualTo(2);
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("3.8: a delay asked for when the partition has just gone is none, and holds up no key")
    void delayAfterTheLoss(Kind kind) throws Exception {
        CountDownLatch answers = new CountDownLatch(1);
        CountDownLatch lost = new CountDownLatch(1);
        try (LaneRig rig = LaneRig.start(kind, 1, (lanes, delivery) -> {
            if (delivery.attempt() == 1 && delivery.offset() == 0) {
                Disposition answered = lanes.retryAfter(delivery, SECOND.multipliedBy(3600));
                answers.countDown();
                while (lost.getCount() > 0) {
                    try {
                        LaneRig.await(lost);
                    } catch (InterruptedException givenUp) {
                        // It has answered already.
                    }
                }
                return answered;
            }
            return lanes.ack(delivery);
        })) {
            OwnedPartition before = rig.assign(0);
            rig.offer(before, 0, "k");
            LaneRig.await(answers);
            rig.lose(before);
            lost.countDown();
            rig.awaitQuietWorkers();
            assertThat(before.delayedRecords()).isZero();
            assertThat(rig.time.timers()).isZero();

            OwnedPartition after = rig.assign(0);
            rig.offer(after, 1, "k");
            rig.await("acked", () -> rig.counters.acked.sum() == 1);
        }
    }

    @Test
    @DisplayName("3.4, 3.5: a record whose delay has ended runs before what its lane has not begun")
    void comesFirst() throws Exception {
        CountDownLatch busy = new CountDownLatch(1);
        try (LaneRig rig = LaneRig.start(ONE, (lanes, delivery) -> {
            if (delivery.offset() == 1) {
                LaneRig.await(busy);
            }
            return delivery.offset() == 0 && delivery.attempt() == 1
                    ? lanes.retryAfter(delivery, SECOND)
                    : lanes.ack(delivery);
        })) {
            OwnedPartition partition = rig.assign(0);
            rig.offer(partition, 0, 4);
            rig.awaitBegun("0@1#1");
            rig.time.advance(SECOND);
            busy.countDown();
            rig.await("all are acked", () -> rig.counters.acked.sum() == 4);
            assertThat(List.copyOf(rig.begun)).containsExactly("0@0#1", "0@1#1", "0@0#2", "0@2#1", "0@3#1");
        }
    }
}
