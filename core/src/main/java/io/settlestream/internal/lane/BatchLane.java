package io.settlestream.internal.lane;

import io.settlestream.internal.handle.BatchRunner;
import io.settlestream.internal.position.OwnedPartition;
import io.settlestream.internal.position.Slots;
import io.settlestream.internal.settle.Backoff;
import io.settlestream.internal.settle.BatchUnit;
import io.settlestream.internal.settle.Delivery;
import io.settlestream.spi.Scheduler;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One queue from which workers take batches: a record and whatever else is queued, up to a size, never waiting for more.
 * Elements that are to run again form a batch of their own, in front of everything else. With one worker they hold up
 * what is behind them until they are due.
 */
public final class BatchLane extends Lanes {

    private final BatchRunner handler;
    private final int maxSize;
    private final boolean ordered;
    private final ArrayDeque<Slots> blocks = new ArrayDeque<>();
    private final RetryQueue retries;

    /** Of partitions that were paused and are resumed: in front of the blocks. */
    private final Resumed resumed = new Resumed();

    /** The next slot of the head block. */
    private int next;

    public BatchLane(
            Workers plan,
            Scheduler scheduler,
            Duration stuckBound,
            Listener listener,
            Delivery.Shared shared,
            BatchRunner handler,
            int maxSize,
            Backoff backoff) {
        super(plan, scheduler, stuckBound, listener, shared);
        this.handler = handler;
        this.maxSize = maxSize;
        this.ordered = plan.count() == 1;
        this.retries = new RetryQueue(ordered, backoff, scheduler, this::signal);
    }

    @Override
    public void offer(Slots slots) {
        lock.lock();
        try {
            if (!stopped && slots.size() > 0) {
                blocks.addLast(slots);
                changed.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void retry(Delivery delivery) {
        retry(List.of(delivery));
    }

    private void retry(List<Delivery> deliveries) {
        lock.lock();
        try {
            if (!stopped) {
                retries.addAll(deliveries);
                changed.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    void runNext(Delivery delivery) {
        retries.addDue(delivery);
    }

    @Override
    void work(Worker worker) throws InterruptedException {
        for (List<Delivery> taken = take(worker); taken != null; taken = take(worker)) {
            BatchUnit shown = new BatchUnit(taken);
            boolean wanted = begin(worker, shown);
            List<Delivery> admitted = new ArrayList<>(taken.size());
            for (Delivery delivery : taken) {
                if (wanted && handOver(delivery)) {
                    admitted.add(delivery);
                }
            }
            if (!admitted.isEmpty()) {
                BatchUnit rest = new BatchUnit(List.copyOf(admitted));
                if (admitted.size() < taken.size()) {
                    shown = worker.narrow(shown, rest);
                }
                BatchRunner.Result result = handler.run(rest);
                if (result.failed()) {
                    halt();
                }
                result.later().forEach(each -> later(each.delivery(), each.nanos()));
                if (!result.again().isEmpty()) {
                    retry(result.again());
                }
            }
            ended(worker, shown);
        }
    }

    private @Nullable List<Delivery> take(Worker worker) throws InterruptedException {
        lock.lock();
        try {
            while (!closed) {
                List<Delivery> batch = halted ? List.of() : nextBatch();
                if (!batch.isEmpty()) {
                    return batch;
                }
                park(worker);
            }
            return null;
        } finally {
            lock.unlock();
        }
    }

    private List<Delivery> nextBatch() {
        List<Delivery> batch = new ArrayList<>();
        Delivery due = retries.pollDue();
        while (due != null) {
            batch.add(due);
            due = batch.size() < maxSize ? retries.pollDue() : null;
        }
        if (!ordered) {
            // Retries of several batches, each in order, may have become due the other way round.
            batch.sort(Delivery::compareByArrival);
        }
        if (batch.isEmpty() && !(ordered && !retries.isEmpty())) {
            addResumed(batch, false);
            if (batch.isEmpty()) {
                addResumed(batch, true);
                claim(batch);
            }
        }
        return batch;
    }

    private void addResumed(List<Delivery> batch, boolean fresh) {
        Delivery back = batch.size() < maxSize ? resumed.poll(fresh) : null;
        while (back != null) {
            batch.add(back);
            back = batch.size() < maxSize ? resumed.poll(fresh) : null;
        }
    }

    private void claim(List<Delivery> batch) {
        while (batch.size() < maxSize) {
            Slots block = blocks.peekFirst();
            if (block == null) {
                return;
            }
            while (next < block.size() && batch.size() < maxSize) {
                batch.add(new Delivery(shared, block, next++));
            }
            if (next == block.size()) {
                blocks.removeFirst();
                next = 0;
            }
        }
    }

    @Override
    boolean hasWork() {
        return !stopped && !(blocks.isEmpty() && resumed.isEmpty());
    }

    @Override
    void onResume(OwnedPartition partition, List<Delivery> kept) {
        resumed.add(partition, kept);
    }

    @Override
    void onDiscard() {
        Slots head = blocks.peekFirst();
        if (head != null && head.partition().discarded()) {
            next = 0;
        }
        blocks.removeIf(queued -> queued.partition().discarded());
        resumed.purge();
        retries.purge();
    }

    /** Records are taken in order, so nothing in front of a record that was begun is left in the queue. */
    @Override
    void onStop(Iterable<OwnedPartition> partitions) {
        halted = false;
        blocks.clear();
        next = 0;
        resumed.clear();
        retries.clear();
    }
}
