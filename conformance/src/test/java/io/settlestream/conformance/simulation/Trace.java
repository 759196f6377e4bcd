package io.settlestream.conformance.simulation;

import io.settlestream.testing.internal.sim.Simulation;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** What happened in a run, a line for each thing, with the virtual time. Used by one thread at a time. */
final class Trace {

    private final Supplier<Instant> clock;
    private final List<String> lines = new ArrayList<>();

    Trace(Supplier<Instant> clock) {
        this.clock = clock;
    }

    synchronized void add(String line) {
        Duration since = Duration.between(Simulation.BEGIN, clock.get());
        lines.add(String.format("%10.3f  %s", since.toNanos() / 1e9, line));
    }

    synchronized List<String> lines() {
        return List.copyOf(lines);
    }
}
