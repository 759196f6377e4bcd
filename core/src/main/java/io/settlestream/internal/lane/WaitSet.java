package io.settlestream.internal.lane;

import io.settlestream.spi.Scheduler;
import java.util.ArrayDeque;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads that wait for something a lock guards: a condition of that lock whose waits go through the scheduler. Whoever
 * waits longest is woken first. Everything here is called with the lock, held once.
 */
final class WaitSet {

    /** A thread that waits; woken by a signal of its own, so that no other wake-up of the thread is taken for it. */
    private static final class Waiter {
        final Thread thread = Thread.currentThread();
        volatile boolean signalled;
    }

    private final ReentrantLock lock;
    private final Scheduler scheduler;
    private final ArrayDeque<Waiter> waiting = new ArrayDeque<>();

    WaitSet(ReentrantLock lock, Scheduler scheduler) {
        this.lock = lock;
        this.scheduler = scheduler;
    }

    /**
     * Gives the lock back, waits for a signal, and takes the lock again.
     *
     * @throws InterruptedException if interrupted before or while waiting; no signal is used up then
     */
    void await() throws InterruptedException {
        Waiter self = new Waiter();
        waiting.add(self);
        lock.unlock();
        boolean interrupted = false;
        try {
            while (!self.signalled && !interrupted) {
                interrupted = Thread.interrupted();
                if (!interrupted) {
                    scheduler.park(this);
                }
            }
        } finally {
            lock.lock();
        }
        if (interrupted) {
            if (self.signalled) {
                signal();
            } else {
                waiting.remove(self);
            }
            throw new InterruptedException("interrupted while waiting for work");
        }
    }

    /** Wakes the thread that has waited longest, if any waits. */
    void signal() {
        Waiter next = waiting.poll();
        if (next != null) {
            next.signalled = true;
            scheduler.unpark(next.thread);
        }
    }

    void signalAll() {
        while (!waiting.isEmpty()) {
            signal();
        }
    }
}
