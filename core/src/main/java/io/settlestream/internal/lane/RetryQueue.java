package io.settlestream.internal.lane;

import io.settlestream.internal.settle.Backoff;
import io.settlestream.internal.settle.Delivery;
import io.settlestream.spi.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Deliveries that wait to run again. In a lane that keeps order they come out in the order of their records, the first
 * one holding up the others; where no order is promised, in the order in which they are due. Guarded by the lanes' lock.
 */
final class RetryQueue {

    private record Waiting(Delivery delivery, long due) {}

    private final PriorityQueue<Waiting> waiting;
    private final Backoff backoff;
    private final TimeSource time;
    private final Runnable whenDue;

    /**
     * @param ordered whether records keep their order
     * @param whenDue called when a delivery has become due; takes the lanes' lock itself
     */
    RetryQueue(boolean ordered, Backoff backoff, TimeSource time, Runnable whenDue) {
        this.waiting = new PriorityQueue<>(
                4, ordered ? (a, b) -> a.delivery.compareByArrival(b.delivery) : (a, b) -> Long.signum(a.due - b.due));
        this.backoff = backoff;
        this.time = time;
        this.whenDue = whenDue;
    }

    /** Adds a delivery whose attempt has just ended, and counts the next one. */
    void add(Delivery delivery) {
        addAll(List.of(delivery));
    }

    /** Adds deliveries whose attempts have just ended together: those that wait as long become due together. */
    void addAll(List<Delivery> deliveries) {
        long now = time.nanoTime();
        long scheduled = 0;
        for (Delivery delivery : deliveries) {
            long wait = backoff.nanosAfter(delivery.attempt());
            delivery.nextAttempt();
            waiting.add(new Waiting(delivery, now + wait));
            if (wait > 0 && wait != scheduled) {
                time.schedule(Duration.ofNanos(wait), whenDue);
                scheduled = wait;
            }
        }
    }

    /** Adds a delivery that is to run at once, as the attempt that it is. */
    void addDue(Delivery delivery) {
        waiting.add(new Waiting(delivery, time.nanoTime()));
    }

    /** The next delivery if it is due. Drops those that nobody waits for on the way. */
    @Nullable
    Delivery pollDue() {
        return isDue() ? waiting.remove().delivery : null;
    }

    /** The next delivery, due or not. */
    @Nullable
    Delivery peek() {
        dropDiscarded();
        Waiting next = waiting.peek();
        return next == null ? null : next.delivery;
    }

    /** Whether {@link #pollDue} would give a delivery. */
    boolean isDue() {
        dropDiscarded();
        Waiting next = waiting.peek();
        return next != null && next.due - time.nanoTime() <= 0;
    }

    boolean isEmpty() {
        dropDiscarded();
        return waiting.isEmpty();
    }

    /** Forgets those that nobody waits for. */
    void purge() {
        waiting.removeIf(next -> next.delivery.cancelled());
    }

    void forEach(Consumer<Delivery> action) {
        waiting.forEach(next -> action.accept(next.delivery));
    }

    void clear() {
        waiting.clear();
    }

    private void dropDiscarded() {
        Waiting next = waiting.peek();
        while (next != null && next.delivery.cancelled()) {
            waiting.remove();
            next = waiting.peek();
        }
    }
}
