package io.settlestream.internal.lane;

import io.settlestream.internal.settle.Delivery;
import io.settlestream.internal.settle.Unit;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.Objects;
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
 *                            +--> GivenUp(unit) -+--> TAKING
 *                                    ^           |
 *                                    +-----------+   more of its deliveries were given up
 * </pre>
 *
 * The worker moves along the first line. Only the poll thread replaces a unit by {@link GivenUp}, interrupts, and then
 * says so in it; a worker that finds its unit replaced waits for that word, which is a few instructions away, and clears
 * the interrupt before it goes on.
 *
 * <p>Order matters in one more place: a worker shows the unit here before it marks the record as handed over and asks
 * whether it is admitted; the poll thread forbids first and looks here second. So either the worker is refused or it is
 * seen. It may be both, and given up while it is refused, so a refused unit ends like one that was handled.
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

        /** Whether some of it had been given up before. */
        final boolean again;

        /** Whether nobody waits for any of it, so that its handler is interrupted, unless that asked for it. */
        private final boolean interrupts;

        private volatile boolean told;

        GivenUp(Unit unit, @Nullable GivenUp before, long now) {
            this.unit = unit;
            this.since = before == null ? now : before.since;
            this.again = before != null;
            this.interrupts = unit.cancelled() && !unit.spared();
        }

        boolean interrupts() {
            return interrupts;
        }

        /** The first of its deliveries that was given up. */
        Delivery first() {
            List<Delivery> deliveries = unit.deliveries();
            return deliveries.stream().filter(Delivery::cancelled).findFirst().orElse(deliveries.get(0));
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

    /** Shows what is left of a unit of which some was refused; returns what is to be ended. */
    <U extends Unit> U narrow(U unit, U rest) {
        return IN_HAND.compareAndSet(this, unit, rest) ? rest : unit;
    }

    /** The unit's handler has returned, or the unit was refused. */
    void end(Unit unit) {
        if (!IN_HAND.compareAndSet(this, unit, TAKING)) {
            GivenUp givenUp;
            do {
                givenUp = (GivenUp) Objects.requireNonNull(inHand);
                while (!givenUp.told) {
                    Thread.onSpinWait();
                }
            } while (!IN_HAND.compareAndSet(this, givenUp, TAKING));
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

    /** What is in hand, given up or not. */
    @Nullable
    Unit unit() {
        return unitOf(inHand);
    }

    @Nullable
    GivenUp givenUp() {
        return inHand instanceof GivenUp givenUp ? givenUp : null;
    }

    private static @Nullable Unit unitOf(@Nullable Object shown) {
        return shown instanceof GivenUp givenUp ? givenUp.unit : shown instanceof Unit unit ? unit : null;
    }

    /**
     * Gives up the unit in hand if nobody waits for some of it any more, and interrupts its handler once nobody waits for
     * any of it, unless that is what the handler asked for.
     *
     * @return what was given up; null if that changed nothing
     */
    @Nullable
    GivenUp giveUp(long now) {
        Object shown = inHand;
        Unit unit = unitOf(shown);
        if (unit == null || unit.deliveries().stream().noneMatch(Delivery::cancelled)) {
            return null;
        }
        GivenUp before = shown instanceof GivenUp earlier ? earlier : null;
        GivenUp givenUp = new GivenUp(unit, before, now);
        if (before != null && before.interrupts == givenUp.interrupts) {
            return null;
        }
        if (!IN_HAND.compareAndSet(this, shown, givenUp)) {
            return null;
        }
        Thread running = thread;
        if (running != null && givenUp.interrupts) {
            lanes.scheduler.interrupt(running);
        }
        givenUp.told = true;
        return givenUp;
    }
}
