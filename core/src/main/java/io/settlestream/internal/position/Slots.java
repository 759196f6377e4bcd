package io.settlestream.internal.position;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * The slots of the records that one poll returned for one partition: what they are and how far each has come.
 *
 * <p>A slot goes QUEUED, TAKEN, HANDED, SETTLED, and never back but for {@link #takeBack}. One thread at a time holds a slot
 * that is not settled: the poll thread until the slots are offered to the lanes, then the lane's worker, then whoever
 * settles it. Each passes the slot on through a lock or a volatile write, so the record itself needs no ordering of its
 * own; only the state byte is read by the poll thread at any moment, to find the position.
 *
 * <p>Settling forgets the record, so that what stays in memory behind one slow record is a byte and an offset each.
 */
public final class Slots {

    /** How far a slot has come. The order matters: a position lies at the lowest slot below some state. */
    public enum State {
        QUEUED(Slots.QUEUED),
        HANDED(Slots.HANDED),
        SETTLED(Slots.SETTLED);

        private final byte code;

        State(byte code) {
            this.code = code;
        }
    }

    private static final VarHandle STATE = MethodHandles.arrayElementVarHandle(byte[].class);
    private static final byte QUEUED = 0;
    private static final byte TAKEN = 1;
    private static final byte HANDED = 2;
    private static final byte SETTLED = 3;
    private static final int NO_EPOCH = -1;

    private final OwnedPartition partition;
    private final @Nullable ConsumerRecord<byte[], byte[]>[] records;
    private final byte[] states;
    private final long[] offsets;
    private final int @Nullable [] epochs;
    private final int uniformEpoch;
    private final long nextOffset;
    private final @Nullable Integer nextEpoch;
    private final long fetchedAt;

    /** The highest offset of the blocks that this one stands for, or -1. */
    private final long highestMerged;

    Slots(
            OwnedPartition partition,
            List<ConsumerRecord<byte[], byte[]>> fetched,
            long nextOffset,
            @Nullable Integer nextEpoch,
            long fetchedAt) {
        int size = fetched.size();
        @SuppressWarnings({"unchecked", "rawtypes"})
        @Nullable
        ConsumerRecord<byte[], byte[]>[] array = fetched.toArray(new ConsumerRecord[0]);
        this.partition = partition;
        this.records = array;
        this.states = new byte[size];
        this.offsets = new long[size];
        this.nextOffset = nextOffset;
        this.nextEpoch = nextEpoch;
        this.fetchedAt = fetchedAt;
        this.highestMerged = -1;
        int first = size == 0 ? NO_EPOCH : epoch(fetched.get(0));
        boolean uniform = true;
        for (int i = 0; i < size; i++) {
            ConsumerRecord<byte[], byte[]> record = fetched.get(i);
            offsets[i] = record.offset();
            uniform &= epoch(record) == first;
        }
        this.uniformEpoch = first;
        this.epochs = uniform ? null : fetched.stream().mapToInt(Slots::epoch).toArray();
    }

    /** What is left of a block whose slots are all settled, and of a block like this in front of it. */
    private Slots(Slots settled, long highestInFront) {
        this.partition = settled.partition;
        this.records = Arrays.copyOf(settled.records, 0);
        this.states = new byte[0];
        this.offsets = new long[0];
        this.epochs = null;
        this.uniformEpoch = NO_EPOCH;
        this.nextOffset = settled.nextOffset;
        this.nextEpoch = settled.nextEpoch;
        this.fetchedAt = settled.fetchedAt;
        this.highestMerged = Math.max(highestInFront, settled.highestHanded());
    }

    /** One block without slots in place of this one, whose slots are all settled, and one without slots in front of it. */
    Slots mergedWith(@Nullable Slots inFront) {
        return new Slots(this, inFront == null ? -1 : inFront.highestMerged);
    }

    private static int epoch(ConsumerRecord<?, ?> record) {
        return record.leaderEpoch().orElse(NO_EPOCH);
    }

    /** The partition, in the assignment that fetched the records. */
    public OwnedPartition partition() {
        return partition;
    }

    public int size() {
        return states.length;
    }

    public long offset(int slot) {
        return offsets[slot];
    }

    /** The record of a slot that is not settled. Only for the thread that holds the slot. */
    public ConsumerRecord<byte[], byte[]> record(int slot) {
        ConsumerRecord<byte[], byte[]> record = records[slot];
        if (record == null) {
            throw new IllegalStateException(partition + "@" + offsets[slot] + " is settled already");
        }
        return record;
    }

    /**
     * Notes that a worker takes a slot, before it asks whether it may go on: no position passes the slot for that. A full
     * fence: whoever asks afterwards whether the worker may go on, and whoever forbade it before looking at the slots,
     * cannot both miss each other.
     */
    public void take(int slot) {
        STATE.setVolatile(states, slot, TAKEN);
    }

    /** Notes that the record of a slot that was taken goes to its handler. */
    public void handOver(int slot) {
        STATE.setVolatile(states, slot, HANDED);
    }

    /** Undoes {@link #take} for a slot whose record its worker must not handle. */
    public void takeBack(int slot) {
        STATE.setVolatile(states, slot, QUEUED);
    }

    /** Settles a slot; only the first call for a slot returns true. */
    boolean settle(int slot) {
        if (!STATE.compareAndSet(states, slot, HANDED, SETTLED)) {
            return false;
        }
        records[slot] = null;
        return true;
    }

    /** The lowest slot at or after {@code from} that has not reached {@code reached}, or {@link #size()}. */
    int firstBelow(State reached, int from) {
        byte wanted = reached.code;
        int slot = from;
        while (slot < states.length && (byte) STATE.getAcquire(states, slot) >= wanted) {
            slot++;
        }
        return slot;
    }

    /** The highest offset that was handed over, or -1. */
    long highestHanded() {
        for (int slot = states.length - 1; slot >= 0; slot--) {
            if ((byte) STATE.getVolatile(states, slot) != QUEUED) {
                return offsets[slot];
            }
        }
        return highestMerged;
    }

    /** The leader epoch of the record in front of {@code slot}, given the one in front of the first slot. */
    @Nullable
    Integer epochBefore(int slot, @Nullable Integer inFront) {
        if (slot == 0) {
            return inFront;
        }
        int epoch = epochs == null ? uniformEpoch : epochs[slot - 1];
        return epoch == NO_EPOCH ? null : Integer.valueOf(epoch);
    }

    long nextOffset() {
        return nextOffset;
    }

    @Nullable
    Integer nextEpoch() {
        return nextEpoch;
    }

    /** When the records were fetched, on the time source's clock. */
    public long fetchedAt() {
        return fetchedAt;
    }
}
