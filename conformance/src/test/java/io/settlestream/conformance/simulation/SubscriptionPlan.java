package io.settlestream.conformance.simulation;

import io.settlestream.DecodePolicy;
import io.settlestream.ExceptionPolicy;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.SplittableRandom;

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
        ExceptionPolicy.Fixed onException,
        DecodePolicy.Fixed onDecodeFailure,
        Duration backoffFirst,
        Duration backoffMax,
        Duration drainTimeout,
        Duration commitInterval,
        boolean awaitReport) {

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

    static SubscriptionPlan draw(int number, SplittableRandom random) {
        boolean tracked = random.nextInt(4) > 0;
        Kind kind = pick(random, Kind.values());
        Order order = pick(random, Order.values());
        if (kind == Kind.BATCH && (order == Order.PARTITION || order == Order.RECORD_KEY)) {
            order = Order.ONE_LANE;
        }
        ExceptionPolicy.Fixed onException =
                pick(random, ExceptionPolicy.Fixed.FAIL_FAST, ExceptionPolicy.Fixed.RETRY, ExceptionPolicy.Fixed.DROP);
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
                !tracked && onException == ExceptionPolicy.Fixed.RETRY ? ExceptionPolicy.Fixed.DROP : onException,
                !tracked && onDecodeFailure == DecodePolicy.Fixed.RETRY ? DecodePolicy.Fixed.DROP : onDecodeFailure,
                Duration.ofMillis(backoff),
                Duration.ofMillis(backoff * (long) random.nextInt(1, 20)),
                Duration.ofMillis(pick(random, 0, 200, 2_000, 10_000)),
                Duration.ofMillis(pick(random, 100, 1_000, 5_000)),
                random.nextBoolean());
    }

    @SafeVarargs
    private static <T> T pick(SplittableRandom random, T... from) {
        return from[random.nextInt(from.length)];
    }

    /** Where its replies go. */
    String replyTopic() {
        return "out-" + name;
    }

    /** How many records of a partition may be open if a member owns so many: its share of the limit, and one poll. */
    long inFlightBound(int owned) {
        return Math.max(1, inFlight.orElse(2 * maxPollRecords) / Math.max(1, owned)) - 1 + maxPollRecords;
    }

    /** Whether a record can stop the service. */
    boolean mayFail() {
        return onException == ExceptionPolicy.FAIL_FAST || onDecodeFailure == DecodePolicy.FAIL_FAST;
    }
}
