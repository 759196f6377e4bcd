package io.settlestream.testing.internal.kafka;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.SortedSet;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.FencedInstanceIdException;
import org.apache.kafka.common.errors.StaleMemberEpochException;
import org.apache.kafka.common.errors.UnknownMemberIdException;
import org.jspecify.annotations.Nullable;

/** A member of a group of {@code group.protocol=consumer}. */
final class ConsumerMembership implements Membership {

    private final Cluster cluster;
    private final ConsumerSettings settings;
    private final String groupId;
    private final Subscriptions subscriptions;
    private final TopicMetadata topics;
    private final Listeners listeners;
    private final Runnable autoCommit;
    private final PollInterval interval;
    private final String memberId;

    private boolean joined;
    private boolean idle;
    private boolean changed;

    /** What it has and has said that it has; null before its first assignment. */
    @Nullable
    private Set<TopicPartition> acknowledged;

    private ConsumerGroupMetadata metadata;

    ConsumerMembership(
            Cluster cluster,
            ConsumerSettings settings,
            String groupId,
            Subscriptions subscriptions,
            TopicMetadata topics,
            Runnable autoCommit) {
        this.cluster = cluster;
        this.settings = settings;
        this.groupId = groupId;
        this.subscriptions = subscriptions;
        this.topics = topics;
        this.listeners = new Listeners(subscriptions);
        this.autoCommit = autoCommit;
        this.interval = new PollInterval(cluster, settings.maxPollInterval(), this::pollsTooRarely);
        this.metadata = GroupIdentity.of(groupId, -1, "", settings.instanceId());
        this.memberId = cluster.locked(() -> cluster.groups().newMemberId(settings.clientId()));
    }

    private ConsumerGroup group() {
        return cluster.groups().consumer(groupId);
    }

    @Override
    public boolean due() {
        if (!subscriptions.byGroup()) {
            return false;
        }
        ConsumerMember member = group().find(memberId);
        return !joined
                || idle
                || changed
                || member == null
                || (member.told != null && (!member.told.equals(acknowledged) || member.revocation != null))
                || (subscriptions.source() instanceof Subscriptions.Source.ByPattern
                        && topics.stale(subscriptions.topics()));
    }

    @Override
    public long dueAt() {
        return subscriptions.source() instanceof Subscriptions.Source.ByPattern ? topics.expiresAt() : Long.MAX_VALUE;
    }

    @Override
    public void poll() {
        if (!subscriptions.byGroup()) {
            return;
        }
        cluster.change(interval::polled);
        match();
        while (cluster.locked(this::due)) {
            if (!joined) {
                join();
            } else if (idle || cluster.locked(() -> group().find(memberId)) == null) {
                lose();
            } else if (changed) {
                changed = false;
                cluster.change(() -> group().subscribe(wish()));
            } else {
                reconcile();
            }
        }
    }

    /** The client itself matches the names against a pattern of Java. */
    private void match() {
        if (subscriptions.source() instanceof Subscriptions.Source.ByPattern(Pattern pattern)
                && cluster.locked(() -> topics.stale(subscriptions.topics()))) {
            topics.refresh();
            Set<String> matched = new LinkedHashSet<>(topics.names());
            matched.removeIf(name -> !pattern.matcher(name).matches());
            if (!matched.equals(subscriptions.topics())) {
                subscriptions.matched(matched);
                changed = true;
            }
        }
    }

    private ConsumerMember.Wish wish() {
        return new ConsumerMember.Wish(
                memberId,
                settings.instanceId(),
                Set.copyOf(subscriptions.topics()),
                subscriptions.source() instanceof Subscriptions.Source.ByServerPattern(String pattern) ? pattern : "",
                settings.remoteAssignor(),
                settings.sessionTimeout(),
                settings.maxPollInterval());
    }

    private void join() {
        cluster.change(() -> {
            var unused = group().join(wish());
        });
        joined = true;
        changed = false;
        acknowledged = null;
    }

    private void lose() {
        idle = false;
        joined = false;
        acknowledged = null;
        SortedSet<TopicPartition> had = PartitionOrder.sorted(subscriptions.partitions());
        if (had.isEmpty()) {
            return;
        }
        RuntimeException failure = listeners.lost(had);
        subscriptions.become(Set.of());
        if (failure != null) {
            throw Listeners.wrapped(failure);
        }
    }

    /** Gives back what it is not to have, takes what it is to have, and says so. */
    private void reconcile() {
        Set<TopicPartition> told = cluster.locked(() -> {
            ConsumerMember member = group().find(memberId);
            return member == null ? null : member.told;
        });
        if (told == null) {
            return;
        }
        if (told.equals(acknowledged)) {
            // It was to have more for a moment and did not hear of it; the coordinator waits to hear that it has not.
            cluster.change(() -> group().acknowledge(memberId, told));
            return;
        }
        autoCommit.run();
        SortedSet<TopicPartition> had = PartitionOrder.sorted(subscriptions.partitions());
        SortedSet<TopicPartition> revoked = PartitionOrder.minus(had, told);
        if (!revoked.isEmpty()) {
            hold(revoked, true);
            fail(listeners.revoked(revoked));
        }
        // What its listener could not take the last time is announced again.
        SortedSet<TopicPartition> added = PartitionOrder.sorted(told);
        added.removeIf(this::taken);
        subscriptions.become(PartitionOrder.sorted(told));
        hold(added, true);
        fail(listeners.assigned(added));
        hold(added, false);
        acknowledged = told;
        cluster.change(() -> group().acknowledge(memberId, told));
    }

    private boolean taken(TopicPartition partition) {
        Assigned assigned = subscriptions.find(partition);
        return assigned != null && !assigned.held;
    }

    private void hold(Set<TopicPartition> partitions, boolean held) {
        for (TopicPartition partition : partitions) {
            Assigned assigned = subscriptions.find(partition);
            if (assigned != null) {
                assigned.held = held;
            }
        }
    }

    private static void fail(@Nullable RuntimeException failure) {
        if (failure != null) {
            throw Listeners.wrapped(failure);
        }
    }

    // --- commits

    @Override
    public ConsumerGroupMetadata forCommit() {
        Integer epoch = epoch();
        if (!joined || epoch == null) {
            throw new CommitFailedException(
                    "Offset commit cannot be completed since the consumer is not part of an active"
                            + " group: it has not joined yet, has left, or was fenced");
        }
        return GroupIdentity.of(groupId, epoch, memberId, settings.instanceId());
    }

    @Nullable
    private Integer epoch() {
        return cluster.locked(() -> {
            ConsumerMember member = joined ? group().find(memberId) : null;
            return member == null ? null : member.epoch;
        });
    }

    @Override
    public RuntimeException refused(RuntimeException refusal) {
        return switch (refusal) {
            case UnknownMemberIdException e ->
                new CommitFailedException("OffsetCommit failed with unknown member ID. " + e.getMessage());
            case StaleMemberEpochException e ->
                new CommitFailedException("OffsetCommit failed with stale member epoch. " + e.getMessage());
            case FencedInstanceIdException e ->
                new CommitFailedException("OffsetCommit failed due to group instance id fenced: "
                        + settings.instanceId().orElse(""));
            default -> refusal;
        };
    }

    // --- comings and goings

    @Override
    public ConsumerGroupMetadata metadata() {
        Integer epoch = epoch();
        if (epoch != null) {
            metadata = GroupIdentity.of(groupId, epoch, memberId, settings.instanceId());
        }
        return metadata;
    }

    @Override
    public void subscriptionChanged() {
        if (subscriptions.source() instanceof Subscriptions.Source.ByPattern(Pattern pattern)) {
            topics.refresh();
            Set<String> matched = new LinkedHashSet<>(topics.names());
            matched.removeIf(name -> !pattern.matcher(name).matches());
            subscriptions.matched(matched);
        }
        changed = true;
    }

    @Override
    public void enforceRebalance() {
        // The coordinator decides when; Kafka's consumer logs a warning.
    }

    @Override
    public void waits(boolean inPoll) {
        // Moves a timer and nothing that anybody waits for, so nobody needs to look.
        cluster.lock().lock();
        try {
            interval.polling(inPoll);
        } finally {
            cluster.lock().unlock();
        }
    }

    private void pollsTooRarely() {
        if (joined) {
            idle = true;
            group().remove(memberId);
        }
    }

    @Override
    public void release() {
        SortedSet<TopicPartition> had = PartitionOrder.sorted(subscriptions.partitions());
        if (!subscriptions.byGroup() || had.isEmpty()) {
            return;
        }
        hold(had, true);
        RuntimeException failure = epoch() == null ? listeners.lost(had) : listeners.revoked(had);
        subscriptions.become(Set.of());
        fail(failure);
    }

    @Override
    public void leave(Leave how) {
        boolean statically = settings.instanceId().isPresent();
        cluster.change(() -> {
            interval.stop();
            if (joined) {
                switch (how) {
                    case DEFAULT -> {
                        if (statically) {
                            group().away(memberId);
                        } else {
                            group().remove(memberId);
                        }
                    }
                    case FOR_GOOD -> group().remove(memberId);
                    case REMAIN -> {
                        if (statically) {
                            group().away(memberId);
                        } else {
                            group().sessionEndsSoon(memberId);
                        }
                    }
                }
            }
        });
        joined = false;
        acknowledged = null;
        metadata = GroupIdentity.of(groupId, -1, "", settings.instanceId());
    }

    @Override
    public void crash(boolean atOnce) {
        interval.stop();
        if (joined && atOnce) {
            group().remove(memberId);
        } else if (joined) {
            group().sessionEndsSoon(memberId);
        }
    }
}
