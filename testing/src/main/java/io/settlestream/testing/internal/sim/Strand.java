package io.settlestream.testing.internal.sim;

import java.util.concurrent.locks.AbstractOwnableSynchronizer;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A thread of a simulation.
 *
 * <pre>
 *   READY --turn--> RUNNING --park, await--> PARKED, AWAITING --unpark, condition, time--> READY
 *                      |
 *                      +--blocks in something that is not the simulation's--> OUTSIDE --park, await--> PARKED, AWAITING
 *                      |
 *                      +--ends--> ENDED
 * </pre>
 *
 * All of it but {@link #turn} is guarded by the simulation's lock.
 */
final class Strand {

    enum State {
        READY,
        RUNNING,
        PARKED,
        AWAITING,
        /** Runs or blocks without having the turn: the simulation has gone on without it. */
        OUTSIDE,
        ENDED
    }

    final String name;
    final SimulatedProcess process;
    volatile State state = State.READY;

    /** As of {@link LockSupport}: the next park returns at once. */
    boolean permit;

    /** To be set on the thread when it goes on. */
    boolean interrupted;

    /** What a parked thread said it waits for. */
    volatile @Nullable Object blocker;

    /** What an awaiting thread waits for. Read without the lock by whoever has changed something. */
    volatile @Nullable BooleanSupplier condition;

    /** When its wait ends at the latest. */
    Timers.@Nullable Due due;

    /** Numbers waits, so that a late wake-up does not end the next one. */
    volatile long wait;

    private final Thread thread;
    private volatile boolean turn;
    private volatile boolean killed;

    Strand(String name, SimulatedProcess process, Thread thread) {
        this.name = name;
        this.process = process;
        this.thread = thread;
    }

    Thread thread() {
        return thread;
    }

    /** Lets the thread go on. */
    void giveTurn() {
        turn = true;
        LockSupport.unpark(thread);
    }

    /** Makes the thread end where it waits, and whatever it asks of the simulation fail. */
    void kill() {
        killed = true;
        LockSupport.unpark(thread);
        if (state == State.OUTSIDE || state == State.RUNNING) {
            thread.interrupt(); // it waits for something else, perhaps for ever
        }
    }

    boolean killed() {
        return killed;
    }

    /** Whether the thread has the turn and waits for something else. */
    boolean blockedOutside() {
        return !turn
                && switch (thread.getState()) {
                    case BLOCKED, WAITING, TIMED_WAITING -> true;
                    case NEW, RUNNABLE, TERMINATED -> false;
                };
    }

    /** Whether the thread waits for a monitor, or for a lock that has an owner. */
    boolean waitsForLock() {
        return thread.getState() == Thread.State.BLOCKED
                || LockSupport.getBlocker(thread) instanceof AbstractOwnableSynchronizer;
    }

    /**
     * The thread itself waits for its turn.
     *
     * @return whether it was interrupted from outside of the simulation meanwhile; the flag is clear
     */
    boolean awaitTurn(Runnable onInterrupt) {
        boolean interrupted = false;
        while (!turn && !killed) {
            LockSupport.park(this);
            if (Thread.interrupted()) {
                interrupted = true;
                onInterrupt.run();
            }
        }
        turn = false;
        if (killed) {
            throw new Killed();
        }
        return interrupted;
    }

    @Override
    public String toString() {
        return name + " " + state
                + (blocker == null ? "" : " in " + blocker.getClass().getSimpleName());
    }
}
