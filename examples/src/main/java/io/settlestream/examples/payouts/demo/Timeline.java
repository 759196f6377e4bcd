package io.settlestream.examples.payouts.demo;

import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** What happens to the service's processes, and when: at which part of the payouts committed, from 0 to 1. */
final class Timeline {

    /** Nothing is planned after this part: what happens takes time, and must happen mid-stream. */
    private static final double LAST = 0.85;

    private static final double FIRST = 0.05;

    private final PriorityQueue<Step> steps = new PriorityQueue<>(Comparator.comparingDouble(Step::at));

    /** One thing that happens. */
    sealed interface Step {

        /** The part of the payouts that must be committed before. */
        double at();

        /** A member joins, for the first time or again. */
        record Join(double at, int member) implements Step {}

        /** A member stops gracefully. */
        record Leave(double at, int member) implements Step {}

        /** Some member is killed. */
        record Kill(double at) implements Step {}
    }

    /**
     * Member 0 is there from the beginning; the others join one by one in the first half, and one of all leaves and
     * comes back in the second. Kills are spread over the whole, each at a random moment of its share.
     */
    Timeline(int members, int kills, Random random) {
        for (int member = 1; member < members; member++) {
            steps.add(new Step.Join(FIRST + 0.4 * (member - 1) / (members - 1), member));
        }
        if (members > 1) {
            int restless = random.nextInt(members);
            steps.add(new Step.Leave(0.5, restless));
            steps.add(new Step.Join(0.6, restless));
        }
        for (int kill = 0; kill < kills; kill++) {
            steps.add(new Step.Kill(FIRST + (LAST - FIRST) * (kill + random.nextDouble()) / kills));
        }
    }

    /** Takes the next step if its time has come. */
    @Nullable
    Step due(double progress) {
        Step next = steps.peek();
        return next != null && next.at() <= progress ? steps.poll() : null;
    }

    /** Puts back a step that could not be taken, to be tried again. */
    void again(Step step) {
        steps.add(step);
    }

    /** Adds a kill at a random moment after {@code progress}; none if it is too late for one. */
    void killLater(double progress, Random random) {
        if (progress < LAST) {
            steps.add(new Step.Kill(progress + (LAST - progress) * random.nextDouble()));
        }
    }

    /** Whether everything has happened. */
    boolean over() {
        return steps.isEmpty();
    }
}
