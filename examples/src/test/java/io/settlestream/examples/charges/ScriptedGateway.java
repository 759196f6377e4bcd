package io.settlestream.examples.charges;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;

/** A gateway that is busy, down or astonished as often as a test says, then takes everything, and notes what. Thread-safe. */
final class ScriptedGateway implements Gateway {

    private final List<Long> taken = new ArrayList<>();
    private int asked;
    private int busy;
    private int down;
    private boolean broken;

    /** Turns away the next calls. */
    synchronized ScriptedGateway busy(int calls) {
        busy = calls;
        return this;
    }

    /** Does not answer the next calls. */
    synchronized ScriptedGateway down(int calls) {
        down = calls;
        return this;
    }

    /** Fails in a way that nobody has thought of. */
    synchronized ScriptedGateway broken() {
        broken = true;
        return this;
    }

    @Override
    public synchronized boolean take(long chargeId, long cents) throws TimeoutException {
        asked++;
        if (broken) {
            throw new IllegalStateException("no route");
        }
        if (cents > Simulation.LIMIT_CENTS) {
            throw new IllegalArgumentException("more than the gateway takes at once");
        }
        if (down > 0) {
            down--;
            throw new TimeoutException("the gateway does not answer");
        }
        if (busy > 0) {
            busy--;
            return false;
        }
        taken.add(chargeId);
        return true;
    }

    /** How often it was asked. */
    synchronized int asked() {
        return asked;
    }

    /** The charges it has taken, in their order. */
    synchronized List<Long> taken() {
        return List.copyOf(taken);
    }
}
