package io.settlestream.conformance.simulation;

import java.util.SplittableRandom;

/** Chance that belongs to a thing instead of to the moment: the same for the same seed, whenever it is asked. */
final class Ids {

    private Ids() {}

    static SplittableRandom chance(long seed, Object... of) {
        long mixed = seed;
        for (Object part : of) {
            mixed = mixed * 0x9E3779B97F4A7C15L + String.valueOf(part).hashCode();
            mixed ^= mixed >>> 29;
        }
        return new SplittableRandom(mixed);
    }
}
