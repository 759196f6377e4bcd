package io.settlestream.testing.internal.sim;

import io.settlestream.spi.Scheduler;
import io.settlestream.testing.internal.kafka.Host;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Time, threads and chance of a test: everything that runs in it runs one at a time and in an order that can be had again.
 *
 * <p><b>Turns.</b> Threads are real, but only the one that has the turn runs. It keeps the turn until it waits or ends,
 * then the next one has it that is ready; when none is, the thread that {@linkplain #drive drives}, the test's. Code of an
 * application never notices: it parks and is unparked through its {@link Scheduler} as in production. While nobody drives,
 * nothing runs.
 *
 * <p><b>Time</b> stands still while anything can run. The driver moves it to the next timer when all wait.
 *
 * <p><b>The world outside.</b> A handler may block in something that is not the simulation's: a latch of the test, a call
 * over the network, a lock. Its thread then has the turn and does not run, which the driver notices after some
 * milliseconds of real time; it goes on without it, and the thread, once it goes on too, is free until it next waits here.
 * Such a run cannot be had again exactly, so it is {@linkplain #outsiders counted}. Threads that are not the simulation's
 * may call everything here; their waits are real.
 *
 * <p><b>Ordering.</b> One lock guards all state, and it is never held while code of others runs: conditions are asked and
 * timers run outside of it. A thread that waits for a condition counts changes before it asks and compares the count under
 * the lock before it waits, so that no change is missed that a thread outside makes in between.
 */
public final class Simulation implements Host, AutoCloseable {

    /** How a drive ended. */
    public enum End {
        /** What it was to reach. */
        REACHED,
        /** Nothing can run until after the time it was allowed to go to. */
        TIME_UP,
        /** Only the world outside can make it go on, and did not within the patience. */
        OUTSIDE,
        /** Threads keep running without time going on. */
        RESTLESS
    }

    /** The time at which every simulation begins. */
    public static final Instant BEGIN = Instant.parse("2026-01-01T00:00:00Z");

    /** How long a drive waits, in real time, for the world outside. */
    public static final Duration PATIENCE = Duration.ofSeconds(10);

    /** More turns than any reaction of a test needs within one moment of its time; some seconds of real time. */
    private static final long MOST_TURNS = 2_000_000;

    /** How often the driver looks whether the thread that has the turn runs. */
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    /** So many looks must find it blocked, for it may be waiting for a lock or a class for a moment. */
    private static final int BLOCKED_LOOKS = 10;

    private static final ThreadLocal<@Nullable Strand> CURRENT = new ThreadLocal<>();

    private final ReentrantLock lock = new ReentrantLock();
    /** Held by the thread that drives. */
    private final ReentrantLock driving = new ReentrantLock();

    private final Choices choices;
    /** After so many looks, without any progress, the driver is out of patience. Looks do not count while a debugger halts. */
    private final long patientLooks;
    /** After so many turns without time going on, threads are not expected to come to rest any more. */
    private final long mostTurns;

    private final Timers timers = new Timers();
    private final Map<Thread, Strand> strands = new ConcurrentHashMap<>();
    private final List<Strand> ready = new ArrayList<>();
    private final List<Strand> awaiting = new ArrayList<>();
    private final SimulatedProcess kafka = new SimulatedProcess(this, "kafka");

    /** Who has the turn; null while the driver has it, and while nobody drives. */
    private @Nullable Strand holder;

    private @Nullable Thread driver;
    /** The process whose threads alone may run, beside Kafka's; null if all may. */
    private @Nullable SimulatedProcess focus;
    /** Whether the turn goes back to the driver although others are ready. */
    private boolean halt;

    private volatile long now;
    private volatile long changes;
    private long turns;
    private long outsiders;
    /** How often a thread outside has come back or ended. */
    private long outsideMoves;

    private volatile boolean closed;

    private Simulation(Choices choices, Duration patience, long mostTurns) {
        this.choices = choices;
        this.patientLooks = patience.toNanos() / LOOK_NANOS;
        this.mostTurns = mostTurns;
    }

    /** One in which everything takes its usual course. */
    public static Simulation usual() {
        return new Simulation(Choices.usual(), PATIENCE, MOST_TURNS);
    }

    /** One in which chance decides what is open, the same way for the same seed. */
    public static Simulation seeded(long seed) {
        return new Simulation(Choices.seeded(seed), PATIENCE, MOST_TURNS);
    }

    /** For tests of the simulation: less patience with the world outside, and with threads that never rest. */
    static Simulation impatient(Duration patience) {
        return new Simulation(Choices.usual(), patience, 10_000);
    }

    public OptionalLong seed() {
        return choices.seed();
    }

    /** Equal for two runs in which the same threads had their turns in the same order and all choices were the same. */
    public long fingerprint() {
        lock.lock();
        try {
            return choices.fingerprint();
        } finally {
            lock.unlock();
        }
    }

    /** How often the simulation went on without a thread that blocked outside; such a run cannot be had again exactly. */
    public long outsiders() {
        lock.lock();
        try {
            return outsiders;
        } finally {
            lock.unlock();
        }
    }

    /** A scheduler for one application. */
    public SimulatedProcess process(String name) {
        return new SimulatedProcess(this, name);
    }

    // --- time

    @Override
    public long nanoTime() {
        return now;
    }

    @Override
    public Instant now() {
        return BEGIN.plusNanos(now);
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
        return schedule(kafka, delay, task);
    }

    Timer schedule(SimulatedProcess process, Duration delay, Runnable task) {
        live();
        lock.lock();
        try {
            if (process.dead()) {
                return () -> {};
            }
            Timers.Due due = timers.add(after(delay), process, task);
            return () -> cancel(due);
        } finally {
            lock.unlock();
        }
    }

    /** The time that is a while from now; the end of time if that is later. */
    public long after(Duration time) {
        long at = now + Math.max(0, TimeUnit.NANOSECONDS.convert(time));
        return at < 0 ? Long.MAX_VALUE : at;
    }

    private void cancel(Timers.Due due) {
        lock.lock();
        try {
            timers.remove(due);
        } finally {
            lock.unlock();
        }
    }

    /** Blocks a thread of the simulation for a while of virtual time. */
    public void sleep(Duration time) throws InterruptedException {
        boolean unused = await(() -> false, after(time));
    }

    // --- chance

    @Override
    public long choose(String what, long low, long high, long usual) {
        lock.lock();
        try {
            return choices.choose(what, low, high, usual);
        } finally {
            lock.unlock();
        }
    }

    /** A point where chance may let other threads go first, and where a thread of a dead process ends. Called without locks. */
    public void mayYield() {
        Strand self = self();
        if (self == null) {
            return;
        }
        lock.lock();
        try {
            if (self.process.dead()) {
                // It was busy outside when its process died. Nobody ever makes it ready.
                leave(self, Strand.State.PARKED);
            } else if (self.state != Strand.State.RUNNING || ready.isEmpty() || !choices.yields()) {
                return;
            } else {
                self.state = Strand.State.READY;
                ready.add(self);
                passTurn();
            }
        } finally {
            lock.unlock();
        }
        resume(self);
    }

    // --- threads

    @Override
    public Thread start(String name, Runnable body) {
        return start(kafka, Scheduler.Kind.VIRTUAL, name, body);
    }

    /**
     * Starts a thread. What keeps the JVM alive in production is a virtual thread here, which is lighter; only a thread that
     * was asked to be a platform thread for the sake of handlers is one.
     */
    Thread start(SimulatedProcess process, Scheduler.Kind kind, String name, Runnable body) {
        live();
        Runnable whole = () -> run(body);
        Thread thread = kind == Scheduler.Kind.DAEMON
                ? Thread.ofPlatform().daemon().name(name).unstarted(whole)
                : Thread.ofVirtual().name(name).unstarted(whole);
        Strand strand = new Strand(name, process, thread);
        strands.put(thread, strand);
        thread.start();
        if (closed) {
            strand.kill(); // the close may have looked for threads before this one was there
        }
        lock.lock();
        try {
            makeReady(strand);
        } finally {
            lock.unlock();
        }
        return thread;
    }

    private void run(Runnable body) {
        Strand self = strands.get(Thread.currentThread());
        if (self == null) {
            return; // closed before it began
        }
        CURRENT.set(self);
        try {
            resume(self);
            body.run();
        } catch (Killed over) {
            // as it should be
        } finally {
            CURRENT.remove();
            strands.remove(self.thread());
            lock.lock();
            try {
                leave(self, Strand.State.ENDED);
            } finally {
                lock.unlock();
            }
        }
    }

    /** Whether a thread is one of the simulation's. */
    boolean isStrand(Thread thread) {
        return strands.containsKey(thread);
    }

    void park(Object blocker) {
        Strand self = self();
        if (self == null) {
            LockSupport.park(blocker);
            return;
        }
        live();
        lock.lock();
        try {
            if (self.permit || Thread.currentThread().isInterrupted()) {
                self.permit = false;
                return;
            }
            self.blocker = blocker;
            leave(self, Strand.State.PARKED);
        } finally {
            lock.unlock();
        }
        resume(self);
    }

    void unpark(Thread thread) {
        Strand strand = strands.get(thread);
        if (strand == null) {
            LockSupport.unpark(thread);
            return;
        }
        lock.lock();
        try {
            if (strand.state == Strand.State.PARKED) {
                makeReady(strand);
            } else {
                strand.permit = true;
            }
        } finally {
            lock.unlock();
        }
    }

    void interrupt(Thread thread) {
        Strand strand = strands.get(thread);
        if (strand == null) {
            thread.interrupt();
            return;
        }
        lock.lock();
        try {
            switch (strand.state) {
                case PARKED, AWAITING -> {
                    strand.interrupted = true;
                    makeReady(strand);
                }
                case READY -> strand.interrupted = true;
                case RUNNING, OUTSIDE -> thread.interrupt();
                case ENDED -> {}
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public boolean await(BooleanSupplier condition, long deadline) throws InterruptedException {
        Strand self = self();
        if (self == null) {
            return awaitOutside(condition, deadline);
        }
        while (true) {
            live();
            if (Thread.interrupted()) {
                throw new InterruptedException("interrupted while waiting");
            }
            long seen = changes;
            if (condition.getAsBoolean()) {
                return true;
            }
            if (deadline - now <= 0) {
                return false;
            }
            lock.lock();
            try {
                if (seen != changes) {
                    continue;
                }
                self.condition = condition;
                long wait = self.wait + 1;
                self.wait = wait;
                Timers.Due due = deadline == Long.MAX_VALUE
                        ? null
                        : timers.add(deadline, self.process, () -> timeUp(self, wait));
                self.due = due;
                awaiting.add(self);
                leave(self, Strand.State.AWAITING);
            } finally {
                lock.unlock();
            }
            resume(self);
        }
    }

    private void timeUp(Strand strand, long wait) {
        lock.lock();
        try {
            if (strand.state == Strand.State.AWAITING && strand.wait == wait) {
                makeReady(strand);
            }
        } finally {
            lock.unlock();
        }
    }

    /** A thread that is not the simulation's: drives if nobody does, else looks again and again. */
    private boolean awaitOutside(BooleanSupplier condition, long deadline) throws InterruptedException {
        while (!condition.getAsBoolean()) {
            if (deadline - now <= 0) {
                return false;
            }
            if (Thread.interrupted()) {
                throw new InterruptedException("interrupted while waiting");
            }
            if (closed) {
                throw new Killed();
            }
            if (!driving.isHeldByCurrentThread() && driving.tryLock()) {
                try {
                    if (drive(condition, deadline, () -> false) != End.REACHED) {
                        LockSupport.parkNanos(this, LOOK_NANOS); // if ever, it is somebody outside who changes that
                    }
                } finally {
                    driving.unlock();
                }
            } else {
                LockSupport.parkNanos(this, LOOK_NANOS);
            }
        }
        return true;
    }

    @Override
    public void changed() {
        List<Strand> asked;
        lock.lock();
        try {
            long counted = changes + 1; // written with the lock only
            changes = counted;
            if (awaiting.isEmpty()) {
                return;
            }
            asked = List.copyOf(awaiting);
        } finally {
            lock.unlock();
        }
        for (Strand strand : asked) {
            long wait = strand.wait;
            BooleanSupplier condition = strand.condition;
            if (condition != null && condition.getAsBoolean()) {
                timeUp(strand, wait);
            }
        }
    }

    // --- turns

    /** With the lock: the thread stops running for now or for ever. */
    private void leave(Strand self, Strand.State next) {
        boolean hadTurn = self.state == Strand.State.RUNNING;
        self.state = next;
        if (hadTurn) {
            passTurn();
        } else {
            outsideMoves++;
            wakeDriver();
        }
    }

    /** With the lock: lets the next one have the turn. */
    private void passTurn() {
        holder = null;
        Strand next = halt ? null : next();
        if (next == null) {
            wakeDriver();
            return;
        }
        ready.remove(next);
        next.state = Strand.State.RUNNING;
        holder = next;
        turns++;
        choices.note(next.name, now);
        next.giveTurn();
    }

    /** With the lock: whether a thread is ready that may run. */
    private boolean canRun() {
        return focus == null ? !ready.isEmpty() : ready.stream().anyMatch(this::mayRun);
    }

    private boolean mayRun(Strand strand) {
        return strand.process == focus || strand.process == kafka;
    }

    /** With the lock: who has the turn next, if anybody may. */
    private @Nullable Strand next() {
        if (ready.isEmpty()) {
            return null;
        }
        if (focus == null) {
            return ready.get(choices.next(ready.size()));
        }
        List<Strand> allowed = ready.stream().filter(this::mayRun).toList();
        return allowed.isEmpty() ? null : allowed.get(choices.next(allowed.size()));
    }

    /** With the lock. */
    private void makeReady(Strand strand) {
        if (strand.process.dead()) {
            return;
        }
        if (strand.state == Strand.State.AWAITING) {
            awaiting.remove(strand);
            strand.condition = null;
            if (strand.due != null) {
                timers.remove(strand.due);
                strand.due = null;
            }
        }
        strand.state = Strand.State.READY;
        strand.blocker = null;
        ready.add(strand);
        if (holder == null) {
            wakeDriver();
        }
    }

    /** With the lock. */
    private void wakeDriver() {
        if (driver != null) {
            LockSupport.unpark(driver);
        }
    }

    /** The thread itself: waits for its turn. */
    private void resume(Strand self) {
        boolean interrupted = self.awaitTurn(() -> interrupted(self));
        lock.lock();
        try {
            interrupted |= self.interrupted;
            self.interrupted = false;
        } finally {
            lock.unlock();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** A thread was interrupted by someone who does not know of the simulation. */
    private void interrupted(Strand strand) {
        lock.lock();
        try {
            if (strand.state == Strand.State.PARKED || strand.state == Strand.State.AWAITING) {
                makeReady(strand);
            }
        } finally {
            lock.unlock();
        }
    }

    /** The thread that asks, if it is one of this simulation's; one of another simulation's is as foreign as any. */
    private @Nullable Strand self() {
        Strand current = CURRENT.get();
        return current != null && current.process.belongsTo(this) ? current : null;
    }

    private void live() {
        Strand self = self();
        if (self != null ? self.killed() : closed) {
            throw new Killed();
        }
    }

    // --- driving

    /** Runs what can run, without letting time pass. */
    public End runNow() {
        return drive(() -> false, now, () -> false);
    }

    /**
     * Runs the simulation until it has reached something.
     *
     * @param reached asked when nothing can run; not under a lock
     * @param until how far time may go; if it is not reached before, time stands there in the end
     * @param waitForOutside whether to let threads outside go on before time does; asked when nothing can run
     */
    public End drive(BooleanSupplier reached, long until, BooleanSupplier waitForOutside) {
        return drive(reached, until, waitForOutside, null);
    }

    /**
     * As {@link #drive(BooleanSupplier, long, BooleanSupplier)}.
     *
     * @param only the process whose threads alone run meanwhile, beside Kafka's; null for all. Timers fire for all
     */
    public End drive(
            BooleanSupplier reached, long until, BooleanSupplier waitForOutside, @Nullable SimulatedProcess only) {
        requireTest();
        driving.lock();
        try {
            focus = only;
            while (true) {
                if (!runReady()) {
                    return End.RESTLESS;
                }
                if (reached.getAsBoolean()) {
                    return End.REACHED;
                }
                long seenMoves = outsideMoves();
                if (waitForOutside.getAsBoolean()) {
                    if (!awaitReady(() -> reached.getAsBoolean() || !waitForOutside.getAsBoolean(), seenMoves)) {
                        return End.OUTSIDE;
                    }
                } else if (!passTime(until)) {
                    return End.TIME_UP;
                }
            }
        } finally {
            focus = null;
            driving.unlock();
        }
    }

    /**
     * Refuses a thread of an application's, which would wait for itself.
     *
     * @throws IllegalStateException if it is one
     */
    public void requireTest() {
        Strand self = self();
        if (self != null) {
            throw new IllegalStateException(
                    "Only a test drives an application and ends it, not the application's own thread "
                            + self.name
                            + ", which would wait for itself. A handler publishes with delivery.publisher(), waits on"
                            + " the TestClock, and fails or stops its application as in production");
        }
    }

    /** Whether a thread of the simulation waits for a future that has not been completed. */
    public boolean waitsForFuture(Thread thread) {
        Strand strand = strands.get(thread);
        return strand != null
                && strand.state == Strand.State.PARKED
                && strand.blocker instanceof CompletableFuture<?> future
                && !future.isDone();
    }

    /** Whether a thread runs or blocks outside of the simulation. Nobody waits for those of dead processes. */
    public boolean anyOutside() {
        return strands.values().stream().anyMatch(Simulation::isOutside);
    }

    /** Whether a thread of one process, or of Kafka's, runs or blocks outside of the simulation. */
    public boolean anyOutside(SimulatedProcess process) {
        return strands.values().stream()
                .anyMatch(strand -> isOutside(strand) && (strand.process == process || strand.process == kafka));
    }

    private static boolean isOutside(Strand strand) {
        return strand.state == Strand.State.OUTSIDE && !strand.process.dead();
    }

    /** Whether whatever waits outside waits for a lock, which a thread that waits in the simulation may hold. */
    public boolean onlyLocksOutside() {
        return strands.values().stream().filter(Simulation::isOutside).allMatch(Strand::waitsForLock);
    }

    /** Whether a thread of the simulation waits in it. */
    public boolean waitsInside(Thread thread) {
        Strand strand = strands.get(thread);
        return strand != null
                && (strand.state == Strand.State.PARKED || strand.state == Strand.State.AWAITING)
                && !strand.process.dead();
    }

    /** What threads there are and what they do, for messages. */
    public List<String> threads() {
        lock.lock();
        try {
            return strands.values().stream()
                    .filter(strand -> !strand.process.dead())
                    .map(Strand::toString)
                    .sorted()
                    .toList();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Moves time to the next timer and runs what is due then; false if that is after {@code until}. Time does not move if a
     * thread outside has made something ready meanwhile.
     */
    private boolean passTime(long until) {
        lock.lock();
        try {
            if (canRun()) {
                return true;
            }
            long next = timers.next();
            if (next > until || next == Long.MAX_VALUE) {
                // The end of time is never reached: nothing is due then, and the time stays where all can still add to
                // it.
                now = until == Long.MAX_VALUE ? now : Math.max(now, until);
                return false;
            }
            now = Math.max(now, next);
        } finally {
            lock.unlock();
        }
        for (Timers.Due due = takeDue(); due != null; due = takeDue()) {
            due.task().run();
        }
        return true;
    }

    private Timers.@Nullable Due takeDue() {
        lock.lock();
        try {
            return timers.take(now);
        } finally {
            lock.unlock();
        }
    }

    /** Lets threads run until none is ready; false if that does not end. */
    private boolean runReady() {
        lock.lock();
        try {
            driver = Thread.currentThread();
            halt = false;
            long firstTurn = turns;
            long seenTurn = -1;
            int same = 0;
            int blocked = 0;
            while (true) {
                if (holder == null) {
                    if (halt && canRun()) {
                        return false;
                    }
                    passTurn();
                    if (holder == null) {
                        return true;
                    }
                }
                look();
                halt = turns - firstTurn > mostTurns;
                Strand running = holder;
                if (running != null) {
                    same = turns == seenTurn ? same + 1 : 0;
                    blocked = same > 0 && running.blockedOutside() ? blocked + 1 : 0;
                    seenTurn = turns;
                    if (blocked >= BLOCKED_LOOKS || same >= patientLooks) {
                        goOnWithout(running);
                        same = 0;
                        blocked = 0;
                    }
                }
            }
        } finally {
            driver = null;
            lock.unlock();
        }
    }

    /** With the lock, which is given back meanwhile: waits for something to happen, or for a moment. */
    private void look() {
        lock.unlock();
        try {
            LockSupport.parkNanos(this, LOOK_NANOS);
        } finally {
            lock.lock();
        }
    }

    /** With the lock: a thread that has the turn does not use it. */
    private void goOnWithout(Strand strand) {
        strand.state = Strand.State.OUTSIDE;
        holder = null;
        outsiders++;
    }

    /**
     * Waits, in real time, until the world outside has made something ready or there is nothing to wait for any more.
     *
     * @param enough asked again and again: a thread outside that ran when it was looked at may wait for a lock by now
     * @param seenMoves how often threads outside had moved before it was found that they are to be waited for: one that has
     *     moved since may be what that was about
     */
    private boolean awaitReady(BooleanSupplier enough, long seenMoves) {
        lock.lock();
        try {
            driver = Thread.currentThread();
            for (int looks = 0; !canRun() && seenMoves == outsideMoves; looks++) {
                if (looks >= patientLooks) {
                    return false;
                }
                look();
                lock.unlock();
                try {
                    if (enough.getAsBoolean()) {
                        return true;
                    }
                } finally {
                    lock.lock();
                }
            }
            return true;
        } finally {
            driver = null;
            lock.unlock();
        }
    }

    private long outsideMoves() {
        lock.lock();
        try {
            return outsideMoves;
        } finally {
            lock.unlock();
        }
    }

    // --- the end

    boolean closed() {
        return closed;
    }

    void die(SimulatedProcess process) {
        lock.lock();
        try {
            process.markDead();
            timers.forget(process);
            ready.removeIf(strand -> strand.process == process);
            awaiting.removeIf(strand -> strand.process == process);
        } finally {
            lock.unlock();
        }
    }

    /** Ends all threads, those of processes that have died too, and interrupts those that block outside. */
    @Override
    public void close() {
        closed = true;
        strands.values().forEach(Strand::kill);
    }
}
