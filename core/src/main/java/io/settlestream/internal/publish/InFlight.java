package io.settlestream.internal.publish;

import io.settlestream.spi.Scheduler;
import io.settlestream.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The records of one producer that were sent and not reported, and the bound on their bytes: whoever wants to send waits
 * here, where the wait has a deadline and an end at close, and not inside the producer, where it has neither.
 *
 * <p><b>Capacity.</b> A producer that runs out of {@code buffer.memory} blocks in {@code send}, so the capacity must be
 * so low that it does not run out. A record takes what {@link RecordSize} says, but memory is handed out by the batch:
 * {@code batch.size}, or the record if it is larger. Two batches of a partition that follow each other because the first
 * was full hold more than one {@code batch.size} between them, so full batches take less than twice the bytes that are
 * counted here. With a third of {@code buffer.memory} as the capacity they take two thirds at the worst, whatever the mix
 * of record sizes. The last third is for the batches that leave before they are full, at most one being filled and {@code
 * max.in.flight.requests.per.connection} under way for each partition that is written to, and for the batch whose reports
 * are being told, because the producer frees its memory after that: with Kafka's defaults (32 MiB, batches of 16 KiB, 5
 * requests) enough for 113 partitions at the worst. A service that trickles into more partitions than that may find the
 * producer's buffer full before this bound is reached; then {@code send} waits up to {@code max.block.ms} and fails with
 * {@code QUEUE_FULL}, and the cure is a larger {@code buffer.memory}. Charging whole batches instead would hold small
 * records to two thousand in flight, which long round trips would feel.
 *
 * <p><b>Taking room.</b> While nobody waits, a compare-and-set on {@link #bytes} is all. A record finds room when it fits,
 * or when it is alone, so that one larger than the capacity goes too. Whoever finds none joins {@link #waiting}, and
 * from then on room goes to the head of that queue only: a large record waits for the queue in front of it and for room,
 * never for later small ones that keep the room occupied. The head takes its room itself and, when it leaves the queue
 * for whatever reason, wakes the next; a report only lowers {@link #bytes} and unparks the head, so the producer's
 * thread neither locks nor loops here.
 *
 * <p><b>No wake-up is lost</b>, by order of volatile accesses: a waiter joins the queue and then reads {@code bytes}, a
 * report lowers {@code bytes} and then reads the queue, so one of them sees the other; a waiter that is not the head is
 * woken by the one before it. {@link #close} and {@link #enter} pair up likewise: a sender counts itself and then reads
 * {@link #closed}, the closer sets {@code closed} and then reads the count, so after {@code close} a record is either
 * counted or refused, and none slips past {@link #none}.
 */
final class InFlight {

    /** What became of an attempt to enter. */
    enum Entry {
        /** Room is taken and the record is counted. */
        ENTERED,
        /** The bound on the wait passed. */
        FULL,
        /** Closed before or during the wait. */
        CLOSED
    }

    /** A thread that waits for room. */
    private final class Waiter {
        final Thread thread = Thread.currentThread();
        volatile boolean expired;

        void expire() {
            expired = true;
            scheduler.unpark(thread);
        }
    }

    private final long capacity;
    private final Scheduler scheduler;
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicInteger records = new AtomicInteger();
    private final ConcurrentLinkedQueue<Waiter> waiting = new ConcurrentLinkedQueue<>();
    private volatile boolean closed;
    private volatile @Nullable CompletableFuture<Boolean> none;

    InFlight(long capacity, Scheduler scheduler) {
        this.capacity = capacity;
        this.scheduler = scheduler;
    }

    /**
     * Takes room for a record and counts it, waiting if there is none.
     *
     * @param bound how long to wait, or null to wait until there is room, {@link #close} or an interrupt
     * @throws InterruptedException if interrupted while waiting; nothing is taken then
     */
    Entry enter(int size, @Nullable Duration bound) throws InterruptedException {
        if (closed) {
            return Entry.CLOSED;
        }
        if (!waiting.isEmpty() || !take(size)) {
            Entry entry = bound != null && bound.isZero() ? Entry.FULL : waitForRoom(size, bound);
            if (entry != Entry.ENTERED) {
                return entry;
            }
        }
        records.incrementAndGet();
        if (closed) {
            freeRoom(size);
            reported();
            return Entry.CLOSED;
        }
        return Entry.ENTERED;
    }

    /** Gives a record's room to those who wait. */
    void freeRoom(int size) {
        bytes.addAndGet(-size);
        wakeHead();
    }

    /** Counts a record as reported; called when its listener has been told. */
    void reported() {
        if (records.decrementAndGet() == 0) {
            CompletableFuture<Boolean> asked = none;
            if (asked != null) {
                asked.complete(true);
            }
        }
    }

    /** Refuses whoever enters from now on, and those who wait. */
    void close() {
        closed = true;
        waiting.forEach(waiter -> scheduler.unpark(waiter.thread));
    }

    boolean isClosed() {
        return closed;
    }

    /** How many records are sent and not reported. */
    int records() {
        return records.get();
    }

    /** The bytes of the records in flight. */
    long bytes() {
        return bytes.get();
    }

    long capacity() {
        return capacity;
    }

    /** How many threads wait for room. */
    int waiters() {
        return waiting.size();
    }

    /** Completes when no record is in flight. Asked for once, after {@link #close}. */
    CompletableFuture<Boolean> none() {
        CompletableFuture<Boolean> asked = new CompletableFuture<>();
        none = asked;
        if (records.get() == 0) {
            asked.complete(true);
        }
        return asked;
    }

    private boolean take(int size) {
        while (true) {
            long taken = bytes.get();
            if (taken != 0 && taken + size > capacity) {
                return false;
            }
            if (bytes.compareAndSet(taken, taken + size)) {
                return true;
            }
        }
    }

    private Entry waitForRoom(int size, @Nullable Duration bound) throws InterruptedException {
        Waiter self = new Waiter();
        waiting.add(self);
        TimeSource.Timer timer = null;
        try {
            while (true) {
                if (closed) {
                    return Entry.CLOSED;
                }
                if (waiting.peek() == self && take(size)) {
                    return Entry.ENTERED;
                }
                if (self.expired) {
                    return Entry.FULL;
                }
                if (Thread.interrupted()) {
                    throw new InterruptedException("interrupted while waiting for room in front of the producer");
                }
                if (bound != null && timer == null) {
                    timer = scheduler.schedule(bound, self::expire);
                } else {
                    scheduler.park(this);
                }
            }
        } finally {
            waiting.remove(self);
            if (timer != null) {
                timer.cancel();
            }
            wakeHead();
        }
    }

    private void wakeHead() {
        Waiter head = waiting.peek();
        if (head != null) {
            scheduler.unpark(head.thread);
        }
    }
}
