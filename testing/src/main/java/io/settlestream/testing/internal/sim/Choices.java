package io.settlestream.testing.internal.sim;

import java.util.OptionalLong;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Decides what is left open, as usual or by chance, and keeps a fingerprint of all decisions, so that two runs can be told
 * to be the same. Not thread-safe: asked with the simulation's lock.
 */
final class Choices {

    /** Of a million: how often a thread that could go on lets others go first, when chance decides. */
    private static final int YIELDS = 200_000;

    private final @Nullable SplittableRandom random;
    private final OptionalLong seed;
    private long fingerprint = 1;

    private Choices(OptionalLong seed) {
        this.seed = seed;
        this.random = seed.isPresent() ? new SplittableRandom(seed.getAsLong()) : null;
    }

    /** Everything takes its usual course. */
    static Choices usual() {
        return new Choices(OptionalLong.empty());
    }

    /** Chance decides, reproducibly. */
    static Choices seeded(long seed) {
        return new Choices(OptionalLong.of(seed));
    }

    OptionalLong seed() {
        return seed;
    }

    /** A value from {@code low} to {@code high}, both included. */
    long choose(String what, long low, long high, long usual) {
        if (low > high || usual < low || usual > high) {
            throw new IllegalArgumentException(
                    what + ": " + usual + " is usual, but must lie between " + low + " and " + high);
        }
        long chosen = random == null || low == high ? usual : random.nextLong(low, high + 1);
        note(what, chosen);
        return chosen;
    }

    /** Which of {@code ready} threads runs next. The usual one is the one that has been ready for longest. */
    int next(int ready) {
        return random == null || ready == 1 ? 0 : random.nextInt(ready);
    }

    /** Whether a thread that could go on lets others go first. */
    boolean yields() {
        return random != null && random.nextInt(1_000_000) < YIELDS;
    }

    /** Takes part in the fingerprint. */
    void note(String what, long value) {
        fingerprint = fingerprint * 31 + what.hashCode();
        fingerprint = fingerprint * 31 + value;
    }

    long fingerprint() {
        return fingerprint;
    }
}
