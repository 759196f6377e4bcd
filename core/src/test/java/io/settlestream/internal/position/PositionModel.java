package io.settlestream.internal.position;

import io.settlestream.internal.position.Slots.State;
import java.util.HashSet;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;

/** What a partition's bookkeeping should know, found the slow way: in a sorted map of every record ever fetched. */
final class PositionModel {

    private static final class Entry {
        final Integer epochInFront;
        final int bytes;
        final int poll;
        State state = State.QUEUED;

        Entry(Integer epochInFront, int bytes, int poll) {
            this.epochInFront = epochInFront;
            this.bytes = bytes;
            this.poll = poll;
        }
    }

    private final State passedWhen;
    private final NavigableMap<Long, Entry> all = new TreeMap<>();
    private final NavigableMap<Long, Entry> notPassed = new TreeMap<>();
    private final NavigableMap<Long, Entry> open = new TreeMap<>();
    private Position reported;
    private long ceiling = Long.MAX_VALUE;
    private long highestHanded = -1;
    private long openBytes;
    private int polls;

    PositionModel(State passedWhen) {
        this.passedWhen = passedWhen;
    }

    /** The next record of a poll; {@code epochInFront} is that of the record before it. */
    void fetched(long offset, Integer epochInFront, int bytes) {
        Entry entry = new Entry(epochInFront, bytes, polls);
        all.put(offset, entry);
        notPassed.put(offset, entry);
        open.put(offset, entry);
        openBytes += bytes;
    }

    /** The end of a poll. */
    void reported(long nextOffset, Integer nextEpoch) {
        if (reported == null || nextOffset > reported.offset()) {
            reported = new Position(nextOffset, nextEpoch);
        }
        polls++;
    }

    void handedOver(long offset) {
        come(offset, State.HANDED);
        highestHanded = Math.max(highestHanded, offset);
    }

    void settled(long offset) {
        come(offset, State.SETTLED);
        openBytes -= open.remove(offset).bytes;
    }

    private void come(long offset, State state) {
        all.get(offset).state = state;
        if (state.compareTo(passedWhen) >= 0) {
            notPassed.remove(offset);
        }
    }

    void failAt(long offset) {
        ceiling = Math.min(ceiling, offset);
    }

    long ceiling() {
        return ceiling;
    }

    Position position() {
        Position found = notPassed.isEmpty()
                ? reported
                : new Position(notPassed.firstKey(), notPassed.firstEntry().getValue().epochInFront);
        return found == null || found.offset() <= ceiling ? found : new Position(ceiling, null);
    }

    long lowestNotPassed() {
        return notPassed.isEmpty() ? Long.MAX_VALUE : notPassed.firstKey();
    }

    State state(long offset) {
        return all.get(offset).state;
    }

    long highestHanded() {
        return highestHanded;
    }

    long openRecords() {
        return open.size();
    }

    long openBytes() {
        return openBytes;
    }

    /** How many polls have left something open. */
    int openPolls() {
        Set<Integer> found = new HashSet<>();
        open.values().forEach(entry -> found.add(entry.poll));
        return found.size();
    }

    Iterable<Long> offsets() {
        return all.keySet();
    }
}
