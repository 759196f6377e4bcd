package io.settlestream.internal.commit;

import io.settlestream.internal.health.Counters;
import io.settlestream.internal.health.Episodes;
import io.settlestream.internal.health.FailureListener;
import io.settlestream.internal.position.Checkpoint;
import io.settlestream.internal.position.OwnedPartition;
import io.settlestream.internal.position.Position;
import io.settlestream.spi.TimeSource;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.FencedInstanceIdException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Commits positions of one subscription: in the background on an interval, and at once when partitions leave or the
 * subscription closes. Belongs to the poll thread.
 *
 * <p>A commit is never repeated with old positions: when one fails, the next takes the positions as they are then, and
 * only of partitions that are still owned. At most one background commit is on its way at a time, so that commits arrive
 * in the order in which they were made.
 */
public final class Committer implements Commits {

    private static final Logger log = LoggerFactory.getLogger(Committer.class);

    /** An interval of 0 means as often as possible, which must not be a spinning poll thread. */
    private static final Duration SHORTEST_INTERVAL = Duration.ofMillis(5);

    /** A commit that is not answered for longer is a problem: without a coordinator it may wait for as long as that lasts. */
    private static final Duration UNANSWERED = Duration.ofSeconds(3);

    private final Consumer<byte[], byte[]> consumer;
    private final String subscription;

    /** Why a commit is refused that says the group has members; null for a member, which only was not up to date. */
    private final @Nullable String refusal;

    private final long intervalNanos;
    private final Counters counters;
    private final Episodes episodes;
    private final FailureListener failures;
    private final TimeSource time;

    private long nextTick;
    private boolean underWay;

    /** When the commit that is on its way was made, or null. */
    private volatile @Nullable Long unansweredSince;

    private volatile @Nullable String problem;

    /**
     * Makes a committer.
     *
     * @param refusal what it means that a commit is refused because the group has members; null if this is one of them
     */
    public Committer(
            Consumer<byte[], byte[]> consumer,
            String subscription,
            @Nullable String refusal,
            Duration interval,
            Counters counters,
            FailureListener failures,
            TimeSource time) {
        this.consumer = consumer;
        this.subscription = subscription;
        this.refusal = refusal;
        this.intervalNanos = Math.max(interval.toNanos(), SHORTEST_INTERVAL.toNanos());
        this.counters = counters;
        this.episodes = new Episodes(time);
        this.failures = failures;
        this.time = time;
        this.nextTick = time.nanoTime() + intervalNanos;
    }

    /**
     * A tick that has come while a commit is on its way waits for the answer, which arrives in a fetch: asked for at most
     * once per interval, or the poll thread would spin until then.
     */
    @Override
    public long untilNextTick() {
        long left = nextTick - time.nanoTime();
        return left > 0 ? left : underWay ? intervalNanos : 0;
    }

    @Override
    public boolean behind(Collection<OwnedPartition> partitions) {
        return underWay || partitions.stream().anyMatch(OwnedPartition::isAhead);
    }

    @Override
    public @Nullable String problem() {
        Long since = unansweredSince;
        if (problem == null && since != null && time.nanoTime() - since > UNANSWERED.toNanos()) {
            return "commit not answered for " + Duration.ofNanos(time.nanoTime() - since);
        }
        return problem;
    }

    @Override
    public void tick(Collection<OwnedPartition> partitions) {
        if (underWay || nextTick - time.nanoTime() > 0) {
            return;
        }
        nextTick = time.nanoTime() + intervalNanos;
        Map<OwnedPartition, Checkpoint> changed = changed(partitions);
        if (changed.isEmpty()) {
            problem = null;
            return;
        }
        underWay = true;
        unansweredSince = time.nanoTime();
        consumer.commitAsync(offsets(changed), (offsets, failure) -> {
            underWay = false;
            unansweredSince = null;
            if (failure == null) {
                succeeded(changed);
            } else {
                failed(failure);
            }
        });
    }

    @Override
    public boolean commitNow(Collection<OwnedPartition> partitions, Duration timeout) {
        Map<OwnedPartition, Checkpoint> changed = changed(partitions);
        if (changed.isEmpty()) {
            return true;
        }
        return commit(changed, timeout);
    }

    @Override
    public boolean commitStarts(Map<OwnedPartition, Position> starts, Duration timeout) {
        Map<OwnedPartition, Checkpoint> checkpoints = new LinkedHashMap<>();
        starts.forEach((partition, position) -> checkpoints.put(partition, partition.checkpoint(position)));
        if (checkpoints.isEmpty() || commit(checkpoints, timeout)) {
            return true;
        }
        if (refusal != null && refusal.equals(problem)) {
            // Nothing could be read before its start is committed.
            failures.failed(new IllegalStateException("subscription " + subscription + ": " + refusal));
        }
        return false;
    }

    private boolean commit(Map<OwnedPartition, Checkpoint> positions, Duration timeout) {
        long deadline = time.nanoTime() + timeout.toNanos();
        while (true) {
            try {
                consumer.commitSync(offsets(positions), Duration.ofNanos(Math.max(0, deadline - time.nanoTime())));
                succeeded(positions);
                return true;
            } catch (WakeupException e) {
                // A wake-up that was meant for a fetch; it is used up now, and the commit is made again.
                if (deadline - time.nanoTime() <= 0) {
                    failed(e);
                    return false;
                }
            } catch (InterruptException e) {
                throw e;
            } catch (RuntimeException e) {
                failed(e);
                return false;
            }
        }
    }

    private static Map<OwnedPartition, Checkpoint> changed(Collection<OwnedPartition> partitions) {
        Map<OwnedPartition, Checkpoint> changed = new LinkedHashMap<>();
        for (OwnedPartition partition : partitions) {
            Checkpoint checkpoint = partition.uncommitted();
            if (checkpoint != null) {
                changed.put(partition, checkpoint);
            }
        }
        return changed;
    }

    private static Map<TopicPartition, OffsetAndMetadata> offsets(Map<OwnedPartition, Checkpoint> positions) {
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        positions.forEach((partition, checkpoint) -> offsets.put(partition.topicPartition(), checkpoint.toCommit()));
        return offsets;
    }

    private void succeeded(Map<OwnedPartition, Checkpoint> positions) {
        positions.forEach(OwnedPartition::committed);
        problem = null;
    }

    private void failed(Exception failure) {
        counters.failedCommits.increment();
        if (failure instanceof AuthorizationException
                || failure instanceof AuthenticationException
                || failure instanceof FencedInstanceIdException) {
            problem = "commit failed: " + failure;
            failures.failed(failure);
            return;
        }
        if (GroupMoved.isWhy(failure) && refusal == null) {
            // The group has moved on: what is still owned is committed with the next commit, the rest is another's.
            log.atDebug()
                    .addKeyValue("subscription", subscription)
                    .setCause(failure)
                    .log("commit met a rebalance");
            return;
        }
        String cause = GroupMoved.isWhy(failure) && refusal != null ? refusal : "commit failed: " + failure;
        problem = cause;
        episodes.failed(n -> log.atWarn()
                .addKeyValue("subscription", subscription)
                .addKeyValue("failures", n)
                .addKeyValue("cause", cause)
                .log("commit failed; positions are committed with the next one"));
    }
}
