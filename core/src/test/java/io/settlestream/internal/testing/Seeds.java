package io.settlestream.internal.testing;

import java.util.SplittableRandom;

/**
 * Runs of a random test. Each has a seed of its own, which is in the message when it fails; {@code -Dtest.seed=4711}
 * gives every run that one.
 */
public final class Seeds {

    /** One run. */
    @FunctionalInterface
    public interface Run {
        void with(SplittableRandom random) throws Exception;
    }

    private Seeds() {}

    public static void each(int runs, Run run) {
        Long given = Long.getLong("test.seed");
        SplittableRandom seeds = new SplittableRandom();
        for (int i = 0; i < runs; i++) {
            long seed = given != null ? given : seeds.nextLong();
            try {
                run.with(new SplittableRandom(seed));
            } catch (Exception | AssertionError failure) {
                throw new AssertionError(
                        "run " + i + " failed, again with -Dtest.seed=" + seed + ": " + failure.getMessage(), failure);
            }
        }
    }
}
