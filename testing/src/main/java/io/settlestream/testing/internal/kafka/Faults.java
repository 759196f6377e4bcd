package io.settlestream.testing.internal.kafka;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Faults that wait for their request. Which request meets which fault depends only on the order of requests, so a run
 * that repeats its requests repeats its faults.
 */
public final class Faults {

    /** Kinds of requests that can go wrong, each with what its name is. */
    public enum Request {
        /** Records for one partition; by topic. */
        PRODUCE,
        /** Offsets of a consumer; by group. */
        OFFSET_COMMIT,
        /** Offsets that a producer adds to its transaction; by transactional id. */
        TRANSACTION_OFFSETS,
        /** The commit or abort of a transaction; by transactional id. */
        END_TRANSACTION,
        /** A producer that begins to use its transactional id; by that. */
        INIT_TRANSACTIONS,
        /** Records for a consumer; by topic. */
        FETCH
    }

    /** A fault and how many requests it lets pass before it happens, and how often it then happens. */
    private static final class Waiting {
        private final Request request;
        private final @Nullable String name;
        private final Fault fault;
        private int skip;
        private int times;

        Waiting(Request request, @Nullable String name, int skip, int times, Fault fault) {
            this.request = request;
            this.name = name;
            this.skip = skip;
            this.times = times;
            this.fault = fault;
        }

        boolean concerns(Request asked, String of) {
            return request == asked && (name == null || name.equals(of));
        }
    }

    private final ReentrantLock lock;
    private final List<Waiting> waiting = new ArrayList<>();

    Faults(ReentrantLock lock) {
        this.lock = lock;
    }

    /**
     * Lets the {@code nth} next request of a kind go wrong, and those that follow it.
     *
     * @param name of which topic, group or transactional id, or null for any
     * @param nth 1 for the very next
     * @param times how many requests in a row; {@link Integer#MAX_VALUE} for all until {@link #clear()}
     */
    public void on(Request request, @Nullable String name, int nth, int times, Fault fault) {
        Objects.requireNonNull(fault, "fault");
        if (fault instanceof Fault.Delay delay && delay.by().isNegative()) {
            throw new IllegalArgumentException(
                    "An answer comes later, not earlier: it cannot be delayed by " + delay.by());
        }
        if (nth < 1 || times < 1) {
            throw new IllegalArgumentException(
                    "A fault needs nth and times of at least 1, not " + nth + " and " + times);
        }
        lock.lock();
        try {
            waiting.add(new Waiting(request, name, nth - 1, times, fault));
        } finally {
            lock.unlock();
        }
    }

    /** Lets the next request of a kind go wrong; with {@code name} null whatever it is of. */
    public void next(Request request, @Nullable String name, Fault fault) {
        on(request, name, 1, 1, fault);
    }

    /** Forgets all faults that have not happened. */
    public void clear() {
        lock.lock();
        try {
            waiting.clear();
        } finally {
            lock.unlock();
        }
    }

    /** How many faults have not happened yet. */
    public int left() {
        lock.lock();
        try {
            return waiting.size();
        } finally {
            lock.unlock();
        }
    }

    /**
     * With the lock, once for each request: what goes wrong with it, or null. Where several faults are due, the one that
     * was asked for first happens, and the others wait for the request after it.
     */
    @Nullable
    Fault take(Request request, String name) {
        Fault due = null;
        for (Iterator<Waiting> all = waiting.iterator(); all.hasNext(); ) {
            Waiting next = all.next();
            if (!next.concerns(request, name)) {
                continue;
            }
            if (next.skip > 0) {
                next.skip--;
            } else if (due == null) {
                due = next.fault;
                if (next.times != Integer.MAX_VALUE) {
                    next.times--;
                }
                if (next.times == 0) {
                    all.remove();
                }
            }
        }
        return due;
    }
}
