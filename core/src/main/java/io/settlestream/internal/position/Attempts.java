package io.settlestream.internal.position;

import java.util.concurrent.ConcurrentSkipListMap;

/**
 * How many attempts at the open records of a partition have failed, for those where some have. Thread-safe; what did not
 * fail costs one look at an empty map.
 */
public final class Attempts {

    private final ConcurrentSkipListMap<Long, Integer> failed = new ConcurrentSkipListMap<>();

    /** How many attempts at a record have failed, as far as is known. */
    public int failed(long offset) {
        return failed.isEmpty() ? 0 : failed.getOrDefault(offset, 0);
    }

    /** Notes how many attempts at a record have failed. */
    public void failed(long offset, int attempts) {
        failed.put(offset, attempts);
    }

    /** Forgets a record that is settled. */
    public void settled(long offset) {
        if (!failed.isEmpty()) {
            failed.remove(offset);
        }
    }
}
