package io.settlestream.internal.testing;

import io.settlestream.spi.Scheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.PriorityQueue;

/** Time that stands still until a test moves it. What becomes due runs on the test's thread, in the order of time. */
public final class ManualTime implements Scheduler {

    private record Due(long at, long number, Runnable task) {}

    private final PriorityQueue<Due> timers =
            new PriorityQueue<>(Comparator.comparingLong(Due::at).thenComparingLong(Due::number));
    private final Runnable onTimer;
    private long now;
    private long scheduled;

    public ManualTime() {
        this(() -> {});
    }

    /** One that tells when a task was scheduled or cancelled. */
    public ManualTime(Runnable onTimer) {
        this.onTimer = onTimer;
    }

    @Override
    public synchronized long nanoTime() {
        return now;
    }

    @Override
    public Instant now() {
        return Instant.EPOCH.plusNanos(nanoTime());
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
        Due due = add(delay, task);
        onTimer.run();
        return () -> cancel(due);
    }

    /** How many tasks wait. */
    public synchronized int timers() {
        return timers.size();
    }

    /** Goes on by {@code step}; tasks see the time for which they were scheduled. */
    public void advance(Duration step) {
        long end = nanoTime() + step.toNanos();
        for (Due due = next(end); due != null; due = next(end)) {
            due.task.run();
        }
    }

    /** Goes on to the next task, if there is one, and runs it. */
    public void advanceToNext() {
        Due due = next(Long.MAX_VALUE);
        if (due != null) {
            due.task.run();
        }
    }

    private synchronized Due next(long end) {
        Due due = timers.peek();
        if (due == null || due.at > end) {
            now = end == Long.MAX_VALUE ? now : end;
            return null;
        }
        now = Math.max(now, due.at);
        return timers.remove();
    }

    private synchronized Due add(Duration delay, Runnable task) {
        Due due = new Due(now + delay.toNanos(), scheduled++, task);
        timers.add(due);
        return due;
    }

    private void cancel(Due due) {
        synchronized (this) {
            timers.remove(due);
        }
        onTimer.run();
    }
}
