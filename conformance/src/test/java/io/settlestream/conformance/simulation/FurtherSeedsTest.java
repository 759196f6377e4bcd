package io.settlestream.conformance.simulation;

import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The second half of the fixed row and seeds that nobody has run: beside {@link SimulationTest}, in a JVM of its own. */
@Timeout(600)
@Tag("simulation")
class FurtherSeedsTest {

    private static final int FRESH = 100;

    @Test
    @DisplayName("No seed of the second half of a fixed row breaks a rule")
    void fixed() {
        SeedRow.run(LongStream.range(SeedRow.FIXED / 2, SeedRow.FIXED));
    }

    @Test
    @DisplayName("No seed that has never been run breaks a rule")
    void fresh() {
        long from = new SplittableRandom().nextLong(1L << 40);
        System.out.println("simulation: fresh seeds from " + from + ", again with bin/simulate --seeds " + FRESH
                + " --from " + from);
        SeedRow.run(LongStream.range(from, from + FRESH));
    }
}
