package io.settlestream.testing.internal.sim;

import java.util.Comparator;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/** What is due when. Of two that are due together, the one that was set first comes first. Guarded by the simulation's lock. */
final class Timers {

    /** Something to do at a time. */
    record Due(long at, long number, @Nullable SimulatedProcess process, Runnable task) {}

    private final PriorityQueue<Due> queue =
            new PriorityQueue<>(Comparator.comparingLong(Due::at).thenComparingLong(Due::number));
    private long numbers;

    Due add(long at, @Nullable SimulatedProcess process, Runnable task) {
        Due due = new Due(at, numbers++, process, task);
        queue.add(due);
        return due;
    }

    void remove(Due due) {
        boolean unused = queue.remove(due);
    }

    /** Forgets what a process has set. */
    void forget(SimulatedProcess process) {
        queue.removeIf(due -> due.process() == process);
    }

    /** When the next one is due; {@link Long#MAX_VALUE} if there is none. */
    long next() {
        Due due = queue.peek();
        return due == null ? Long.MAX_VALUE : due.at();
    }

    /** Takes the next one if it is due at {@code now}. */
    @Nullable
    Due take(long now) {
        Due due = queue.peek();
        return due != null && due.at() <= now ? queue.poll() : null;
    }
}
