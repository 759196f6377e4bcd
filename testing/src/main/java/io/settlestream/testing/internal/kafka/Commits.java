package io.settlestream.testing.internal.kafka;

import java.time.Duration;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetCommitCallback;
import org.apache.kafka.clients.consumer.RetriableCommitFailedException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.FencedInstanceIdException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The commits of a consumer that has a group. Belongs to the thread that uses it. */
final class Commits {

    private static final Logger log = LoggerFactory.getLogger(Commits.class);

    /** A commit that was answered, or will be at a time that is known. */
    private record Completed(
            OffsetCommitCallback callback,
            Map<TopicPartition, OffsetAndMetadata> offsets,
            @Nullable Exception failure,
            long at) {}

    private final Cluster cluster;
    private final ConsumerSettings settings;
    private final String groupId;
    private final Subscriptions subscriptions;
    private final Waiting waiting;
    /** Changed by the consumer's thread; others look whether it is empty. */
    private final Queue<Completed> completed = new ConcurrentLinkedQueue<>();

    @Nullable
    private Membership membership;

    private boolean fenced;
    private long autoCommitAt;

    Commits(Cluster cluster, ConsumerSettings settings, String groupId, Subscriptions subscriptions, Waiting waiting) {
        this.cluster = cluster;
        this.settings = settings;
        this.groupId = groupId;
        this.subscriptions = subscriptions;
        this.waiting = waiting;
        scheduleAutoCommit();
    }

    void membership(Membership of) {
        membership = of;
    }

    // --- by the application

    void sync(Map<TopicPartition, OffsetAndMetadata> offsets, long deadline) {
        runCallbacks();
        waiting.throwIfInterrupted();
        while (!offsets.isEmpty()) {
            try {
                Duration late = send(offsets);
                if (!late.isZero()) {
                    waiting.sleep(late, deadline);
                    if (waiting.past(deadline)) {
                        throw timeout(offsets);
                    }
                }
                break;
            } catch (RetriableException e) {
                if (e instanceof TimeoutException && waiting.past(deadline)) {
                    throw e;
                }
                if (waiting.past(deadline)) {
                    throw timeout(offsets);
                }
                waiting.sleep(settings.retryBackoff(), deadline);
            }
        }
        // Whoever has seen this commit succeed has heard of all that were made before it.
        while (!completed.isEmpty() && !waiting.past(deadline)) {
            runCallbacks();
            boolean unused = waiting.until(() -> completed.isEmpty() || callbacksDue(), deadline);
        }
    }

    private static TimeoutException timeout(Map<TopicPartition, OffsetAndMetadata> offsets) {
        return new TimeoutException("Time was up before successfully committing offsets " + offsets);
    }

    void async(Map<TopicPartition, OffsetAndMetadata> offsets, @Nullable OffsetCommitCallback callback) {
        runCallbacks();
        Exception failure = null;
        Duration late = Duration.ZERO;
        try {
            if (!offsets.isEmpty()) {
                late = send(offsets);
            }
        } catch (RetriableException e) {
            failure = new RetriableCommitFailedException(e);
        } catch (ClientCrashed e) {
            throw e;
        } catch (RuntimeException e) {
            failure = e;
            // Once fenced, always fenced: a later failure of another kind does not change that.
            fenced |= e instanceof FencedInstanceIdException;
        }
        completed.add(new Completed(
                callback == null ? Commits::logFailure : callback, offsets, failure, waiting.deadline(late)));
    }

    /** Whether the application has not heard yet what became of a commit. Any thread. */
    boolean unanswered() {
        return !completed.isEmpty();
    }

    /** With the lock: whether the application is to hear of a commit. */
    boolean callbacksDue() {
        Completed next = completed.peek();
        return next != null && waiting.past(next.at());
    }

    /** Runs the callbacks of commits that have been answered, in order. */
    void runCallbacks() {
        if (fenced) {
            throw new FencedInstanceIdException("Another consumer of group " + groupId + " has taken group.instance.id "
                    + settings.instanceId().orElse(""));
        }
        while (callbacksDue()) {
            Completed next = completed.remove();
            next.callback().onComplete(next.offsets(), next.failure());
        }
    }

    private static void logFailure(Map<TopicPartition, OffsetAndMetadata> offsets, @Nullable Exception failure) {
        if (failure != null) {
            log.atError().addKeyValue("offsets", offsets).setCause(failure).log("offset commit failed");
        }
    }

    /**
     * Commits.
     *
     * @return how long the answer takes
     */
    private Duration send(Map<TopicPartition, OffsetAndMetadata> offsets) {
        waiting.throwIfCrashed();
        offsets.forEach((partition, offset) -> {
            if (offset.offset() < 0) {
                throw new IllegalArgumentException("Invalid offset: " + offset.offset());
            }
        });
        Membership member = membership;
        ConsumerGroupMetadata as =
                member != null && subscriptions.byGroup() ? member.forCommit() : GroupIdentity.none(groupId);
        try {
            return cluster.locked(() -> request(as, offsets));
        } catch (ApiException e) {
            throw member == null ? e : member.refused(e);
        }
    }

    /** With the lock. */
    private Duration request(ConsumerGroupMetadata as, Map<TopicPartition, OffsetAndMetadata> offsets) {
        return switch (cluster.faults().take(Faults.Request.OFFSET_COMMIT, groupId)) {
            case null -> {
                cluster.groups().commit(as, offsets);
                yield Duration.ZERO;
            }
            case Fault.Fail(ApiException error) -> throw error;
            case Fault.Delay(Duration by) -> {
                cluster.groups().commit(as, offsets);
                cluster.groups().lookAgain(by);
                yield by;
            }
            case Fault.LoseAnswer lost -> {
                cluster.groups().commit(as, offsets);
                throw FaultErrors.disconnected();
            }
        };
    }

    // --- on its own

    /** When the next automatic commit is due, on the host's clock. */
    long autoCommitAt() {
        return settings.autoCommit() ? autoCommitAt : Long.MAX_VALUE;
    }

    void scheduleAutoCommit() {
        autoCommitAt = waiting.deadline(settings.autoCommitInterval());
    }

    void autoCommitIfDue() {
        if (settings.autoCommit() && waiting.past(autoCommitAt)) {
            scheduleAutoCommit();
            autoCommit();
        }
    }

    /** Commits the positions, if that is wanted; a failure is only logged, as it is the next commit's turn then. */
    void autoCommit() {
        Map<TopicPartition, OffsetAndMetadata> offsets = subscriptions.consumed();
        if (!settings.autoCommit() || offsets.isEmpty()) {
            return;
        }
        try {
            Duration unused = send(offsets);
        } catch (ClientCrashed e) {
            throw e;
        } catch (RuntimeException e) {
            log.atWarn()
                    .addKeyValue("group", groupId)
                    .addKeyValue("offsets", offsets)
                    .addKeyValue("cause", e.toString())
                    .log("automatic offset commit failed");
        }
    }
}
