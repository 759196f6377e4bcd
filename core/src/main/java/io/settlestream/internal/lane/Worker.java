package io.settlestream.internal.lane;

import io.settlestream.internal.settle.Unit;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * One thread that runs handlers, and what it has in hand.
 *
 * <p>The poll thread must be able to tell whether a partition's handlers still run, and to interrupt a handler whose
 * delivery was given up, without ever hitting the next one. Both are answered by one field:
 *
 * <pre>
 *   null ----> TAKING ----> unit ----> TAKING ----> ... ----> null (parked)
 *                            |
 *                            +--> GivenUp(unit) ----> TAKING
 * </pre>
 *
 * The worker moves along the first line. Only the poll thread replaces a unit by {@link GivenUp}, interrupts, and then
 * says so in it; a worker that finds its unit replaced waits for that word, which is a few instructions away, and clears
 * the interrupt before it goes on.
 *
 * <p>Order matters in one more place: a worker shows the unit here before it marks the record as handed over and asks
 * whether it is admitted; the poll thread forbids first and looks here second. So either the worker is refused or it is
 * seen.
 */
final class Worker {

    private static final VarHandle IN_HAND;

    static {
        try {
            IN_HAND = MethodHandles.lookup().findVarHandle(Worker.class, "inHand", Object.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Between two units: about to have one, or to park. */
    private static final Object TAKING = new Object();

    /** A unit whose deliveries, or some of them, were given up while the handler ran. */
    static final class GivenUp {
        final Unit unit;
        final long since;
        private volatile boolean told;

        GivenUp(Unit unit, long since) {
            this.unit = unit;
            this.since = since;
        }
    }

    private final Lanes lanes;
    private volatile @Nullable Object inHand;
    private volatile @Nullable Thread thread;

    Worker(Lanes lanes) {
        this.lanes = lanes;
    }

    // --- the worker's side

    void bind(Thread current) {
        thread = current;
        inHand = TAKING;
    }

    /** Shows that something may be in hand any moment. */
    void taking() {
        if (inHand == null) {
            inHand = TAKING;
        }
    }

    void begin(Unit unit) {
        inHand = unit;
    }

    /** Nothing came of {@link #begin}: the unit was refused. */
    void refused() {
        inHand = TAKING;
    }

    /** The unit's handler has returned. */
    void end(Unit unit) {
        if (!IN_HAND.compareAndSet(this, unit, TAKING)) {
            GivenUp givenUp = (GivenUp) inHand;
            while (givenUp != null && !givenUp.told) {
                Thread.onSpinWait();
            }
            inHand = TAKING;
            lanes.givenUpEnded();
        }
        // Also what the handler left behind itself: the next one must not find it.
        boolean unused = Thread.interrupted();
    }

    void parked() {
        inHand = null;
    }

    // --- the poll thread's side

    boolean runsOn(Thread candidate) {
        return thread == candidate;
    }

    boolean idle() {
        return inHand == null;
    }

    @Nullable
    Unit unit() {
        Object now = inHand;
        return now instanceof Unit unit ? unit : null;
    }

    @Nullable
    GivenUp givenUp() {
        return inHand instanceof GivenUp givenUp ? givenUp : null;
    }

    /** Gives up the unit if it is still in hand, and interrupts its handler if nobody waits for any of it. */
    boolean giveUp(Unit unit, long now) {
        GivenUp givenUp = new GivenUp(unit, now);
        if (!IN_HAND.compareAndSet(this, unit, givenUp)) {
            return false;
        }
        Thread running = thread;
        if (running != null && unit.cancelled()) {
            running.interrupt();
        }
        givenUp.told = true;
        return true;
    }
}
