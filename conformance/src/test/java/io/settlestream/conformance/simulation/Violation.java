package io.settlestream.conformance.simulation;

/** A rule of the semantics that a run broke; thrown to end the run, or kept where nothing may be thrown. */
final class Violation extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String rule;

    /** @param rule its number, as in the semantics, and what it says in a word */
    Violation(String rule, String what) {
        super(rule + ": " + what);
        this.rule = rule;
    }

    String rule() {
        return rule;
    }
}
