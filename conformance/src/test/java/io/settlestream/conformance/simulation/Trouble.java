package io.settlestream.conformance.simulation;

/** A handler's own trouble. */
final class Trouble extends Exception {

    private static final long serialVersionUID = 1L;

    Trouble(String where) {
        super("trouble with " + where, null, false, false);
    }
}
