package io.settlestream.internal.poll;

import io.settlestream.kafka.KafkaPosition;
import io.settlestream.kafka.StartOffset;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.TopicPartition;

/**
 * What a subscription is to do, checked and complete.
 *
 * @param name what it is called in logs, health and errors
 * @param source what it reads
 * @param retryTopic where copies of its records come back from, which is read in the same group and always goes on where it
 *     was, else at its beginning
 * @param group its consumer group; none if it is no member of one and commits nothing
 * @param maxAttempts after how many failed attempts a record is given up, if it is; then one that ends the process must be
 *     found out
 * @param startOffset where a partition starts without a committed offset
 * @param startAt where a partition starts at its first assignment, whatever is committed
 * @param properties of its consumer
 * @param commitInterval between background commits
 * @param maxPollInterval how long the group waits for a poll
 * @param drainTimeout how long a revocation waits for running handlers
 * @param inFlightRecords how many records may be fetched and not settled
 * @param inFlightBytes how many bytes they may have
 */
public record SubscriptionPlan(
        String name,
        Reading source,
        Optional<String> retryTopic,
        Optional<String> group,
        Optional<Integer> maxAttempts,
        StartOffset startOffset,
        Optional<KafkaPosition> startAt,
        Map<String, Object> properties,
        Duration commitInterval,
        Duration maxPollInterval,
        Duration drainTimeout,
        long inFlightRecords,
        long inFlightBytes) {

    /** The group as it stands in logs and messages. */
    public String groupName() {
        return group.orElse("none");
    }

    /** Whether a record is given up after so many attempts. */
    boolean capped() {
        return maxAttempts.isPresent();
    }

    /** Whether a partition is one of the retry topic's. */
    boolean retries(TopicPartition partition) {
        return retryTopic.isPresent() && retryTopic.get().equals(partition.topic());
    }

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
