package io.settlestream.internal.position;

import java.util.Collections;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How many attempts at the open records of a partition have failed, for those where some have. They travel with the
 * committed position as a {@link Note}, so that they survive the process. Thread-safe; a record of which none has failed
 * costs one look at an empty map.
 */
public final class Attempts {

    private final ConcurrentSkipListMap<Long, Integer> failed = new ConcurrentSkipListMap<>();

    /** How often something has changed. */
    private final AtomicLong changes = new AtomicLong();

    /** How many attempts at a record have failed, as far as is known. */
    public int failed(long offset) {
        return failed.isEmpty() ? 0 : failed.getOrDefault(offset, 0);
    }

    /** Notes how many attempts at a record have failed. */
    public void failed(long offset, int attempts) {
        failed.put(offset, attempts);
        changes.incrementAndGet();
    }

    /** Forgets a record that is settled. */
    void settled(long offset) {
        if (!failed.isEmpty() && failed.remove(offset) != null) {
            changes.incrementAndGet();
        }
    }

    /** Takes over what an earlier owner of the partition has noted. */
    void restore(Map<Long, Integer> noted) {
        failed.putAll(noted);
    }

    /** Forgets records that are behind the position without having been settled, as they were trimmed. */
    void forgetBelow(long position) {
        failed.headMap(position).clear();
    }

    /** A number that is another one after each change. */
    long version() {
        return changes.get();
    }

    /** The counts as they are, by offset. */
    Map<Long, Integer> counts() {
        return Collections.unmodifiableMap(failed);
    }
}
