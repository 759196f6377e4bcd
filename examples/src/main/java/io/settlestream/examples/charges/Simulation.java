package io.settlestream.examples.charges;

import java.util.SplittableRandom;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;

/** A gateway that is busy or down now and then, the same way for the same seed. Thread-safe. */
public final class Simulation {

    /** More than this the gateway never takes. */
    public static final long LIMIT_CENTS = 1_000_000;

    private Simulation() {}

    /**
     * A gateway that fails some of its calls, and refuses charges of more than {@link #LIMIT_CENTS}.
     *
     * @param busyRate the part of the calls for which it is busy, 0 to 1
     * @param downRate the part of the calls that it does not answer, 0 to 1
     */
    public static Gateway gateway(double busyRate, double downRate, long seed) {
        AtomicLong calls = new AtomicLong();
        return (chargeId, cents) -> {
            if (cents > LIMIT_CENTS) {
                throw new IllegalArgumentException("more than the gateway takes at once");
            }
            double chance = new SplittableRandom(seed ^ (calls.incrementAndGet() * 0x9E3779B97F4A7C15L)).nextDouble();
            if (chance < downRate) {
                throw new TimeoutException("the gateway does not answer");
            }
            return chance >= downRate + busyRate;
        };
    }
}
