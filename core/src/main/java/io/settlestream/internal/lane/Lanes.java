package io.settlestream.internal.lane;

import io.settlestream.Health;
import io.settlestream.internal.position.OwnedPartition;
import io.settlestream.internal.position.Slots;
import io.settlestream.internal.settle.Delivery;
import io.settlestream.internal.settle.HandBack;
import io.settlestream.internal.settle.Unit;
import io.settlestream.kafka.RecordCopy;
import io.settlestream.spi.Scheduler;
import io.settlestream.spi.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * The lanes of one subscription: queues between the poll thread and the workers that run handlers.
 *
 * <p>What is common to all kinds is here: the workers, what they have in hand, and how they come to rest. A kind decides
 * what a worker takes next. The lock guards queues; handlers run outside of it.
 */
public abstract sealed class Lanes implements HandBack permits SharedLane, BatchLane, KeyedLanes {

    private static final Logger log = LoggerFactory.getLogger(Lanes.class);

    /** Half of what the clock can tell apart: due times must be comparable. */
    private static final Duration LONGEST_DELAY = Duration.ofNanos(Long.MAX_VALUE / 2);

    /** What lanes need from outside; must not block. */
    public interface Listener {

        /** A worker has nothing to do, or something the poll thread watches has ended. */
        void progressed();

        /** A worker died of this. */
        void failed(Throwable failure);
    }

    /** How many workers there are and on what threads they run. */
    public record Workers(int count, boolean platformThreads, String threadName) {}

    final ReentrantLock lock = new ReentrantLock();

    /** What parked workers wait for: something to take, or the end. */
    final WaitSet changed;

    /** What a worker waits for whose record is still in the hands of an earlier handler. */
    private final WaitSet earlierEnded;

    /** What of paused partitions workers have come to. Guarded by the lock. */
    private final SetAside setAside = new SetAside();

    final Scheduler scheduler;
    private final Listener listener;
    private final Workers plan;
    /** How long a redelivery waits for an earlier handler of its record. */
    final Duration stuckBound;

    private final List<Worker> workers = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();

    final Delivery.Shared shared;
    private final Delays delays;

    /** How many workers run a handler whose delivery was given up. */
    private final AtomicInteger givenUp = new AtomicInteger();

    /** Whether the poll thread wants to hear whenever a unit ends or a worker parks. */
    private volatile boolean watched;

    /** Whether nothing that is queued may be begun any more. Guarded by the lock; read without it on the fast path. */
    volatile boolean stopped;

    /** Whether nothing is begun until the stop that a failure has asked for. Guarded by the lock. */
    boolean halted;

    /** Whether workers end. Guarded by the lock. */
    boolean closed;

    /**
     * @param stuckBound how long a redelivered record waits for a handler that still runs an earlier delivery of it
     */
    Lanes(Workers plan, Scheduler scheduler, Duration stuckBound, Listener listener, Delivery.Shared shared) {
        this.plan = plan;
        this.shared = shared;
        this.delays = new Delays(scheduler, this::runDue);
        this.scheduler = scheduler;
        this.stuckBound = stuckBound;
        this.listener = listener;
        this.changed = new WaitSet(lock, scheduler);
        this.earlierEnded = new WaitSet(lock, scheduler);
        for (int i = 0; i < plan.count(); i++) {
            workers.add(new Worker(this));
        }
    }

    // --- what a kind of lanes decides

    /** Queues records. Called by the poll thread, with offsets of a partition in order. */
    public abstract void offer(Slots slots);

    /** Takes and runs until the lanes are closed. */
    abstract void work(Worker worker) throws InterruptedException;

    /** Called with the lock: whether something is queued that a worker could begin now. */
    abstract boolean hasWork();

    /** Called with the lock: settles what of the queued may still be begun, and drops the rest. */
    abstract void onStop(Iterable<OwnedPartition> partitions);

    /** Called with the lock: forgets what is queued of assignments that are over. */
    abstract void onDiscard();

    /** Called with the lock: what was kept of a resumed partition, in order, comes back in front of what is queued of it. */
    abstract void onResume(OwnedPartition partition, List<Delivery> kept);

    /** Called with the lock: a handler has returned that nobody waited for. */
    void onGivenUpEnded() {}

    /** Called with the lock: the delivery runs next in its lane, or as soon as a worker is free, as the attempt that it is. */
    abstract void runNext(Delivery delivery);

    /** Called with the lock: a handler wants the delivery after a delay; until {@link #runNext} its lane may go on without it. */
    void onDelayed(Delivery delivery) {}

    /** Called with the lock, when the lanes have stopped: the delivery stays open for good. */
    void onLeftOpen(Delivery delivery) {}

    // --- life

    /** Starts the workers. */
    public final void start() {
        for (int i = 0; i < workers.size(); i++) {
            Worker worker = workers.get(i);
            String name = plan.threadName() + "-" + i;
            Runnable body = () -> live(worker);
            threads.add(scheduler.start(
                    plan.platformThreads() ? Scheduler.Kind.DAEMON : Scheduler.Kind.VIRTUAL, name, body));
        }
    }

    /**
     * Begins a stop after which a restart repeats nothing that was handled: running handlers go on, what lies in front
     * of a record already begun is still handled, the rest of the queues is dropped.
     */
    public final void stop(Iterable<OwnedPartition> partitions) {
        lock.lock();
        try {
            stopped = true;
            // They are not begun any more. Each lies at or behind its partition's position, so a restart reads it
            // again.
            setAside.clear();
            onStop(partitions);
            delays.forEach(this::onLeftOpen);
            delays.clear();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** From now on nothing of the partition is begun; what workers come to of it is kept until it is resumed. */
    public final void pause(OwnedPartition partition) {
        lock.lock();
        try {
            partition.holdBack();
        } finally {
            lock.unlock();
        }
    }

    /** Goes on with a partition where it was paused. */
    public final void resume(OwnedPartition partition) {
        lock.lock();
        try {
            if (partition.pausedByUser()) {
                partition.resumed();
                List<Delivery> kept = setAside.release(partition);
                onResume(partition, kept);
                signalWorkers(kept.size());
            }
        } finally {
            lock.unlock();
        }
    }

    /** Ends the workers as soon as they have nothing in hand. */
    public final void close() {
        lock.lock();
        try {
            closed = true;
            stopped = true;
            // Nothing to do after a stop. Without one, as when the poll thread has died, nothing more is begun.
            onStop(List.of());
            delays.clear();
            signal();
        } finally {
            lock.unlock();
        }
    }

    /** Whether a thread is one of the workers. Any thread. */
    public final boolean runsOn(Thread thread) {
        return workers.stream().anyMatch(worker -> worker.runsOn(thread));
    }

    /** The oldest delivery of this assignment of a partition that is in a handler's hands, or null. Any thread. */
    public final @Nullable Delivery oldestInHand(OwnedPartition partition) {
        Delivery oldest = null;
        for (Worker worker : workers) {
            Unit unit = worker.unit();
            if (unit == null) {
                continue;
            }
            for (Delivery delivery : unit.deliveries()) {
                if (delivery.owner() == partition && (oldest == null || delivery.offset() < oldest.offset())) {
                    oldest = delivery;
                }
            }
        }
        return oldest;
    }

    /** For tests of this package: the workers' threads. */
    final List<Thread> threads() {
        return threads;
    }

    private void live(Worker worker) {
        worker.bind(Thread.currentThread());
        try {
            work(worker);
        } catch (InterruptedException e) {
            // Nobody interrupts a worker that has nothing in hand, so this would be a fault of ours.
            listener.failed(new IllegalStateException("worker interrupted outside of a handler", e));
        } catch (Throwable t) {
            listener.failed(t);
        } finally {
            worker.parked();
            listener.progressed();
        }
    }

    // --- what the poll thread asks

    /** From now on, or no longer, tells the listener whenever a unit ends. */
    public final void watch(boolean wanted) {
        watched = wanted;
    }

    /** Whether a handler runs for this assignment of a partition. */
    public final boolean runs(OwnedPartition partition) {
        for (Worker worker : workers) {
            Unit unit = worker.unit();
            if (unit != null && unit.concerns(partition)) {
                return true;
            }
        }
        return false;
    }

    /** Whether no handler runs and nothing is left that could be begun. */
    public final boolean quiet() {
        lock.lock();
        try {
            if (hasWork()) {
                return false;
            }
            for (Worker worker : workers) {
                Unit unit = worker.unit();
                if (!worker.idle() && (unit == null || !unit.cancelled())) {
                    return false;
                }
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Whether workers could take more than there is. */
    public final boolean hungry() {
        for (Worker worker : workers) {
            if (worker.idle()) {
                return true;
            }
        }
        return false;
    }

    /** Gives up whatever runs, and interrupts it. */
    public final void giveUpRunning() {
        for (Worker worker : workers) {
            Unit unit = worker.unit();
            if (unit != null) {
                unit.deliveries().forEach(Delivery::abandon);
            }
        }
        giveUpDiscarded();
    }

    /** Gives up what runs for assignments that are over and interrupts it, and forgets what is queued of them. */
    public final void giveUpDiscarded() {
        long now = scheduler.nanoTime();
        for (Worker worker : workers) {
            // Counted before it is shown, so that no worker finds none while there is one.
            givenUp.incrementAndGet();
            Worker.GivenUp unit = worker.giveUp(now);
            if (unit == null || unit.again) {
                givenUp.decrementAndGet();
            }
            if (unit != null) {
                log.atLevel(unit.unit.spared() ? Level.DEBUG : Level.WARN)
                        .addKeyValue("record", unit.first())
                        .addKeyValue("interrupted", unit.interrupts())
                        .log("handler still runs although its delivery was given up");
            }
        }
        lock.lock();
        try {
            setAside.purge();
            delays.purge();
            onDiscard();
            signal();
        } finally {
            lock.unlock();
        }
    }

    /** Handlers that run although their delivery was given up. */
    public final List<Health.StuckHandler> stuckHandlers() {
        List<Health.StuckHandler> stuck = new ArrayList<>();
        for (Worker worker : workers) {
            Worker.GivenUp unit = worker.givenUp();
            if (unit != null) {
                Delivery first = unit.first();
                stuck.add(new Health.StuckHandler(
                        first.topic(),
                        first.partition(),
                        first.offset(),
                        Duration.ofNanos(scheduler.nanoTime() - unit.since)));
            }
        }
        return stuck;
    }

    // --- what kinds of lanes and workers share

    /**
     * Shows the unit; if an earlier delivery of one of its records still runs, waits for that first, bounded.
     *
     * @return false if the lanes were closed meanwhile, so it must not be handled; {@link #ended} follows all the same
     */
    final boolean begin(Worker worker, Unit unit) throws InterruptedException {
        boolean wanted = givenUp.get() == 0 || awaitEarlierDelivery(unit);
        worker.begin(unit);
        return wanted;
    }

    /**
     * Marks a delivery that is shown as handed to a worker; false if it may not be handled. Then it is either not waited
     * for any more, or kept until its partition is resumed.
     */
    final boolean handOver(Delivery delivery) {
        if (delivery.handOver()) {
            return true;
        }
        lock.lock();
        try {
            OwnedPartition partition = delivery.owner();
            if (!partition.heldBack()) {
                // Let go in between, perhaps.
                return delivery.handOver();
            }
            if (!stopped && !delivery.cancelled()) {
                if (partition.pausedByUser()) {
                    setAside.add(delivery);
                } else {
                    onResume(partition, List.of(delivery));
                }
            }
            return false;
        } finally {
            lock.unlock();
        }
    }

    /** The unit's handler has returned, or the unit was refused; whoever saw it in hand looks again. */
    final void ended(Worker worker, Unit unit) {
        worker.end(unit);
        if (watched) {
            listener.progressed();
        }
    }

    final void givenUpEnded() {
        givenUp.decrementAndGet();
        lock.lock();
        try {
            onGivenUpEnded();
            signal();
        } finally {
            lock.unlock();
        }
    }

    /** Whether a handler still runs for an earlier delivery of this record. */
    final boolean earlierRuns(Unit unit) {
        return givenUp.get() > 0 && runsElsewhere(unit);
    }

    /**
     * Queues records of a retry topic: each runs when it is due. One that another group has put there is settled unseen.
     * Called by the poll thread.
     *
     * @param group whose copies are to run
     */
    public final void offerCopies(Slots slots, String group) {
        // Headers are read before the lock is taken, so that no worker waits for that.
        List<Delivery> copies = new ArrayList<>(slots.size());
        for (int slot = 0; slot < slots.size(); slot++) {
            copies.add(Delivery.ofCopy(shared, slots, slot));
        }
        lock.lock();
        try {
            for (Delivery copy : copies) {
                if (stopped) {
                    return;
                }
                if (!copy.origin().flatMap(RecordCopy::group).orElse(group).equals(group)) {
                    copy.settleUnseen();
                    continue;
                }
                long wait = untilDue(copy);
                if (wait > 0) {
                    delay(copy, wait);
                } else {
                    runNext(copy);
                }
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Nanoseconds; a due time that is not given or cannot be is now. */
    private long untilDue(Delivery copy) {
        Instant due = copy.origin().flatMap(RecordCopy::due).orElse(Instant.MIN);
        Instant now = scheduler.now();
        if (!due.isAfter(now)) {
            return 0;
        }
        Duration wait = Duration.between(now, due);
        return wait.compareTo(LONGEST_DELAY) < 0 ? wait.toNanos() : LONGEST_DELAY.toNanos();
    }

    @Override
    public final void later(Delivery delivery, long nanos) {
        lock.lock();
        try {
            delivery.nextAttempt();
            if (delivery.cancelled()) {
                // Given up since it answered: whoever forgets such deliveries may have been here already.
                return;
            }
            if (stopped) {
                onLeftOpen(delivery);
            } else {
                delay(delivery, nanos);
                onDelayed(delivery);
            }
        } finally {
            lock.unlock();
        }
    }

    private void delay(Delivery delivery, long nanos) {
        delays.add(delivery, scheduler.nanoTime() + nanos);
    }

    /** Delays have come to an end. */
    private void runDue() {
        lock.lock();
        try {
            if (!stopped) {
                List<Delivery> due = delays.takeDue();
                due.forEach(this::runNext);
                signalWorkers(due.size());
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void halt() {
        lock.lock();
        try {
            // A stop that has begun already knows what is still to be handled, and waits for it.
            halted = !stopped;
        } finally {
            lock.unlock();
        }
    }

    /** With the lock: parks the worker until something changes, or for no reason; it looks again either way. */
    @SuppressWarnings("WaitNotInLoop") // the loop is the caller's
    final void park(Worker worker) throws InterruptedException {
        worker.parked();
        listener.progressed();
        changed.await();
        worker.taking();
    }

    /** With the lock: wakes as many parked workers as there are units to take. */
    final void signalWorkers(int units) {
        for (int i = Math.min(units, workers.size()); i > 0; i--) {
            changed.signal();
        }
    }

    /** Makes every worker that waits look again. */
    final void signal() {
        lock.lock();
        try {
            changed.signalAll();
            earlierEnded.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private boolean awaitEarlierDelivery(Unit unit) throws InterruptedException {
        long deadline = scheduler.nanoTime() + stuckBound.toNanos();
        TimeSource.Timer timer = scheduler.schedule(stuckBound, this::signal);
        lock.lock();
        try {
            while (!closed && !unit.cancelled() && runsElsewhere(unit) && scheduler.nanoTime() - deadline < 0) {
                earlierEnded.await();
            }
            return !closed;
        } finally {
            lock.unlock();
            timer.cancel();
        }
    }

    private boolean runsElsewhere(Unit unit) {
        for (Worker worker : workers) {
            Worker.GivenUp running = worker.givenUp();
            if (running != null) {
                for (Delivery old : running.unit.deliveries()) {
                    for (Delivery wanted : unit.deliveries()) {
                        if (old.offset() == wanted.offset()
                                && old.partition() == wanted.partition()
                                && old.topic().equals(wanted.topic())) {
                            return true;
                        }
                    }
                }
            }
        }
        return false;
    }
}
