package io.settlestream.conformance.simulation;

import io.settlestream.Context;
import io.settlestream.ExceptionPolicy;
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
        THROW
    }

    /**
     * What a handler does in one try.
     *
     * @param sleep how long it takes, in virtual time
     * @param stubborn whether it goes on when it is interrupted
     * @param publishes whether it publishes something by hand, and waits for it
     * @param answer how it ends
     */
    record Step(Duration sleep, boolean stubborn, boolean publishes, Answer answer) {}

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
            return new Step(Duration.ZERO, false, false, Answer.ACK);
        }
        String record =
                subscription.name() + " " + delivery.topic() + "-" + delivery.partition() + "@" + delivery.offset();
        int attempt = tries.merge(record, 1, Integer::sum);
        SplittableRandom mood = Ids.chance(seed, record);
        SplittableRandom now = Ids.chance(seed, record, attempt);
        return new Step(
                sleep(now), now.nextInt(30) == 0, now.nextInt(10) == 0, answer(subscription, mood, now, attempt));
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
        int troubles = mood.nextInt(100) < 25 ? mood.nextInt(1, 5) : 0;
        if (attempt > troubles) {
            return now.nextInt(8) == 0 ? Answer.DROP : Answer.ACK;
        }
        int throwsOf = subscription.onException() == ExceptionPolicy.FAIL_FAST ? 20 : 3;
        return now.nextInt(throwsOf) == 0 ? Answer.THROW : Answer.RETRY;
    }
}
