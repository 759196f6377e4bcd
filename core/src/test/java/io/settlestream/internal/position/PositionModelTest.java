package io.settlestream.internal.position;

import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.internal.position.Slots.State;
import io.settlestream.internal.testing.Records;
import io.settlestream.internal.testing.Seeds;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The bookkeeping of a partition against {@link PositionModel}, under random schedules of everything that may happen. */
class PositionModelTest {

    private static final TopicPartition ORDERS_3 = new TopicPartition("orders", 3);
    private static final int RUNS = 300;
    private static final int STEPS = 4_000;

    @ParameterizedTest
    @EnumSource(names = {"HANDED", "SETTLED"})
    @DisplayName("2.1, 3.1, 3.2, 3.3: the position is the lowest open offset, else what the client reported last")
    void agreesWithTheModel(State passedWhen) {
        Seeds.each(RUNS, random -> new Schedule(passedWhen, random).run());
    }

    /** One partition, what it should know, and what may happen to it next. */
    private static final class Schedule {

        /** Which of several records is next. */
        private enum Order {
            FIRST,
            LAST,
            ANY;

            int next(List<?> list, SplittableRandom random) {
                return switch (this) {
                    case FIRST -> 0;
                    case LAST -> list.size() - 1;
                    case ANY -> random.nextInt(list.size());
                };
            }
        }

        private record Fetched(Slots slots, int slot, ConsumerRecord<byte[], byte[]> record) {
            long offset() {
                return record.offset();
            }
        }

        private final SplittableRandom random;
        private final OwnedPartition partition;
        private final PositionModel model;

        // What makes one schedule unlike another.
        private final Order handing;
        private final Order settling;
        private final int gapPercent;
        private final int mostOpen;
        private final int pollSize;
        private final boolean epochs;
        private final boolean oneStaysOpen;
        private final boolean failures;

        private final List<Fetched> queued = new ArrayList<>();
        private final List<Fetched> handed = new ArrayList<>();
        private final List<Fetched> settled = new ArrayList<>();
        private Fetched slow;
        private long logEnd;
        private Integer epoch;
        private Integer epochInFront;
        private Position before;

        Schedule(State passedWhen, SplittableRandom random) {
            this.random = random;
            this.partition = new OwnedPartition(ORDERS_3, passedWhen, settled -> {});
            this.model = new PositionModel(passedWhen);
            this.handing = Order.values()[random.nextInt(3)];
            this.settling = Order.values()[random.nextInt(3)];
            this.gapPercent = random.nextInt(3) * 20;
            this.mostOpen = 1 + random.nextInt(200);
            this.pollSize = 1 + random.nextInt(random.nextBoolean() ? 3 : 40);
            this.epochs = random.nextInt(4) > 0;
            this.oneStaysOpen = random.nextInt(3) == 0;
            this.failures = random.nextInt(5) == 0;
            this.logEnd = random.nextInt(1_000);
            this.epoch = epochs ? random.nextInt(10) : null;
        }

        void run() {
            for (int step = 0; step < STEPS; step++) {
                step();
                check(partition.openRecords() == model.openRecords(), "open records");
                check(partition.openBytes() == model.openBytes(), "open bytes");
            }
            look();
            if (random.nextBoolean()) {
                admitsWhatLiesInFront();
            } else {
                settlesToTheEnd();
                neverSettlesAgain();
            }
        }

        private void step() {
            switch (random.nextInt(32)) {
                case 0, 1 -> fetch();
                case 2 -> advance();
                case 3, 4, 5, 6 -> look();
                case 7 -> compact();
                case 8 -> settleAgain();
                case 9 -> settleUnhanded();
                case 10 -> fail();
                case 11, 12, 13, 14, 15, 16, 17, 18, 19, 20 -> handOver();
                default -> settle();
            }
        }

        private void fetch() {
            if (model.openRecords() >= mostOpen) {
                return;
            }
            List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
            for (int i = random.nextInt(pollSize); i >= 0; i--) {
                logEnd += gap();
                newLeader();
                records.add(Records.of(ORDERS_3, logEnd++, epoch, bytes(), bytes()));
            }
            Integer inFront = epochInFront;
            for (ConsumerRecord<byte[], byte[]> record : records) {
                int bytes = Math.max(0, record.serializedKeySize()) + Math.max(0, record.serializedValueSize());
                model.fetched(record.offset(), inFront, bytes);
                inFront = record.leaderEpoch().orElse(null);
            }
            // Markers behind the last record, perhaps of a newer leader.
            int markers = gap();
            if (markers > 0) {
                newLeader();
            }
            logEnd += markers;
            model.reported(logEnd, epoch);
            epochInFront = epoch;
            Slots slots = partition.register(records, logEnd, epoch, 0);
            for (int slot = 0; slot < records.size(); slot++) {
                queued.add(new Fetched(slots, slot, records.get(slot)));
            }
            if (oneStaysOpen && slow == null) {
                slow = queued.remove(random.nextInt(queued.size()));
                handOver(slow);
            }
        }

        private void advance() {
            int markers = gap();
            newLeader();
            logEnd += markers;
            if (markers > 0) {
                epochInFront = epoch;
            }
            model.reported(logEnd, epochInFront);
            partition.registerAdvance(logEnd, epochInFront, 0);
        }

        private void handOver() {
            if (!queued.isEmpty()) {
                Fetched next = queued.remove(handing.next(queued, random));
                handOver(next);
                handed.add(next);
            }
        }

        private void handOver(Fetched next) {
            next.slots.handOver(next.slot);
            model.handedOver(next.offset());
        }

        private void settle() {
            if (!handed.isEmpty()) {
                settle(handed.remove(settling.next(handed, random)));
            }
        }

        private void settle(Fetched next) {
            check(partition.settle(next.slots, next.slot, next.record), "first settlement of %d", next.offset());
            model.settled(next.offset());
            settled.add(next);
        }

        private void settleAgain() {
            if (!settled.isEmpty()) {
                Fetched again = settled.get(random.nextInt(settled.size()));
                check(!partition.settle(again.slots, again.slot, again.record), "second settlement");
            }
        }

        private void settleUnhanded() {
            if (!queued.isEmpty()) {
                Fetched next = queued.get(random.nextInt(queued.size()));
                check(!partition.settle(next.slots, next.slot, next.record), "settlement before the hand-over");
            }
        }

        private void fail() {
            if (failures && !handed.isEmpty() && random.nextInt(20) == 0) {
                long offset = handed.get(random.nextInt(handed.size())).offset();
                partition.holdAt(offset);
                model.failAt(offset);
                // The one thing after which it may go down.
                before = null;
            }
        }

        private void look() {
            Position position = partition.position();
            check(Objects.equals(position, model.position()), "position %s for %s", position, model.position());
            if (position != null) {
                check(position.offset() <= model.lowestNotPassed(), "position past an open record");
                check(before == null || position.offset() >= before.offset(), "position down to %s", position);
            }
            before = position;
        }

        private void compact() {
            partition.compact();
            int blocks = partition.tracker().blocks();
            int openPolls = model.openPolls();
            check(blocks <= 2 * openPolls + 2, "%d blocks for %d open polls", blocks, openPolls);
            long seen = partition.tracker().highestHanded();
            long highest = model.highestHanded();
            for (Fetched waiting : queued) {
                long offset = waiting.offset();
                if (offset < seen != offset < highest) {
                    check(false, "highest %d for %d, %d is queued", seen, highest, offset);
                }
            }
        }

        private void admitsWhatLiesInFront() {
            long highest = model.highestHanded();
            partition.admitUpToHighestHanded();
            for (long offset : model.offsets()) {
                if (model.state(offset) == State.QUEUED) {
                    check(
                            partition.admits(offset) == (offset < Math.min(highest, model.ceiling())),
                            "%d in front of %d",
                            offset,
                            highest);
                }
            }
        }

        private void settlesToTheEnd() {
            while (!queued.isEmpty()) {
                handOver();
            }
            while (!handed.isEmpty()) {
                settle();
            }
            if (slow != null && random.nextBoolean()) {
                look();
                compact();
                settle(slow);
            }
            look();
        }

        private void neverSettlesAgain() {
            fetch();
            handOver();
            Position last = partition.position();
            partition.discard();
            handed.forEach(
                    late -> check(!partition.settle(late.slots, late.slot, late.record), "settlement after the end"));
            check(partition.openRecords() == model.openRecords(), "open records after the end");
            check(partition.openBytes() == model.openBytes(), "open bytes after the end");
            check(Objects.equals(partition.position(), last), "position after the end");
            queued.forEach(late -> check(!partition.admits(late.offset()), "hand-over after the end"));
        }

        private int gap() {
            return random.nextInt(100) < gapPercent ? 1 + random.nextInt(5) : 0;
        }

        private void newLeader() {
            if (epochs && random.nextInt(30) == 0) {
                epoch = epoch + 1 + random.nextInt(3);
            }
        }

        private byte[] bytes() {
            return random.nextInt(5) == 0 ? null : new byte[random.nextInt(4)];
        }

        /** AssertJ would take most of the time here. */
        private static void check(boolean holds, String what, Object... about) {
            if (!holds) {
                assertThat(holds).as(what, about).isTrue();
            }
        }
    }
}
