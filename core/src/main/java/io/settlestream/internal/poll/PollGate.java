package io.settlestream.internal.poll;

import io.settlestream.spi.Scheduler;
import io.settlestream.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;

/**
 * Wakes the poll thread wherever it waits: in a fetch or in a wait of our own.
 *
 * <p>{@link Consumer#wakeup()} ends whatever the consumer blocks in next, be it a commit inside a callback. So it is
 * called only while the poll thread says that it is in a fetch, and calls that are not fetches go through
 * code that repeats a call cut short by a wake-up that came a moment too late.
 */
final class PollGate {

    private final ReentrantLock lock = new ReentrantLock();
    private final Consumer<byte[], byte[]> consumer;
    private final Scheduler scheduler;
    private boolean fetching;
    private boolean wakeUpSent;

    /** Somebody has called {@link #wake()} since the poll thread last looked. */
    private boolean pending;

    /** The poll thread, while it waits in a wait of our own. */
    private @Nullable Thread waiting;

    PollGate(Consumer<byte[], byte[]> consumer, Scheduler scheduler) {
        this.consumer = consumer;
        this.scheduler = scheduler;
    }

    /** Makes the poll thread look at its state soon. Any thread; does not block. */
    void wake() {
        lock.lock();
        try {
            pending = true;
            if (waiting != null) {
                scheduler.unpark(waiting);
            }
            if (fetching && !wakeUpSent) {
                wakeUpSent = true;
                consumer.wakeup();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Fetches; returns early and empty when woken. */
    ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
        boolean lookFirst = enter();
        try {
            return consumer.poll(lookFirst ? Duration.ZERO : timeout);
        } catch (WakeupException e) {
            return ConsumerRecords.empty();
        } finally {
            leave();
        }
    }

    /** Asks the cluster something; cut short when woken, and asked again in the next round then. */
    void ask(Runnable question) {
        boolean lookFirst = enter();
        try {
            question.run();
        } catch (WakeupException e) {
            lookFirst = true;
        } finally {
            leave();
        }
        if (lookFirst) {
            // Nobody has looked yet: the fetch after this must not wait.
            wake();
        }
    }

    /** From here on a wake-up may reach the consumer. True if there was one since the poll thread last looked. */
    private boolean enter() {
        lock.lock();
        try {
            boolean was = pending;
            pending = false;
            fetching = true;
            wakeUpSent = false;
            return was;
        } finally {
            lock.unlock();
        }
    }

    private void leave() {
        lock.lock();
        try {
            fetching = false;
        } finally {
            lock.unlock();
        }
    }

    /** In a callback of a fetch: from here on the consumer blocks in something else. True if a fetch was under way. */
    boolean suspendFetch() {
        lock.lock();
        try {
            boolean was = fetching;
            fetching = false;
            return was;
        } finally {
            lock.unlock();
        }
    }

    /** The callback is over and the fetch goes on. */
    void resumeFetch() {
        lock.lock();
        try {
            fetching = true;
            // Also if one was sent before the callback: a commit in the callback may have used it up.
            wakeUpSent = pending;
            if (pending) {
                consumer.wakeup();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Waits, outside of any fetch, until a condition holds that {@link #wake()} follows, or the deadline. */
    void await(BooleanSupplier condition, long deadline) throws InterruptedException {
        Duration wait = Duration.ofNanos(Math.max(0, deadline - scheduler.nanoTime()));
        TimeSource.Timer timer = scheduler.schedule(wait, this::wake);
        try {
            // Outside of the lock: what the condition asks may take locks under which others call wake().
            while (!condition.getAsBoolean() && deadline - scheduler.nanoTime() > 0) {
                awaitWake();
            }
        } finally {
            // What happened meanwhile is for the caller's next round to look at.
            wake();
            timer.cancel();
        }
    }

    private void awaitWake() throws InterruptedException {
        while (!takeWake()) {
            if (Thread.interrupted()) {
                throw new InterruptedException("interrupted while waiting to be woken");
            }
            scheduler.park(this);
        }
    }

    /** Whether there was a wake-up; if not, the next one unparks this thread. */
    private boolean takeWake() {
        lock.lock();
        try {
            boolean was = pending;
            pending = false;
            waiting = was ? null : Thread.currentThread();
            return was;
        } finally {
            lock.unlock();
        }
    }
}
