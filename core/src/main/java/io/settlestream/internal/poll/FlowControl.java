package io.settlestream.internal.poll;

import io.settlestream.internal.lane.Lanes;
import io.settlestream.internal.position.OwnedPartition;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.TopicPartition;

/**
 * Back-pressure: pauses a partition when as much of it is open as its share of the in-flight limit, and lets it go on
 * when there is room again. The poll thread goes on polling meanwhile, so the member stays in its group however slow its
 * handlers are, and a partition that is stuck takes no room from the others.
 *
 * <p>A partition goes on at half its share, so that pausing and resuming (a round trip to the consumer's network thread
 * under the {@code consumer} group protocol) is not done per record; or with any room at all as soon as a worker has
 * nothing to do, so that room is never left unused. What the user pauses stays paused however much room there is.
 */
final class FlowControl {

    private final Consumer<byte[], byte[]> consumer;
    private final Lanes lanes;
    private final SlowStart slowStart;
    private final long limitRecords;
    private final long limitBytes;

    private volatile long shareRecords = Long.MAX_VALUE;
    private volatile long shareBytes = Long.MAX_VALUE;
    private volatile boolean anyPaused;
    private boolean stopped;

    FlowControl(
            Consumer<byte[], byte[]> consumer, Lanes lanes, SlowStart slowStart, long limitRecords, long limitBytes) {
        this.consumer = consumer;
        this.lanes = lanes;
        this.slowStart = slowStart;
        this.limitRecords = limitRecords;
        this.limitBytes = limitBytes;
    }

    /** From now on nothing is fetched. */
    void stop() {
        stopped = true;
    }

    /** Pauses and resumes what needs it, in one call each. */
    void apply(Collection<OwnedPartition> owned) {
        int partitions = Math.max(1, owned.size());
        shareRecords = Math.max(1, limitRecords / partitions);
        shareBytes = Math.max(1, limitBytes / partitions);
        List<TopicPartition> pause = new ArrayList<>();
        List<TopicPartition> resume = new ArrayList<>();
        boolean hungry = lanes.hungry();
        boolean paused = false;
        for (OwnedPartition partition : owned) {
            if (!partition.paused() && (stopped || partition.pausedByUser() || full(partition))) {
                pause.add(partition.topicPartition());
                // Listened to from now on; a settlement that came before is seen by looking once more.
                partition.paused(true);
            }
            boolean room = relaxed(partition) ? !slowStart.holds(partition) : hungry && !full(partition);
            if (waitsForRoom(partition) && !stopped && room) {
                partition.paused(false);
                if (!pause.remove(partition.topicPartition())) {
                    resume.add(partition.topicPartition());
                }
            }
            paused |= waitsForRoom(partition);
        }
        anyPaused = paused;
        if (!pause.isEmpty()) {
            consumer.pause(pause);
        }
        if (!resume.isEmpty()) {
            consumer.resume(resume);
        }
        if (paused && !stopped && !hungry && lanes.hungry()) {
            // A worker ran out of work after we looked and before it could know that somebody wants to hear of it.
            apply(owned);
        }
    }

    /** Whether a partition that just settled a record may go on. Any thread. */
    boolean mayGoOn(OwnedPartition partition) {
        return waitsForRoom(partition) && relaxed(partition);
    }

    /** Whether it is paused, and room is what it waits for. */
    private static boolean waitsForRoom(OwnedPartition partition) {
        return partition.paused() && !partition.pausedByUser();
    }

    /** Whether an idle worker is a reason to look again. Any thread. */
    boolean anyPaused() {
        return anyPaused;
    }

    private boolean full(OwnedPartition partition) {
        return partition.openRecords() >= shareRecords
                || partition.openBytes() >= shareBytes
                || slowStart.holds(partition);
    }

    private boolean relaxed(OwnedPartition partition) {
        return partition.openRecords() <= shareRecords / 2 && partition.openBytes() <= shareBytes / 2;
    }
}
