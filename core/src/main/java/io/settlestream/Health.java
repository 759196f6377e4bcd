package io.settlestream;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * How an application is doing, at one moment.
 *
 * @param status the whole
 * @param failure the first failure, if the application failed
 * @param subscriptions each subscription
 * @since 0.1.0
 */
public record Health(Status status, Optional<Throwable> failure, List<Subscription> subscriptions) {

    public Health {
        subscriptions = List.copyOf(subscriptions);
    }

    /** Whether the application runs and nothing is stuck. */
    public boolean healthy() {
        return status == Status.RUNNING
                && subscriptions.stream()
                        .allMatch(
                                s -> s.problems().isEmpty() && s.stuckHandlers().isEmpty());
    }

    /**
     * What an application is doing.
     *
     * @since 0.1.0
     */
    public enum Status {
        STARTING,
        RUNNING,
        STOPPING,
        STOPPED,
        FAILED
    }

    /**
     * One subscription.
     *
     * @param name the subscription's name
     * @param source what it reads: names of topics or partitions, or a pattern
     * @param group its consumer group, if it is in one
     * @param failure what ended it, if something did
     * @param problems repeated failures that have not gone away, such as commits that fail
     * @param partitions the partitions this member owns
     * @param stuckHandlers handlers that still run although their delivery was given up
     * @param counts what happened so far
     */
    public record Subscription(
            String name,
            String source,
            Optional<String> group,
            Optional<Throwable> failure,
            List<String> problems,
            List<Partition> partitions,
            List<StuckHandler> stuckHandlers,
            Counts counts) {

        public Subscription {
            problems = List.copyOf(problems);
            partitions = List.copyOf(partitions);
            stuckHandlers = List.copyOf(stuckHandlers);
        }
    }

    /**
     * One partition that this member owns.
     *
     * @param topic its topic
     * @param partition its number
     * @param fetchedTo the offset behind everything fetched so far, or where reading starts; empty while neither is known
     * @param openRecords records fetched and not settled
     * @param openBytes bytes of their keys and values
     * @param oldestOpen the lowest offset that is open, if any; nothing behind it is committed under Tracked
     * @param oldestOpenAge how long ago that record was fetched
     * @param delayedRecords how many of the open records wait for the end of a delay
     * @param paused whether fetching waits until open records are settled
     * @param pausedByUser whether the user has paused it, or its subscription; what is open then may be held back
     */
    public record Partition(
            String topic,
            int partition,
            Optional<Long> fetchedTo,
            long openRecords,
            long openBytes,
            Optional<Long> oldestOpen,
            Optional<Duration> oldestOpenAge,
            long delayedRecords,
            boolean paused,
            boolean pausedByUser) {}

    /**
     * A handler that still runs although nobody waits for its outcome.
     *
     * @param topic the record's topic
     * @param partition its partition
     * @param offset its offset
     * @param age how long ago the delivery was given up
     */
    public record StuckHandler(String topic, int partition, long offset, Duration age) {}

    /**
     * What happened since the start.
     *
     * @param acked deliveries settled by ack, replies accepted by Kafka included
     * @param dropped deliveries settled by drop
     * @param retried attempts that ended in a retry
     * @param unsupportedRetries retries asked for under Auto, where nothing comes back
     * @param exceptions attempts in which the handler threw; a batch is one attempt
     * @param undecodable records that could not be decoded
     * @param failedReplies replies that Kafka did not accept, or that could not be published at all
     * @param stale outcomes that came too late to count
     * @param batchMismatches batch answers with too few or too many outcomes
     * @param rebalances how often partitions were assigned, revoked or lost
     * @param failedCommits commits that failed and were or will be tried again
     * @param trimmed how often a position was not in the log any more, trimmed or truncated, and was moved into it
     * @param deadLettered records that were settled because the dead-letter topic has accepted a copy
     * @param exhausted records that met the cap and were dropped, as there is no dead-letter topic
     * @param retryCopies records that were settled because the retry topic has accepted a copy
     * @param failedCopies writes of dead letters and retry copies that Kafka did not accept; each is repeated
     */
    public record Counts(
            long acked,
            long dropped,
            long retried,
            long unsupportedRetries,
            long exceptions,
            long undecodable,
            long failedReplies,
            long stale,
            long batchMismatches,
            long rebalances,
            long failedCommits,
            long trimmed,
            long deadLettered,
            long exhausted,
            long retryCopies,
            long failedCopies) {}
}
