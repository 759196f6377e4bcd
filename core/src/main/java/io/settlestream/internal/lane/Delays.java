package io.settlestream.internal.lane;

import io.settlestream.internal.settle.Delivery;
import io.settlestream.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Deliveries that wait for the end of a delay, each for its own, while their lanes go on. One timer runs, for the earliest of
 * them. Guarded by the lanes' lock.
 */
final class Delays {

    private record Waiting(Delivery delivery, long due, long arrival) {}

    private final PriorityQueue<Waiting> waiting = new PriorityQueue<>((a, b) -> {
        int byDue = Long.signum(a.due - b.due);
        return byDue != 0 ? byDue : Long.compare(a.arrival, b.arrival);
    });
    private final TimeSource time;
    private final Runnable whenDue;
    private long arrivals;
    private TimeSource.@Nullable Timer timer;
    /** When the timer fires, if there is one. */
    private long timerAt;

    /**
     * @param whenDue called when a delivery has become due; takes the lanes' lock itself
     */
    Delays(TimeSource time, Runnable whenDue) {
        this.time = time;
        this.whenDue = whenDue;
    }

    /** Adds a delivery that is due at a moment of the time source's clock. */
    void add(Delivery delivery, long due) {
        waiting.add(new Waiting(delivery, due, arrivals++));
        delivery.owner().delayed(1);
        setTimer();
    }

    /** Takes out those that are due. Drops those that nobody waits for on the way. */
    List<Delivery> takeDue() {
        // It has fired, and may have fired a little early: whatever is next needs one of its own.
        cancelTimer();
        List<Delivery> due = new ArrayList<>();
        long now = time.nanoTime();
        Waiting next = waiting.peek();
        while (next != null && (next.due - now <= 0 || next.delivery.cancelled())) {
            waiting.remove();
            next.delivery.owner().delayed(-1);
            if (!next.delivery.cancelled()) {
                due.add(next.delivery);
            }
            next = waiting.peek();
        }
        setTimer();
        return due;
    }

    /** Forgets those that nobody waits for. */
    void purge() {
        boolean forgotten = waiting.removeIf(next -> {
            boolean cancelled = next.delivery.cancelled();
            if (cancelled) {
                next.delivery.owner().delayed(-1);
            }
            return cancelled;
        });
        if (forgotten) {
            setTimer();
        }
    }

    void forEach(Consumer<Delivery> action) {
        waiting.forEach(next -> action.accept(next.delivery));
    }

    void clear() {
        waiting.forEach(next -> next.delivery.owner().delayed(-1));
        waiting.clear();
        setTimer();
    }

    private void setTimer() {
        Waiting next = waiting.peek();
        if (next == null || next.due != timerAt) {
            cancelTimer();
        }
        if (timer == null && next != null) {
            timerAt = next.due;
            timer = time.schedule(Duration.ofNanos(Math.max(0, next.due - time.nanoTime())), whenDue);
        }
    }

    private void cancelTimer() {
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
    }
}
