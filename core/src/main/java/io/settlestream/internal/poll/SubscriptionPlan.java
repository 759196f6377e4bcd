package io.settlestream.internal.poll;

import io.settlestream.kafka.StartOffset;
import java.time.Duration;
import java.util.Map;

/**
 * What a subscription is to do, checked and complete.
 *
 * @param name what it is called in logs, health and errors
 * @param topic what it reads
 * @param group its consumer group
 * @param startOffset where a partition starts without a committed offset
 * @param properties of its consumer
 * @param commitInterval between background commits
 * @param maxPollInterval how long the group waits for a poll
 * @param drainTimeout how long a revocation waits for running handlers
 * @param inFlightRecords how many records may be fetched and not settled
 * @param inFlightBytes how many bytes they may have
 */
public record SubscriptionPlan(
        String name,
        String topic,
        String group,
        StartOffset startOffset,
        Map<String, Object> properties,
        Duration commitInterval,
        Duration maxPollInterval,
        Duration drainTimeout,
        long inFlightRecords,
        long inFlightBytes) {

    /** The bound on one blocking call of the consumer outside of a fetch. */
    Duration callTimeout() {
        Duration quarter = maxPollInterval.dividedBy(4);
        return quarter.compareTo(CALL_TIMEOUT) < 0 ? quarter : CALL_TIMEOUT;
    }

    /**
     * The longest fetch: well within what the group waits. Under the consumer protocol Kafka's client asks for more only
     * when a fetch begins, so one that waits on after an empty answer would not see new records.
     */
    Duration longestFetch() {
        if ("consumer".equalsIgnoreCase(String.valueOf(properties.get("group.protocol")))) {
            return LONGEST_CONSUMER_PROTOCOL_FETCH;
        }
        Duration third = maxPollInterval.dividedBy(3);
        return third.compareTo(LONGEST_FETCH) < 0 ? third : LONGEST_FETCH;
    }

    private static final Duration CALL_TIMEOUT = Duration.ofSeconds(10);
    private static final Duration LONGEST_FETCH = Duration.ofSeconds(30);
    private static final Duration LONGEST_CONSUMER_PROTOCOL_FETCH = Duration.ofMillis(100);
}
