package io.settlestream.conformance.simulation;

import io.settlestream.DecodePolicy;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * What one subscription of a run does with records that cannot be handled now, or ever.
 *
 * @param maxAttempts the cap, if there is one
 * @param deadLetterTopic where records go that are given up
 * @param retryTopic where records wait
 * @param onException a policy that only a subscription with such ways has
 * @param onDecodeFailure as well
 * @param delays whether handlers ask for delays
 * @param headers whether its input has headers
 */
record RecoveryPlan(
        OptionalInt maxAttempts,
        Optional<String> deadLetterTopic,
        Optional<String> retryTopic,
        Optional<OnException> onException,
        Optional<DecodePolicy.Fixed> onDecodeFailure,
        boolean delays,
        boolean headers) {

    /** Records are tried again until they can be handled, at once, and are lost if they cannot. */
    static final RecoveryPlan NONE = new RecoveryPlan(
            OptionalInt.empty(), Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty(), false, false);

    /** Longer than any delay that a handler or a policy asks for. */
    static final Duration LONGEST_DELAY = Duration.ofSeconds(45);

    /** What the policy asks for. */
    static final Duration POLICY_DELAY = Duration.ofMillis(700);

    static RecoveryPlan draw(String name, boolean tracked, SplittableRandom random) {
        boolean deadLetters = random.nextInt(3) > 0;
        OptionalInt cap = tracked && random.nextBoolean() ? OptionalInt.of(random.nextInt(1, 4)) : OptionalInt.empty();
        boolean retryTopic = tracked && random.nextInt(3) == 0;
        boolean shared = random.nextInt(4) == 0;
        List<OnException> policies = Stream.of(OnException.DEAD_LETTER, OnException.RETRY_AFTER, OnException.BY_CAUSE)
                .filter(policy -> tracked ? policy != OnException.DEAD_LETTER || deadLetters : deadLetters)
                .filter(policy -> tracked || policy == OnException.DEAD_LETTER)
                .toList();
        boolean otherPolicy = random.nextBoolean() && !policies.isEmpty();
        OnException policy = policies.isEmpty() ? OnException.DROP : policies.get(random.nextInt(policies.size()));
        return new RecoveryPlan(
                cap,
                deadLetters ? Optional.of("dead-" + name) : Optional.empty(),
                retryTopic ? Optional.of(shared ? "again" : "again-" + name) : Optional.empty(),
                otherPolicy ? Optional.of(policy) : Optional.empty(),
                random.nextBoolean() && deadLetters ? Optional.of(DecodePolicy.Fixed.DEAD_LETTER) : Optional.empty(),
                random.nextInt(4) > 0,
                true);
    }

    /** The topics that copies go to. */
    List<String> topics() {
        return Stream.of(deadLetterTopic, retryTopic).flatMap(Optional::stream).toList();
    }

    /** Whether so many attempts are the last ones. */
    boolean isLast(int attempt) {
        return maxAttempts.isPresent() && attempt >= maxAttempts.getAsInt();
    }
}
