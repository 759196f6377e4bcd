package io.settlestream.testing.internal.kafka;

import java.util.ArrayDeque;
import java.util.Map;
import java.util.Queue;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetCommitCallback;
import org.apache.kafka.clients.consumer.RetriableCommitFailedException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.FencedInstanceIdException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The commits of a consumer that has a group. Belongs to the thread that uses it. */
final class Commits {

    private static final Logger log = LoggerFactory.getLogger(Commits.class);

    private record Completed(
            OffsetCommitCallback callback,
            Map<TopicPartition, OffsetAndMetadata> offsets,
            @Nullable Exception failure) {}

    private final Cluster cluster;
    private final ConsumerSettings settings;
    private final String groupId;
    private final Subscriptions subscriptions;
    private final Waiting waiting;
    private final Queue<Completed> completed = new ArrayDeque<>();

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
        if (offsets.isEmpty()) {
            return;
        }
        while (true) {
            try {
                send(offsets);
                runCallbacks();
                return;
            } catch (RetriableException e) {
                if (waiting.past(deadline)) {
                    throw new TimeoutException("Time was up before successfully committing offsets " + offsets, e);
                }
                waiting.sleep(settings.retryBackoff(), deadline);
            }
        }
    }

    void async(Map<TopicPartition, OffsetAndMetadata> offsets, @Nullable OffsetCommitCallback callback) {
        runCallbacks();
        Exception failure = null;
        try {
            if (!offsets.isEmpty()) {
                send(offsets);
            }
        } catch (RetriableException e) {
            failure = new RetriableCommitFailedException(e);
        } catch (ClientCrashed e) {
            throw e;
        } catch (RuntimeException e) {
            failure = e;
            fenced = e instanceof FencedInstanceIdException;
        }
        completed.add(new Completed(callback == null ? Commits::logFailure : callback, offsets, failure));
    }

    /** Runs the callbacks of commits that have been answered, in order. */
    void runCallbacks() {
        if (fenced) {
            throw new FencedInstanceIdException("Another consumer of group " + groupId + " has taken group.instance.id "
                    + settings.instanceId().orElse(""));
        }
        for (Completed next = completed.poll(); next != null; next = completed.poll()) {
            next.callback().onComplete(next.offsets(), next.failure());
        }
    }

    private static void logFailure(Map<TopicPartition, OffsetAndMetadata> offsets, @Nullable Exception failure) {
        if (failure != null) {
            log.atError().addKeyValue("offsets", offsets).setCause(failure).log("offset commit failed");
        }
    }

    private void send(Map<TopicPartition, OffsetAndMetadata> offsets) {
        waiting.throwIfCrashed();
        offsets.forEach((partition, offset) -> {
            if (offset.offset() < 0) {
                throw new IllegalArgumentException("Invalid offset: " + offset.offset());
            }
        });
        Membership member = subscriptions.byGroup() ? membership : null;
        ConsumerGroupMetadata as = member == null ? new ConsumerGroupMetadata(groupId) : member.forCommit();
        try {
            cluster.change(() -> cluster.groups().commit(as, offsets));
        } catch (RuntimeException e) {
            throw member == null ? e : member.refused(e);
        }
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
            send(offsets);
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
