package io.settlestream.conformance.simulation;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The first violation of a run, wherever it was seen. */
final class Violations {

    private final Trace trace;
    private @Nullable Violation first;

    Violations(Trace trace) {
        this.trace = trace;
    }

    synchronized void add(Violation violation) {
        if (first == null) {
            first = violation;
            trace.add("VIOLATION of " + violation.getMessage());
        }
    }

    void add(String rule, String what) {
        add(new Violation(rule, what));
    }

    synchronized Optional<Violation> first() {
        return Optional.ofNullable(first);
    }

    /** Ends the run if there was one. */
    void check() {
        first().ifPresent(violation -> {
            throw violation;
        });
    }
}
