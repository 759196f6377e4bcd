package io.settlestream.internal.poll;

import io.settlestream.internal.commit.Commits;
import io.settlestream.internal.position.OwnedPartition;
import io.settlestream.internal.position.Slots;
import io.settlestream.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the record that kills the process, where there is one: partitions whose last owner did not come to a proper end hand
 * out one record at first, then two, four and so on, and the position is committed before each. So whatever happens, the
 * next start begins behind what was handled before, and sooner or later the record that kills is the first, and alone in
 * hand. That it is in hand alone is committed before it is handed out, so that the owner after its death can count the
 * attempt, and the record meets its cap.
 *
 * <p>Partitions take turns, so that a record of one of them is not blamed for another's. All of it lasts for one commit
 * interval: what is handled after that is committed in the background. Only for subscriptions with a cap. Belongs to the
 * poll thread.
 */
final class SlowStart {

    private static final Logger log = LoggerFactory.getLogger(SlowStart.class);

    /** What was fetched of a partition and not been handed out. */
    private static final class Backlog {
        private final ArrayDeque<ConsumerRecord<byte[], byte[]>> records = new ArrayDeque<>();
        private long nextOffset;
        private @Nullable Integer nextEpoch;
        private int window = 1;
    }

    private final SubscriptionPlan plan;
    private final Commits commits;
    private final BiConsumer<OwnedPartition, Slots> handOut;
    private final TimeSource time;
    private final Map<OwnedPartition, Backlog> backlogs = new LinkedHashMap<>();
    private long endsAt;

    /** The partition whose turn it is, while what was handed out of it is not through. */
    private volatile @Nullable OwnedPartition turn;

    /** The offset behind what was handed out of it. */
    private long turnEnd;

    /**
     * @param handOut gives records to the lanes
     */
    SlowStart(SubscriptionPlan plan, Commits commits, BiConsumer<OwnedPartition, Slots> handOut, TimeSource time) {
        this.plan = plan;
        this.commits = commits;
        this.handOut = handOut;
        this.time = time;
    }

    /** Begins with a partition, before anything was handed out of it. */
    void begin(OwnedPartition partition) {
        if (backlogs.isEmpty()) {
            endsAt = time.nanoTime() + plan.commitInterval().toNanos();
        }
        backlogs.put(partition, new Backlog());
        log.atInfo()
                .addKeyValue("subscription", plan.name())
                .addKeyValue("partition", partition)
                .log("last owner did not come to an end; starting slowly, in case one of its records is why");
    }

    /** Whether a partition hands its records out through this. */
    boolean covers(OwnedPartition partition) {
        return backlogs.containsKey(partition);
    }

    /** Whether nothing more is to be fetched of a partition for now. */
    boolean holds(OwnedPartition partition) {
        Backlog backlog = backlogs.get(partition);
        return backlog != null && (partition == turn || !backlog.records.isEmpty());
    }

    /** Whether a partition that settled something may be what is waited for. Any thread. */
    boolean waitsFor(OwnedPartition partition) {
        return partition == turn;
    }

    /** Enters what a poll has returned of a partition. */
    void add(
            OwnedPartition partition,
            List<ConsumerRecord<byte[], byte[]>> records,
            long nextOffset,
            @Nullable Integer nextEpoch) {
        Backlog backlog = backlogs.get(partition);
        if (backlog != null) {
            backlog.records.addAll(records);
            backlog.nextOffset = nextOffset;
            backlog.nextEpoch = nextEpoch;
        }
    }

    /** Hands out what may be. */
    void advance() {
        if (backlogs.isEmpty()) {
            return;
        }
        backlogs.keySet().removeIf(OwnedPartition::discarded);
        OwnedPartition current = turn;
        boolean over = time.nanoTime() - endsAt >= 0;
        if (current != null && !over && !current.discarded() && !through(current)) {
            return;
        }
        turn = null;
        if (over) {
            List<OwnedPartition> all = new ArrayList<>(backlogs.keySet());
            all.forEach(partition -> {
                partition.alone(null);
                Backlog backlog = backlogs.remove(partition);
                if (backlog != null && !backlog.records.isEmpty()) {
                    handOut(partition, backlog, backlog.records.size());
                }
            });
            return;
        }
        for (Map.Entry<OwnedPartition, Backlog> each : backlogs.entrySet()) {
            if (!each.getValue().records.isEmpty()) {
                takeTurn(each.getKey(), each.getValue());
                return;
            }
        }
    }

    /** The service stops: nothing more is handed out. */
    void stop() {
        backlogs.clear();
        turn = null;
    }

    /** How long until the slow start is over, if there is one. */
    Duration untilOver(Duration otherwise) {
        if (backlogs.isEmpty()) {
            return otherwise;
        }
        Duration left = Duration.ofNanos(Math.max(0, endsAt - time.nanoTime()));
        return left.compareTo(otherwise) < 0 ? left : otherwise;
    }

    private void takeTurn(OwnedPartition partition, Backlog backlog) {
        int count = Math.min(backlog.window, backlog.records.size());
        partition.alone(count == 1 ? Long.valueOf(backlog.records.getFirst().offset()) : null);
        if (!commits.commitNow(List.of(partition), plan.callTimeout())) {
            // Tried again in the next round; nothing may be handed out whose death nobody could count.
            return;
        }
        // Behind the others, so that each has its turn.
        backlogs.remove(partition);
        backlogs.put(partition, backlog);
        backlog.window = Math.min(2 * backlog.window, 1 << 20);
        turn = partition;
        partition.watch(true);
        turnEnd = handOut(partition, backlog, count);
    }

    /** Returns the offset behind what was handed out. */
    private long handOut(OwnedPartition partition, Backlog backlog, int count) {
        List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            records.add(backlog.records.removeFirst());
        }
        ConsumerRecord<byte[], byte[]> next = backlog.records.peekFirst();
        long nextOffset = next == null ? backlog.nextOffset : next.offset();
        Integer nextEpoch = next == null
                ? backlog.nextEpoch
                : records.get(count - 1).leaderEpoch().orElse(null);
        handOut.accept(partition, partition.register(records, nextOffset, nextEpoch, time.nanoTime()));
        return nextOffset;
    }

    /** Whether nothing that was handed out is in a handler's hands, or waits to be. */
    private boolean through(OwnedPartition partition) {
        var position = partition.position();
        return (position != null && position.offset() >= turnEnd)
                || partition.openRecords() <= partition.delayedRecords();
    }
}
