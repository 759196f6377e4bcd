package io.settlestream.internal.publish;

import io.settlestream.spi.Scheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Time that stands still until a test moves it; what is due then runs on the test's thread. */
final class ManualTime implements Scheduler {

    /** Not a record: two with one task and time are still two. */
    private static final class Due {
        final long at;
        final Runnable task;

        Due(long at, Runnable task) {
            this.at = at;
            this.task = task;
        }
    }

    private final List<Due> scheduled = new ArrayList<>();
    private long now;

    @Override
    public synchronized long nanoTime() {
        return now;
    }

    @Override
    public Instant now() {
        return Instant.EPOCH.plusNanos(nanoTime());
    }

    @Override
    public synchronized Timer schedule(Duration delay, Runnable task) {
        Due due = new Due(now + delay.toNanos(), task);
        scheduled.add(due);
        return () -> cancel(due);
    }

    synchronized int timers() {
        return scheduled.size();
    }

    void advance(Duration step) {
        List<Due> due;
        synchronized (this) {
            now += step.toNanos();
            due = scheduled.stream()
                    .filter(each -> each.at <= now)
                    .sorted(Comparator.comparingLong(each -> each.at))
                    .toList();
            scheduled.removeAll(due);
        }
        due.forEach(each -> each.task.run());
    }

    private synchronized void cancel(Due due) {
        scheduled.remove(due);
    }
}
