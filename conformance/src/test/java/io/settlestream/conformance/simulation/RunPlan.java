package io.settlestream.conformance.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * What a seed stands for, as far as it is known before the run.
 *
 * @param seed the seed
 * @param subscriptions what the application reads, and how
 * @param steps how many things happen before the run heals
 * @param faults whether things go wrong, or only chance is at work
 * @param transactions whether some of the input is transactional
 * @param recovery whether subscriptions have caps, dead letters, delays and retry topics, and are paused now and then
 */
record RunPlan(
        long seed,
        List<SubscriptionPlan> subscriptions,
        int steps,
        boolean faults,
        boolean transactions,
        boolean recovery) {

    static RunPlan of(long seed) {
        SplittableRandom random = Ids.chance(seed, "plan");
        List<SubscriptionPlan> subscriptions = new ArrayList<>();
        // Of its own, so that half of the runs have nothing of it and are what they would be without.
        SplittableRandom recovery = Ids.chance(seed, "recovery");
        SplittableRandom means = recovery.nextBoolean() ? recovery : null;
        int count = random.nextInt(10) < 6 ? 1 : random.nextInt(2, 4);
        for (int i = 0; i < count; i++) {
            subscriptions.add(SubscriptionPlan.draw(i, random, means));
        }
        return new RunPlan(
                seed,
                List.copyOf(subscriptions),
                random.nextInt(5, 40),
                random.nextInt(5) > 0,
                random.nextInt(3) == 0,
                means != null);
    }

    /** The subscription of this name. */
    SubscriptionPlan subscription(String name) {
        return subscriptions.stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow();
    }
}
