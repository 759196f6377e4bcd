package io.settlestream.conformance.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.function.LongFunction;
import java.util.stream.LongStream;

/** Runs seeds one after the other and shows the first one that breaks a rule. */
final class SeedRow {

    /** How many seeds of the fixed row run; half of them in each of two JVMs. */
    static final int FIXED = Integer.getInteger("simulation.seeds", 1_600);

    private SeedRow() {}

    static void run(LongStream seeds) {
        run(seeds, SimulationRun::of);
    }

    static void run(LongStream seeds, LongFunction<RunResult> how) {
        List<RunResult> failed = seeds.mapToObj(how)
                .filter(result -> result.violation().isPresent())
                .toList();
        if (!failed.isEmpty()) {
            System.out.println(failed.get(0).report());
        }
        assertThat(failed)
                .as("seeds that broke a rule; the first one's trace is on standard output")
                .extracting(result ->
                        result.plan().seed() + ": " + result.violation().orElseThrow())
                .isEmpty();
    }
}
