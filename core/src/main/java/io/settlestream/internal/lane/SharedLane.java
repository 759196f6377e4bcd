package io.settlestream.internal.lane;

import io.settlestream.internal.handle.DeliveryHandler;
import io.settlestream.internal.position.OwnedPartition;
import io.settlestream.internal.position.Slots;
import io.settlestream.internal.settle.Backoff;
import io.settlestream.internal.settle.Delivery;
import io.settlestream.internal.settle.Disposition;
import io.settlestream.spi.Scheduler;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * One queue for all workers. With one worker it is a lane that keeps order: a delivery that waits to run again holds up
 * everything behind it. With several, order is not promised: retries come first when they are due, and while they wait
 * the rest flows.
 *
 * <p>The queue holds what each poll returned as a block. Workers claim records of the head block with one atomic add,
 * without the lock; the lock is taken once per block, and for everything out of the ordinary: retries, parking, stopping.
 */
public final class SharedLane extends Lanes {

    private static final class Block {
        final Slots slots;
        final AtomicInteger claimed = new AtomicInteger();

        Block(Slots slots) {
            this.slots = slots;
        }

        boolean exhausted() {
            return claimed.get() >= slots.size();
        }
    }

    private final DeliveryHandler handler;
    private final Backoff backoff;
    private final boolean ordered;
    private final ArrayDeque<Block> blocks = new ArrayDeque<>();
    private final RetryQueue retries;

    /** Of partitions that were paused and are resumed: in front of the blocks. */
    private final Resumed resumed = new Resumed();

    private volatile @Nullable Block head;

    /** Whether workers must look under the lock before they claim: something goes first, or the lane has stopped. */
    private volatile boolean attention;

    public SharedLane(
            Workers plan,
            Scheduler scheduler,
            Duration stuckBound,
            Listener listener,
            Delivery.Shared shared,
            DeliveryHandler handler,
            Backoff backoff) {
        super(plan, scheduler, stuckBound, listener, shared);
        this.handler = handler;
        this.backoff = backoff;
        this.ordered = plan.count() == 1;
        this.retries = new RetryQueue(ordered, backoff, scheduler, this::signal);
    }

    @Override
    public void offer(Slots slots) {
        lock.lock();
        try {
            if (!stopped) {
                blocks.addLast(new Block(slots));
                signalWorkers(slots.size());
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void retry(Delivery delivery) {
        lock.lock();
        try {
            if (!stopped) {
                retries.add(delivery);
                attention = true;
                signalWorkers(1);
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    void runNext(Delivery delivery) {
        retries.addDue(delivery);
        attention = true;
    }

    @Override
    void work(Worker worker) throws InterruptedException {
        for (Delivery delivery = take(worker); delivery != null; delivery = take(worker)) {
            Disposition disposition = handler.run(delivery, this);
            while (disposition.equals(Disposition.RETRY) && isToRunAgainAtOnce(delivery)) {
                disposition = handOverAgain(delivery) ? handler.run(delivery, this) : Disposition.DONE;
            }
            if (disposition.equals(Disposition.RETRY)) {
                retry(delivery);
            } else if (disposition instanceof Disposition.Later later) {
                later(delivery, later.nanos());
            } else if (disposition.equals(Disposition.FAILED)) {
                halt();
            }
            ended(worker, delivery);
        }
    }

    /** The first retry comes at once and stays in the worker's hands. */
    private boolean isToRunAgainAtOnce(Delivery delivery) {
        return !stopped && backoff.nanosAfter(delivery.attempt()) == 0;
    }

    private boolean handOverAgain(Delivery delivery) {
        delivery.nextAttempt();
        // What the attempt before left behind; an interrupt that gives the delivery up comes with a refusal.
        boolean unused = Thread.interrupted();
        return handOver(delivery);
    }

    /** The next delivery, shown as in hand and admitted; null when the lanes are closed. */
    private @Nullable Delivery take(Worker worker) throws InterruptedException {
        while (true) {
            Block block = head;
            Delivery delivery;
            if (attention || block == null) {
                delivery = takeUnderLock(worker);
                if (delivery == null) {
                    return null;
                }
            } else {
                int slot = block.claimed.getAndIncrement();
                if (slot >= block.slots.size()) {
                    delivery = takeUnderLock(worker);
                    if (delivery == null) {
                        return null;
                    }
                } else {
                    delivery = new Delivery(shared, block.slots, slot);
                }
            }
            if (begin(worker, delivery) && handOver(delivery)) {
                return delivery;
            }
            ended(worker, delivery);
        }
    }

    private @Nullable Delivery takeUnderLock(Worker worker) throws InterruptedException {
        lock.lock();
        try {
            while (true) {
                if (closed) {
                    return null;
                }
                Delivery next = halted ? null : nextQueued();
                if (next != null) {
                    return next;
                }
                park(worker);
            }
        } finally {
            lock.unlock();
        }
    }

    private @Nullable Delivery nextQueued() {
        Delivery due = retries.pollDue();
        if (due != null) {
            return due;
        }
        boolean waiting = !retries.isEmpty();
        boolean heldUp = waiting && ordered;
        Delivery back = heldUp ? null : resumed.poll();
        attention = waiting || stopped || halted || !resumed.isEmpty();
        return back != null || heldUp ? back : claimNext();
    }

    private @Nullable Delivery claimNext() {
        while (true) {
            Block block = head;
            if (block != null) {
                int slot = block.claimed.getAndIncrement();
                if (slot < block.slots.size()) {
                    return new Delivery(shared, block.slots, slot);
                }
            }
            head = blocks.pollFirst();
            if (head == null) {
                return null;
            }
        }
    }

    @Override
    public void halt() {
        lock.lock();
        try {
            super.halt();
            attention = true;
        } finally {
            lock.unlock();
        }
    }

    @Override
    boolean hasWork() {
        Block block = head;
        return !stopped && (!blocks.isEmpty() || (block != null && !block.exhausted()));
    }

    @Override
    void onResume(OwnedPartition partition, List<Delivery> kept) {
        resumed.add(partition, kept);
        attention = true;
    }

    @Override
    void onDiscard() {
        Block block = head;
        if (block != null && block.slots.partition().discarded()) {
            head = null;
        }
        blocks.removeIf(queued -> queued.slots.partition().discarded());
        resumed.purge();
        retries.purge();
    }

    /** Records are claimed in order, so nothing in front of a record that was begun is left in the queue. */
    @Override
    void onStop(Iterable<OwnedPartition> partitions) {
        attention = true;
        halted = false;
        blocks.clear();
        head = null;
        resumed.clear();
        retries.clear();
    }
}
