package io.settlestream.internal.poll;

import io.settlestream.internal.commit.Commits;
import io.settlestream.internal.position.OwnedPartition;
import io.settlestream.internal.position.Slots;
import io.settlestream.kafka.RecordCopy;
import io.settlestream.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the record that kills the process, where there is one: once a partition has come whose last owner did not come to a
 * proper end, partitions hand out one record at first, then two, four and so on, and positions are committed before each. So
 * whatever happens, the next start begins behind what was handled before, and sooner or later the record that kills is the
 * first, and alone in hand. That it is in hand alone is committed before it is handed out, so that the owner after its death
 * can count the attempt, and the record meets its cap.
 *
 * <p><b>Never the wrong one.</b> Partitions take turns, all that are owned: also those that came with a proper end, or come
 * or are sought meanwhile. A turn begins when nothing is in a handler's hands. A record counts as alone only if nothing else
 * is open at all, since what waits for the end of a delay, or for its dead letter, may be in hand again at any moment. And
 * once that was noted, nothing else is handed out before the note is withdrawn, however long commits fail.
 *
 * <p><b>Sooner or later.</b> It lasts for one commit interval: what is handled after that is committed in the background.
 * A record that takes longer to kill would then never be alone when it does, so for each further owner that ends without having
 * got the position any further it lasts twice as long.
 *
 * <p>Only for subscriptions with a cap. Belongs to the poll thread.
 */
final class SlowStart {

    private static final Logger log = LoggerFactory.getLogger(SlowStart.class);

    /** However short the commit interval is: the time that a handler, or a process that starts, may well take. */
    private static final Duration SHORTEST = Duration.ofSeconds(1);

    /** It lasts at most this many times longer, as a power of two. */
    private static final int MOST_DOUBLINGS = 6;

    private static final int LARGEST_WINDOW = 1 << 20;

    /** Between two tries to commit. */
    private static final Duration TRY_AGAIN = Duration.ofMillis(100);

    /** What was fetched of a partition and not been handed out. */
    private static final class Backlog {
        private final ArrayDeque<ConsumerRecord<byte[], byte[]>> records = new ArrayDeque<>();
        private long nextOffset;
        private @Nullable Integer nextEpoch;
        private int window = 1;
    }

    private final SubscriptionPlan plan;
    private final Supplier<Collection<OwnedPartition>> owned;
    private final Commits commits;
    private final BiConsumer<OwnedPartition, Slots> handOut;
    private final TimeSource time;

    /** In the order of their turns. */
    private final Map<OwnedPartition, Backlog> backlogs = new LinkedHashMap<>();

    private final List<OwnedPartition> inHand = new ArrayList<>();
    private boolean active;
    private long endsAt;

    /** Whether it may be noted in the group that a record is alone in hand. */
    private boolean noted;

    /** Whether the last commit has failed. */
    private boolean refused;

    /** Whether what is in hand is waited for. */
    private volatile boolean waits;

    /**
     * @param owned the partitions of this member
     * @param handOut gives records to the lanes
     */
    SlowStart(
            SubscriptionPlan plan,
            Supplier<Collection<OwnedPartition>> owned,
            Commits commits,
            BiConsumer<OwnedPartition, Slots> handOut,
            TimeSource time) {
        this.plan = plan;
        this.owned = owned;
        this.commits = commits;
        this.handOut = handOut;
        this.time = time;
    }

    /**
     * Begins, or goes on for longer, for a partition of which nothing was handed out.
     *
     * @param unended how many owners in a row have begun where this one does and not come to a proper end
     */
    void begin(OwnedPartition partition, int unended) {
        Duration interval = plan.commitInterval().compareTo(SHORTEST) < 0 ? SHORTEST : plan.commitInterval();
        long end = time.nanoTime()
                + interval.multipliedBy(1L << Math.min(unended - 1, MOST_DOUBLINGS))
                        .toNanos();
        endsAt = active && endsAt - end > 0 ? endsAt : end;
        active = true;
        log.atInfo()
                .addKeyValue("subscription", plan.name())
                .addKeyValue("partition", partition)
                .addKeyValue("owners", unended)
                .log("last owner did not come to an end; starting slowly, in case one of its records is why");
    }

    /** Whether partitions hand their records out through this. */
    boolean active() {
        return active;
    }

    /** Whether nothing more is to be fetched of a partition for now. */
    boolean holds(OwnedPartition partition) {
        Backlog backlog = backlogs.get(partition);
        return active && ((backlog != null && !backlog.records.isEmpty()) || inHand.contains(partition));
    }

    /** Whether a settlement may be what is waited for. Any thread. */
    boolean waits() {
        return waits;
    }

    /** Enters what a poll has returned of a partition. */
    void add(
            OwnedPartition partition,
            List<ConsumerRecord<byte[], byte[]>> records,
            long nextOffset,
            @Nullable Integer nextEpoch) {
        Backlog backlog = backlogs.computeIfAbsent(partition, unused -> new Backlog());
        backlog.records.addAll(records);
        backlog.nextOffset = nextOffset;
        backlog.nextEpoch = nextEpoch;
    }

    /** Hands out what may be. */
    void advance() {
        if (!active) {
            return;
        }
        backlogs.keySet().removeIf(OwnedPartition::discarded);
        boolean over = time.nanoTime() - endsAt >= 0;
        lookAtHands();
        if (!over && !inHand.isEmpty()) {
            return;
        }
        if (over) {
            if (withdrawn()) {
                end();
            }
            return;
        }
        for (Map.Entry<OwnedPartition, Backlog> each : backlogs.entrySet()) {
            if (!each.getValue().records.isEmpty() && !each.getKey().pausedByUser()) {
                takeTurn(each.getKey(), each.getValue());
                return;
            }
        }
        boolean unused = withdrawn();
    }

    /**
     * A partition goes on at another offset than behind what was fetched of it. What has not been handed out is so first, but
     * for what lies behind that offset, which is not in the log any more.
     *
     * @return false if that leaves nothing here, so that it is for the partition's bookkeeping
     */
    boolean moved(OwnedPartition partition, long offset) {
        Backlog backlog = backlogs.get(partition);
        if (backlog == null) {
            return false;
        }
        backlog.records.removeIf(record -> record.offset() >= offset);
        backlog.nextOffset = offset;
        backlog.nextEpoch = null;
        return !backlog.records.isEmpty();
    }

    /** The service stops: nothing more is handed out. */
    void stop() {
        active = false;
        backlogs.clear();
        inHand.clear();
        waits = false;
    }

    /** How long the poll thread may do something else. */
    Duration untilNextLook(Duration otherwise) {
        if (!active) {
            return otherwise;
        }
        Duration left = Duration.ofNanos(Math.max(0, endsAt - time.nanoTime()));
        Duration wait = refused ? TRY_AGAIN : left;
        return wait.compareTo(otherwise) < 0 ? wait : otherwise;
    }

    /** Finds partitions with records that are in a handler's hands or on the way there. */
    private void lookAtHands() {
        inHand.clear();
        // Before looking, or what is settled in between would wake nobody.
        waits = true;
        for (OwnedPartition partition : owned.get()) {
            if (isInHand(partition)) {
                partition.watch(true);
                // What was settled before it was watched is seen by looking once more.
                if (isInHand(partition)) {
                    inHand.add(partition);
                }
            }
        }
        waits = !inHand.isEmpty();
    }

    private static boolean isInHand(OwnedPartition partition) {
        return !partition.heldBack() && partition.openRecords() > partition.delayedRecords() + partition.copying();
    }

    private void takeTurn(OwnedPartition partition, Backlog backlog) {
        int count = Math.min(backlog.window, backlog.records.size());
        ConsumerRecord<byte[], byte[]> first = backlog.records.getFirst();
        int attempt = 1 + failedBefore(partition, first);
        owned.get().forEach(OwnedPartition::notAlone);
        // One that has met its cap is not tried any more.
        boolean alone = count == 1
                && attempt <= plan.maxAttempts().orElse(Integer.MAX_VALUE)
                && owned.get().stream().allMatch(each -> each.openRecords() == 0);
        if (alone) {
            partition.alone(first.offset(), attempt);
        }
        noted |= alone;
        // All of them, so that failed attempts at records in front of the one that kills count.
        if (!committed()) {
            // Tried again in the next round; nothing may be handed out whose death nobody could count.
            return;
        }
        noted = alone;
        // Behind the others, so that each has its turn.
        backlogs.remove(partition);
        backlogs.put(partition, backlog);
        backlog.window = Math.min(2 * backlog.window, LARGEST_WINDOW);
        partition.watch(true);
        inHand.add(partition);
        waits = true;
        handOut(partition, backlog, count);
    }

    private int failedBefore(OwnedPartition partition, ConsumerRecord<byte[], byte[]> record) {
        int failed = partition.attempts().failed(record.offset());
        return plan.retries(partition.topicPartition())
                ? Math.max(
                        failed,
                        RecordCopy.of(record.headers())
                                .map(RecordCopy::attempts)
                                .orElse(0))
                : failed;
    }

    /** Takes back that a record is alone in hand; false if that has to be tried again. */
    private boolean withdrawn() {
        if (noted) {
            owned.get().forEach(OwnedPartition::notAlone);
            noted = !committed();
        }
        return !noted;
    }

    private boolean committed() {
        refused = !commits.commitNow(owned.get(), plan.callTimeout());
        return !refused;
    }

    private void end() {
        Map<OwnedPartition, Backlog> left = new LinkedHashMap<>(backlogs);
        stop();
        left.forEach((partition, backlog) -> {
            if (!backlog.records.isEmpty()) {
                handOut(partition, backlog, backlog.records.size());
            }
        });
    }

    private void handOut(OwnedPartition partition, Backlog backlog, int count) {
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
    }
}
