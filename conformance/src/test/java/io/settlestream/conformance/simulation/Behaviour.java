package io.settlestream.conformance.simulation;

import io.settlestream.Context;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * What handlers do with a record: the same for the same seed, record and try, whoever handles it. Once the run is healed,
 * all answer at once with success.
 */
final class Behaviour {

    /** How a handler ends. */
    enum Answer {
        ACK,
        DROP,
        RETRY,
        THROW,
        /** Wants it again after a delay. */
        LATER,
        /** Gives it up. */
        GIVE_UP
    }

    /**
     * What a handler does in one try.
     *
     * @param sleep how long it takes, in virtual time
     * @param stubborn whether it goes on when it is interrupted
     * @param publishes whether it publishes something by hand, and waits for it
     * @param answer how it ends
     * @param delay how long the record is to wait, if it is to
     */
    record Step(Duration sleep, boolean stubborn, boolean publishes, Answer answer, Duration delay) {}

    private final long seed;
    private final Map<String, Integer> tries = new HashMap<>();
    private volatile boolean healed;

    Behaviour(long seed) {
        this.seed = seed;
    }

    void heal() {
        healed = true;
    }

    boolean healed() {
        return healed;
    }

    /** What happens in the next try at a record. */
    synchronized Step next(SubscriptionPlan subscription, Context<?> delivery) {
        if (healed) {
            return new Step(Duration.ZERO, false, false, Answer.ACK, Duration.ZERO);
        }
        String record = subscription.name() + " " + Original.of(delivery);
        int attempt = tries.merge(record, 1, Integer::sum);
        SplittableRandom mood = Ids.chance(seed, record);
        SplittableRandom now = Ids.chance(seed, record, attempt);
        Duration sleep = sleep(now);
        boolean stubborn = now.nextInt(30) == 0;
        boolean publishes = now.nextInt(10) == 0;
        Answer answer = recovered(subscription, answer(subscription, mood, now, attempt), now);
        return new Step(sleep, stubborn, publishes, answer, delay(answer, now));
    }

    /** What would be tried again at once, may wait or be given up where that is possible. */
    private static Answer recovered(SubscriptionPlan subscription, Answer answer, SplittableRandom now) {
        RecoveryPlan recovery = subscription.recovery();
        if (answer != Answer.RETRY || recovery.equals(RecoveryPlan.NONE)) {
            return answer;
        }
        int kind = now.nextInt(100);
        if (kind < 45) {
            return recovery.delays() ? Answer.LATER : Answer.RETRY;
        }
        return kind < 60 && recovery.deadLetterTopic().isPresent() ? Answer.GIVE_UP : Answer.RETRY;
    }

    private static Duration delay(Answer answer, SplittableRandom now) {
        if (answer != Answer.LATER) {
            return Duration.ZERO;
        }
        int kind = now.nextInt(100);
        int most = kind < 15 ? 1 : kind < 60 ? 500 : kind < 85 ? 6_000 : (int) RecoveryPlan.LONGEST_DELAY.toMillis();
        return Duration.ofMillis(now.nextInt(most));
    }

    private static Duration sleep(SplittableRandom now) {
        int kind = now.nextInt(100);
        if (kind < 60) {
            return Duration.ZERO;
        }
        return Duration.ofMillis(kind < 95 ? now.nextInt(1, 300) : now.nextInt(300, 6_000));
    }

    private static Answer answer(
            SubscriptionPlan subscription, SplittableRandom mood, SplittableRandom now, int attempt) {
        boolean plain = subscription.recovery().equals(RecoveryPlan.NONE);
        int troubles = mood.nextInt(100) < (plain ? 25 : 40) ? mood.nextInt(1, plain ? 5 : 8) : 0;
        if (attempt > troubles) {
            return now.nextInt(8) == 0 ? Answer.DROP : Answer.ACK;
        }
        int throwsOf = subscription.onException() == OnException.FAIL_FAST ? 20 : 3;
        return now.nextInt(throwsOf) == 0 ? Answer.THROW : Answer.RETRY;
    }
}
