package io.settlestream.examples.payouts;

import java.time.Duration;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** A bank and an analytics store that fail now and then, the same way for the same seed. Thread-safe. */
public final class Simulation {

    private Simulation() {}

    /**
     * A bank that takes {@code delay} for each call and refuses some payouts, each of them once in the life of this
     * process. Which ones depends on the seed and the payout's id alone.
     *
     * @param refusalRate the part of the payouts that is refused, 0 to 1
     */
    public static Bank bank(double refusalRate, Duration delay, long seed) {
        Set<Long> refused = ConcurrentHashMap.newKeySet();
        return (payoutId, amountCents) -> {
            Thread.sleep(delay);
            return !chosen(refusalRate, seed, payoutId) || !refused.add(payoutId);
        };
    }

    /**
     * A store that fails some of its calls.
     *
     * @param failureRate the part of the calls that fails, 0 to 1
     */
    public static AnalyticsStore analytics(double failureRate, long seed) {
        AtomicLong calls = new AtomicLong();
        return page -> !chosen(failureRate, seed, calls.incrementAndGet());
    }

    private static boolean chosen(double rate, long seed, long number) {
        return new SplittableRandom(seed ^ (number * 0x9E3779B97F4A7C15L)).nextDouble() < rate;
    }
}
