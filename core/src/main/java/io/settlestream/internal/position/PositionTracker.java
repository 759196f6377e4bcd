package io.settlestream.internal.position;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * Finds a partition's position: its lowest slot that has not come far enough, or with none, the next offset that the
 * client reported with the poll that fetched the last records.
 *
 * <p>Slots stand in a queue in the order they were fetched, one block a poll. A worker marks its slot in the block it
 * holds, in constant time and without a lock; this class, used by the poll thread alone, scans marks from the head and
 * forgets blocks that are through. Offsets that the consumer never receives (transaction markers, aborted and compacted
 * records) have no slots, so they hold nothing back.
 *
 * <p>Behind one slow record there may be any number of finished blocks. {@link #compact()} merges each run of them into
 * one block without slots, so what is kept is bounded by the records that are open, not by the distance between them.
 */
public final class PositionTracker {

    private final OwnedPartition partition;
    private final Slots.State reached;
    private final ArrayDeque<Slots> blocks = new ArrayDeque<>();
    private int headSlot;
    private @Nullable Position start;

    /** The epoch in front of the head block. */
    private @Nullable Integer epochInFront;

    private long tailOffset = -1;

    PositionTracker(OwnedPartition partition, Slots.State reached) {
        this.partition = partition;
        this.reached = reached;
    }

    /** Enters records that a poll returned, in offset order and behind all entered before. */
    Slots register(
            List<ConsumerRecord<byte[], byte[]>> records, long nextOffset, @Nullable Integer nextEpoch, long now) {
        if (!records.isEmpty() && records.get(0).offset() < tailOffset) {
            throw new IllegalStateException(partition + "@" + records.get(0).offset()
                    + " was fetched although the partition had been read up to " + tailOffset);
        }
        Slots slots = new Slots(partition, records, nextOffset, nextEpoch, now);
        blocks.addLast(slots);
        tailOffset = nextOffset;
        return slots;
    }

    /** Enters where reading starts. */
    void startAt(Position position) {
        start = position;
    }

    /** Enters an advance of the consumer past offsets that hold no records. */
    void registerAdvance(long nextOffset, @Nullable Integer nextEpoch, long now) {
        if (nextOffset > tailOffset) {
            register(List.of(), nextOffset, nextEpoch, now);
        }
    }

    /** The position, or null before the partition's first records or advance. */
    @Nullable
    Position position() {
        Slots head = blocks.peekFirst();
        while (head != null) {
            int slot = head.firstBelow(reached, headSlot);
            headSlot = slot;
            if (slot < head.size()) {
                start = new Position(head.offset(slot), head.epochBefore(slot, epochInFront));
                return start;
            }
            start = new Position(head.nextOffset(), head.nextEpoch());
            epochInFront = head.nextEpoch();
            blocks.removeFirst();
            headSlot = 0;
            head = blocks.peekFirst();
        }
        return start;
    }

    /** The offset behind everything entered so far, or -1. */
    long tailOffset() {
        return tailOffset;
    }

    /** When the lowest open record was fetched, or null if none is open. {@link #position()} finds it first. */
    @Nullable
    Long oldestFetchedAt() {
        Slots head = blocks.peekFirst();
        return head == null ? null : Long.valueOf(head.fetchedAt());
    }

    /** The highest offset that was handed to a worker, or -1. */
    long highestHanded() {
        Iterator<Slots> fromTail = blocks.descendingIterator();
        while (fromTail.hasNext()) {
            long highest = fromTail.next().highestHanded();
            if (highest >= 0) {
                return highest;
            }
        }
        return -1;
    }

    /** Merges runs of finished blocks behind the head; see the class comment. */
    void compact() {
        if (blocks.size() < 3) {
            return;
        }
        List<Slots> kept = new ArrayList<>(blocks.size());
        boolean merged = false;
        for (Slots block : blocks) {
            boolean finished = block.firstBelow(Slots.State.SETTLED, 0) == block.size();
            if (!finished || kept.isEmpty()) {
                kept.add(block);
                continue;
            }
            Slots last = kept.get(kept.size() - 1);
            if (last.size() == 0 && kept.size() > 1) {
                kept.set(kept.size() - 1, block.mergedWith(last));
                merged = true;
            } else {
                kept.add(block.mergedWith(null));
                merged |= block.size() > 0;
            }
        }
        if (merged) {
            blocks.clear();
            blocks.addAll(kept);
        }
    }

    int blocks() {
        return blocks.size();
    }
}
