package io.settlestream.conformance.clients;

import io.settlestream.testing.internal.kafka.Host;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/** Real time and real threads: what a broker lives in, so that both Kafkas are under the same conditions. */
final class RealTimeHost implements Host, AutoCloseable {

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final ScheduledExecutorService timers = Executors.newSingleThreadScheduledExecutor(
            task -> Thread.ofPlatform().daemon().name("in-process-timer").unstarted(task));
    private long changes;

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public Instant now() {
        return Instant.now();
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
        ScheduledFuture<?> future = timers.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
        return () -> future.cancel(false);
    }

    @Override
    public Thread start(String name, Runnable body) {
        return Thread.ofPlatform().daemon().name(name).start(body);
    }

    @Override
    public boolean await(BooleanSupplier condition, long deadline) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException("interrupted before it waited");
        }
        while (true) {
            long seen = changes();
            if (condition.getAsBoolean()) {
                return true;
            }
            // Asked outside of the lock, because it may take the cluster's, under which others say that it changed.
            lock.lockInterruptibly();
            try {
                while (seen == changes) {
                    long left = deadline == Long.MAX_VALUE ? Long.MAX_VALUE : deadline - nanoTime();
                    if (left <= 0) {
                        return false;
                    }
                    long unused = changed.awaitNanos(left);
                }
            } finally {
                lock.unlock();
            }
        }
    }

    @Override
    public void changed() {
        lock.lock();
        try {
            changes++;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public long choose(String what, long low, long high, long usual) {
        return usual;
    }

    @Override
    public void close() {
        timers.shutdownNow();
    }

    private long changes() {
        lock.lock();
        try {
            return changes;
        } finally {
            lock.unlock();
        }
    }
}
