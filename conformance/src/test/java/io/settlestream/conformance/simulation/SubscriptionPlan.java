package io.settlestream.conformance.simulation;

import io.settlestream.DecodePolicy;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** How one subscription of a run is set up. */
record SubscriptionPlan(
        String name,
        String topic,
        int partitions,
        String group,
        boolean tracked,
        Kind kind,
        Order order,
        int workers,
        boolean platformThreads,
        int batch,
        Protocol protocol,
        int maxPollRecords,
        OptionalInt inFlight,
        OnException onException,
        DecodePolicy.Fixed onDecodeFailure,
        Duration backoffFirst,
        Duration backoffMax,
        Duration drainTimeout,
        Duration commitInterval,
        boolean awaitReport,
        RecoveryPlan recovery) {

    /** The handler's shape. */
    enum Kind {
        SINGLE,
        ASYNC,
        BATCH,
        REPLY,
        REPLY_ASYNC;

        boolean replies() {
            return this == REPLY || this == REPLY_ASYNC;
        }
    }

    /** What runs one after the other. */
    enum Order {
        ONE_LANE,
        NONE,
        PARTITION,
        RECORD_KEY
    }

    enum Protocol {
        EAGER,
        COOPERATIVE,
        CONSUMER
    }

    /** @param recovery for how it recovers; null for a run without such means */
    static SubscriptionPlan draw(int number, SplittableRandom random, @Nullable SplittableRandom recovery) {
        SubscriptionPlan plain = draw(number, random);
        return recovery == null ? plain : plain.with(RecoveryPlan.draw(plain.name, plain.tracked, recovery));
    }

    private SubscriptionPlan with(RecoveryPlan plan) {
        return new SubscriptionPlan(
                name,
                topic,
                partitions,
                group,
                tracked,
                kind,
                order,
                workers,
                platformThreads,
                batch,
                protocol,
                maxPollRecords,
                inFlight,
                plan.onException().orElse(onException),
                plan.onDecodeFailure().orElse(onDecodeFailure),
                backoffFirst,
                backoffMax,
                drainTimeout,
                commitInterval,
                awaitReport,
                plan);
    }

    private static SubscriptionPlan draw(int number, SplittableRandom random) {
        boolean tracked = random.nextInt(4) > 0;
        Kind kind = pick(random, Kind.values());
        Order order = pick(random, Order.values());
        if (kind == Kind.BATCH && (order == Order.PARTITION || order == Order.RECORD_KEY)) {
            order = Order.ONE_LANE;
        }
        OnException onException = pick(random, OnException.FAIL_FAST, OnException.RETRY, OnException.DROP);
        DecodePolicy.Fixed onDecodeFailure =
                pick(random, DecodePolicy.Fixed.DROP, DecodePolicy.Fixed.FAIL_FAST, DecodePolicy.Fixed.RETRY);
        int backoff = pick(random, 0, 10, 50, 500);
        return new SubscriptionPlan(
                "s" + number,
                "in" + number,
                random.nextInt(1, 7),
                "g" + number,
                tracked,
                kind,
                order,
                order == Order.ONE_LANE ? 1 : random.nextInt(1, 9),
                random.nextInt(20) == 0,
                random.nextInt(1, 8),
                pick(random, Protocol.values()),
                pick(random, 1, 2, 5, 20, 500),
                random.nextBoolean() ? OptionalInt.empty() : OptionalInt.of(random.nextInt(1, 12)),
                !tracked && onException == OnException.RETRY ? OnException.DROP : onException,
                !tracked && onDecodeFailure == DecodePolicy.Fixed.RETRY ? DecodePolicy.Fixed.DROP : onDecodeFailure,
                Duration.ofMillis(backoff),
                Duration.ofMillis(backoff * (long) random.nextInt(1, 20)),
                Duration.ofMillis(pick(random, 0, 200, 2_000, 10_000)),
                Duration.ofMillis(pick(random, 100, 1_000, 5_000)),
                random.nextBoolean(),
                RecoveryPlan.NONE);
    }

    @SafeVarargs
    private static <T> T pick(SplittableRandom random, T... from) {
        return from[random.nextInt(from.length)];
    }

    /** Where its replies go. */
    String replyTopic() {
        return "out-" + name;
    }

    /** The topics that it reads. */
    List<String> read() {
        return Stream.concat(Stream.of(topic), recovery.retryTopic().stream()).toList();
    }

    /** How many records of a partition may be open if a member owns so many: its share of the limit, and one poll. */
    long inFlightBound(int owned) {
        return Math.max(1, inFlight.orElse(2 * maxPollRecords) / Math.max(1, owned)) - 1 + maxPollRecords;
    }

    /** Whether a record can stop the service. */
    boolean mayFail() {
        return onException == OnException.FAIL_FAST || onDecodeFailure == DecodePolicy.FAIL_FAST;
    }
}
