package io.settlestream.internal.position;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * One partition in one assignment to this member: its bookkeeping from the moment it is assigned until it is revoked,
 * lost or sought away. A partition that comes back is a new object, so whatever still holds the old one holds
 * something that is over.
 *
 * <p>Three parties use it. The poll thread registers records, reads the position and decides what is admitted. Workers
 * ask whether a record is admitted and settle slots. Reports of replies settle slots from the producer's thread. What
 * more than one of them touches is atomic or volatile; the rest belongs to the poll thread.
 */
public final class OwnedPartition {

    /** Told by the thread that settled something when somebody waits for it; must not block. */
    @FunctionalInterface
    public interface Listener {
        void settled(OwnedPartition partition);
    }

    private static final long ALL = Long.MAX_VALUE;
    private static final long NONE = Long.MIN_VALUE;

    private final TopicPartition topicPartition;
    private final PositionTracker tracker;
    private final Listener listener;
    private final AtomicLong openRecords = new AtomicLong();
    private final AtomicLong openBytes = new AtomicLong();
    private final AtomicInteger reportsAwaited = new AtomicInteger();

    /** Records below this offset may still be handed to handlers; none while they are held back. */
    private volatile long admittedBelow = ALL;

    /** What {@link #admittedBelow} is when nothing is held back. Guarded by this, as what follows: see {@link #letGo}. */
    private long admittedOtherwise = ALL;

    private boolean heldBack;

    private volatile boolean pausedByUser;

    private volatile boolean voided;

    /** Whether someone wants to hear of the next settlement. */
    private volatile boolean watched;

    /** The lowest offset that stays open for good: the position never passes it. */
    private final AtomicLong heldAt = new AtomicLong(ALL);

    /**
     * Records that are copied elsewhere before they are settled: the position passes none of them, even in a mode in which
     * it passes what was handed over.
     */
    private final ConcurrentSkipListSet<Long> copying = new ConcurrentSkipListSet<>();

    private final Attempts attempts = new Attempts();

    /** How many open records wait for the end of a delay. */
    private final AtomicLong delayed = new AtomicLong();

    /** What health shows: written by the poll thread. */
    private volatile @Nullable Oldest oldest;

    /** What has been fetched ends here, or reading starts here; -1 as long as neither is known. */
    private volatile long fetchedTo = -1;

    private volatile boolean paused;

    /** The group's committed offset as far as this member knows: the poll thread's. */
    private @Nullable Checkpoint committed;

    /** What is noted next to what is committed, besides attempts, and how often that has changed: the poll thread's. */
    private boolean running;

    private Note.@Nullable Alone alone;

    /** Where the owner before has begun, too, and how many there were in a row that did not come to a proper end. */
    private long beganAt = -1;

    private int unended;
    private long noteChanges;

    /** The lowest open record. */
    public record Oldest(long offset, long fetchedAt) {}

    public OwnedPartition(TopicPartition topicPartition, Slots.State reached, Listener listener) {
        this.topicPartition = topicPartition;
        this.tracker = new PositionTracker(this, reached);
        this.listener = listener;
    }

    /** For tests of this package. */
    PositionTracker tracker() {
        return tracker;
    }

    public TopicPartition topicPartition() {
        return topicPartition;
    }

    // --- the poll thread's side

    /** Enters records that a poll returned, and counts them as open. */
    public Slots register(
            List<ConsumerRecord<byte[], byte[]>> records, long nextOffset, @Nullable Integer nextEpoch, long now) {
        long bytes = 0;
        for (ConsumerRecord<byte[], byte[]> record : records) {
            bytes += bytes(record);
        }
        openRecords.addAndGet(records.size());
        openBytes.addAndGet(bytes);
        fetchedTo = nextOffset;
        return tracker.register(records, nextOffset, nextEpoch, now);
    }

    /** Enters where reading starts, so that it can be committed before anything is read. */
    public void startAt(Position position) {
        fetchedTo = position.offset();
        tracker.startAt(position);
    }

    /** Enters an advance past offsets without records. */
    public void registerAdvance(long nextOffset, @Nullable Integer nextEpoch, long now) {
        if (nextOffset > fetchedTo) {
            fetchedTo = nextOffset;
        }
        tracker.registerAdvance(nextOffset, nextEpoch, now);
    }

    /** The offset behind everything entered so far, or -1. */
    public long fetchedUpTo() {
        return tracker.tailOffset();
    }

    /** The position, or null while nothing has been read in this assignment. */
    public @Nullable Position position() {
        Position position = tracker.position();
        Long fetchedAt = tracker.oldestFetchedAt();
        oldest = position == null || fetchedAt == null ? null : new Oldest(position.offset(), fetchedAt);
        long ceiling = ceiling();
        return position == null || position.offset() <= ceiling ? position : new Position(ceiling, null);
    }

    private long ceiling() {
        long held = heldAt.get();
        Long copied = copying.isEmpty() ? null : copying.ceiling(Long.MIN_VALUE);
        return copied == null ? held : Math.min(held, copied);
    }

    /** What is to be committed: the position with its note, if it is not what was committed last; else null. */
    public @Nullable Checkpoint uncommitted() {
        Position position = position();
        Checkpoint last = committed;
        if (position == null && last != null && last.version() != noteVersion()) {
            // Nothing was read, but what is noted about the partition has changed.
            position = last.position();
        }
        return position == null || isCommitted(position) ? null : checkpoint(position);
    }

    /** Whether there is something to commit. */
    public boolean isAhead() {
        Position position = position();
        Checkpoint last = committed;
        return position == null ? last != null && last.version() != noteVersion() : !isCommitted(position);
    }

    /** A place in this partition with what is to be noted next to it now. */
    public Checkpoint checkpoint(Position position) {
        long version = noteVersion();
        attempts.forgetBelow(position.offset());
        int lives = position.offset() == beganAt ? unended + 1 : 1;
        Note note = new Note(running ? lives : 0, alone, attempts.counts());
        return new Checkpoint(position, version, note.text(position.offset()));
    }

    private boolean isCommitted(Position position) {
        Checkpoint last = committed;
        return last != null && last.position().offset() == position.offset() && last.version() == noteVersion();
    }

    private long noteVersion() {
        return noteChanges + attempts.version();
    }

    /** What the group has committed, as far as this member knows; null if nothing or unknown. */
    public @Nullable Checkpoint committed() {
        return committed;
    }

    public void committed(Checkpoint checkpoint) {
        committed = checkpoint;
    }

    /**
     * Takes over what the group has committed before this assignment, with the attempts that are noted there.
     *
     * @return how many owners in a row have begun there and not come to a proper end; 0 if the last one has
     */
    public int takeOver(OffsetAndMetadata before) {
        Note note = Note.read(before.metadata(), before.offset());
        attempts.restore(note.failedWithTheLast());
        committed = new Checkpoint(Position.of(before), noteVersion(), before.metadata());
        beganAt = before.offset();
        unended = note.lives();
        return unended;
    }

    /** From now on it is noted, or no more, that this owner has not come to its end. */
    public void running(boolean goesOn) {
        if (running != goesOn || alone != null) {
            running = goesOn;
            alone = null;
            noteChanges++;
        }
    }

    /** Whether it is noted that this owner has not come to its end. */
    public boolean isRunning() {
        return running;
    }

    /** Notes which attempt at which record alone is in hand. */
    public void alone(long offset, int attempt) {
        alone(new Note.Alone(offset, attempt));
    }

    /** Nothing is alone in hand any more. */
    public void notAlone() {
        alone(null);
    }

    private void alone(Note.@Nullable Alone inHand) {
        if (!Objects.equals(alone, inHand)) {
            alone = inHand;
            noteChanges++;
        }
    }

    /** Gives up what is no longer needed to find the position. */
    public void compact() {
        tracker.compact();
    }

    /** From now on nothing is handed over but what already was. */
    public void admitNothing() {
        admitBelow(NONE);
    }

    /** From now on only records below the highest one already handed over are handed over. */
    public void admitUpToHighestHanded() {
        admitBelow(tracker.highestHanded() + 1);
    }

    private synchronized void admitBelow(long offset) {
        admittedOtherwise = offset;
        admittedBelow = heldBack ? NONE : offset;
    }

    /** The user pauses this partition: nothing is handed over until it is resumed and {@linkplain #letGo let go}. */
    public synchronized void holdBack() {
        pausedByUser = true;
        heldBack = true;
        admittedBelow = NONE;
    }

    /** The user's pause is over; what was held back meanwhile goes first, so nothing is handed over before that is. */
    public void resumed() {
        pausedByUser = false;
    }

    /** Ends this assignment's bookkeeping: whatever settles later is stale. */
    public void discard() {
        admitBelow(NONE);
        voided = true;
    }

    /** Asks for {@link Listener#settled} on every settlement from now on, or no longer. */
    public void watch(boolean wanted) {
        watched = wanted;
    }

    /** Notes whether fetching is paused; settlements are then listened to, so that it can go on. */
    public void paused(boolean paused) {
        this.paused = paused;
        this.watched = paused;
    }

    // --- everybody's side

    /** Whether a record that was just marked as handed over may be given to its handler. */
    public boolean admits(long offset) {
        return offset < admittedBelow && offset < heldAt.get();
    }

    /** Whether this assignment is over. */
    public boolean discarded() {
        return voided;
    }

    /** Whether fetching is paused, for whatever reason. */
    public boolean paused() {
        return paused;
    }

    /**
     * Records may be handed over again, unless the user pauses the partition anew. Called by a worker, too, which is why
     * this and what else decides about admission takes turns.
     */
    public synchronized void letGo() {
        if (!pausedByUser) {
            heldBack = false;
            admittedBelow = admittedOtherwise;
        }
    }

    /** Whether nothing is handed over because of the user's pause, or because what it kept back goes first. */
    public synchronized boolean heldBack() {
        return heldBack;
    }

    /** Whether the user pauses this partition. */
    public boolean pausedByUser() {
        return pausedByUser;
    }

    /** Settles a slot. False if it was settled before or the assignment is over: then nothing has changed. */
    public boolean settle(Slots slots, int slot, ConsumerRecord<byte[], byte[]> record) {
        if (voided || !slots.settle(slot)) {
            return false;
        }
        openRecords.decrementAndGet();
        openBytes.addAndGet(-bytes(record));
        attempts.settled(record.offset());
        if (watched) {
            listener.settled(this);
        }
        return true;
    }

    /**
     * The record at {@code offset} stays open for good, because it failed or the service stops before it can run again.
     * The position never passes it, whatever the mode, and what is behind it, which is read again with it, is not handed
     * over any more.
     */
    public void holdAt(long offset) {
        heldAt.accumulateAndGet(offset, Math::min);
    }

    /** A copy of the record at {@code offset} is on its way to another topic. */
    public void copyBegun(long offset) {
        copying.add(offset);
    }

    /** That copy was accepted, so the record is settled next. */
    public void copyEnded(long offset) {
        copying.remove(offset);
    }

    /** How many attempts at records have failed. */
    public Attempts attempts() {
        return attempts;
    }

    /** How many records are being copied elsewhere before they are settled. */
    public int copying() {
        return copying.size();
    }

    /** Counts a record, or with -1 uncounts one, that waits for the end of a delay. */
    public void delayed(int records) {
        delayed.addAndGet(records);
    }

    /** How many open records wait for the end of a delay. */
    public long delayedRecords() {
        return delayed.get();
    }

    /** Counts a reply or a copy that was handed to the producer and whose report has not come. */
    public void reportAwaited() {
        reportsAwaited.incrementAndGet();
    }

    /** Uncounts a reply or a copy whose report has come and has been acted on. */
    public void reportArrived() {
        if (reportsAwaited.decrementAndGet() == 0 && watched) {
            listener.settled(this);
        }
    }

    public int reportsAwaited() {
        return reportsAwaited.get();
    }

    /**
     * Where what has been fetched ends, or reading starts; -1 as long as neither is known. Whoever reads it before
     * {@link #openRecords} sees all records in front of it as open or settled.
     */
    public long fetchedTo() {
        return fetchedTo;
    }

    public long openRecords() {
        return openRecords.get();
    }

    public long openBytes() {
        return openBytes.get();
    }

    /** The lowest open record when the poll thread last looked, or null. */
    public @Nullable Oldest oldest() {
        return oldest;
    }

    private static long bytes(ConsumerRecord<byte[], byte[]> record) {
        return Math.max(record.serializedKeySize(), 0) + (long) Math.max(record.serializedValueSize(), 0);
    }

    @Override
    public String toString() {
        return topicPartition.toString();
    }
}
