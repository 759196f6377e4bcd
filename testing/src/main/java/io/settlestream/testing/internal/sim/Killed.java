package io.settlestream.testing.internal.sim;

/** Unwinds a thread whose simulation is over. An error, so that no handler takes it for a failure of its own. */
final class Killed extends Error {

    private static final long serialVersionUID = 1L;

    Killed() {
        super("the simulation that this thread belonged to is over", null, false, false);
    }
}
