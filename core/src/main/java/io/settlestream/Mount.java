package io.settlestream;

import io.settlestream.internal.runtime.MountOptions;
import java.time.Duration;
import java.util.Objects;

/**
 * How an included subscriber runs. Every method sets one option and returns this mount; contradictions are reported
 * when the application starts.
 *
 * <p>Not thread-safe; to be used where the subscriber is included. Once {@link App#withBroker} has returned, every method
 * throws an {@link IllegalStateException}: an application does not change.
 *
 * @since 0.1.0
 */
public final class Mount {

    private final MountOptions.Draft options;

    Mount(MountOptions.Draft options) {
        this.options = options;
    }

    /**
     * Handles up to {@code n} deliveries (or batches) at a time from one queue; their order is not promised, and a
     * retry goes to the head of the queue. By default one delivery is handled after the other.
     *
     * @throws IllegalArgumentException if {@code n} is less than 1
     */
    public Mount workers(int n) {
        options.workers(atLeastOne("workers", n));
        return this;
    }

    /** As {@link #workersByKey(int, LaneKey)} with {@link LaneKey#PARTITION}. */
    public Mount workersByKey(int n) {
        return workersByKey(n, LaneKey.PARTITION);
    }

    /**
     * Handles up to {@code n} deliveries at a time; those with the same key run one after the other, in order. No key
     * waits for another while a worker is free. Refused at startup for batch handlers.
     *
     * @throws IllegalArgumentException if {@code n} is less than 1
     */
    public Mount workersByKey(int n, LaneKey key) {
        options.workersByKey(atLeastOne("workersByKey", n), Objects.requireNonNull(key, "key"));
        return this;
    }

    /**
     * Runs handlers on {@code n} platform threads of this subscription's own instead of virtual threads; for code that
     * pins its thread or needs thread-locals. Alone it means {@code n} workers on one queue; next to {@code workers}
     * or {@code workersByKey} the counts must agree.
     *
     * @throws IllegalArgumentException if {@code n} is less than 1
     */
    public Mount dedicatedThreads(int n) {
        options.dedicatedThreads(atLeastOne("dedicatedThreads", n));
        return this;
    }

    /**
     * Gives a record up after so many attempts: when the {@code n}-th has failed, counting the first delivery as one, it goes
     * to the {@link #deadLetter} topic, or, where none is named, is dropped with a warning. Attempts fail by {@code retry},
     * {@code retryAfter}, an exception that the policy does not drop, or a reply that Kafka did not accept; they are counted
     * for each record and survive a restart. Without a cap a record comes back for ever. Refused under Auto.
     *
     * @throws IllegalArgumentException if {@code n} is less than 1
     */
    public Mount maxAttempts(int n) {
        options.maxAttempts(atLeastOne("maxAttempts", n));
        return this;
    }

    /**
     * Where records go that are given up: those that met {@link #maxAttempts}, that a handler or a policy sends there, and
     * by default those that cannot be decoded. A dead letter has the record's key, value and headers, and those of {@link
     * io.settlestream.kafka.RecordCopy}. Its record is settled only when Kafka has accepted it, and while Kafka does not, it
     * stays open and the write is repeated. The topic is not created, and its number of partitions does not matter.
     */
    public Mount deadLetter(String topic) {
        options.deadLetter(Objects.requireNonNull(topic, "topic"));
        return this;
    }

    /**
     * Where records wait that are to be handled later: {@code retryAfter} publishes a copy there and settles the record when
     * Kafka has accepted it, so that nothing is held open for the delay. This subscription reads the topic as well, and
     * handles each copy when it is due. Several groups may use one retry topic; two subscriptions of one group may not.
     * Copies give up the order of their keys. The topic is not created. Refused under Auto.
     */
    public Mount retryTopic(String topic) {
        options.retryTopic(Objects.requireNonNull(topic, "topic"));
        return this;
    }

    /**
     * What settles a delivery whose handler threw; by default {@link ExceptionPolicy#FAIL_FAST}, or with {@link #maxAttempts}
     * {@link ExceptionPolicy#RETRY}.
     */
    public Mount onException(ExceptionPolicy policy) {
        options.onException(Objects.requireNonNull(policy, "policy"));
        return this;
    }

    /**
     * What settles a record that cannot be decoded; by default {@link DecodePolicy#DROP}, or with {@link #deadLetter} {@link
     * DecodePolicy#DEAD_LETTER}.
     */
    public Mount onDecodeFailure(DecodePolicy policy) {
        options.onDecodeFailure(Objects.requireNonNull(policy, "policy"));
        return this;
    }

    /**
     * How long a rebalance waits for running handlers of the partitions that leave, and for the reports they wait for;
     * 10 s by default. Must be less than half of {@code max.poll.interval.ms}.
     *
     * @throws IllegalArgumentException if the time is negative
     */
    public Mount drainTimeout(Duration timeout) {
        options.drainTimeout(notNegative("drainTimeout", timeout));
        return this;
    }

    /**
     * How long a retried record waits: nothing before its second attempt, {@code first} before its third, then doubling
     * up to {@code max}; 50 ms and 1 s by default.
     *
     * @throws IllegalArgumentException if {@code first} is negative or greater than {@code max}
     */
    public Mount retryBackoff(Duration first, Duration max) {
        notNegative("first", first);
        if (first.compareTo(max) > 0) {
            throw new IllegalArgumentException("first (" + first + ") must not be greater than max (" + max + ")");
        }
        options.retryBackoff(first, max);
        return this;
    }

    /**
     * How much may be fetched and not settled at a time, over all partitions of this member: each has an equal share and
     * pauses at it. It is looked at between polls, so one poll may go over it: {@code max.poll.records} should not be more.
     * By default two polls' worth of records and 64 MiB.
     *
     * @param records at least 1
     * @param bytes of keys and values, at least 1
     * @throws IllegalArgumentException if one of them is less than 1; the limit stays as it was
     */
    public Mount inFlightLimit(int records, long bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("bytes must be 1 or more, but is " + bytes);
        }
        options.inFlightLimit(atLeastOne("records", records), bytes);
        return this;
    }

    /**
     * Names the subscription in logs, health and errors; by default it is called by what it reads, as its topic. Of several
     * with one name, those that were included later are told apart by a number, such as {@code orders-2}.
     */
    public Mount name(String name) {
        options.name(Objects.requireNonNull(name, "name"));
        return this;
    }

    private static int atLeastOne(String option, int n) {
        if (n < 1) {
            throw new IllegalArgumentException(option + " must be 1 or more, but is " + n);
        }
        return n;
    }

    private static Duration notNegative(String option, Duration duration) {
        if (duration.isNegative()) {
            throw new IllegalArgumentException(option + " must not be negative, but is " + duration);
        }
        return duration;
    }
}
