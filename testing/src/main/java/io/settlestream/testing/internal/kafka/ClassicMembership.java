package io.settlestream.testing.internal.kafka;

import io.settlestream.testing.internal.kafka.ClassicGroup.Beat;
import io.settlestream.testing.internal.kafka.ClassicMember.Joined;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.RebalanceProtocol;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.FencedInstanceIdException;
import org.apache.kafka.common.errors.IllegalGenerationException;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.UnknownMemberIdException;
import org.jspecify.annotations.Nullable;

/** A member of a group of the classic protocol. */
final class ClassicMembership implements Membership {

    private sealed interface State {
        /** Not a member: never was, has left, or was taken for dead. */
        record Out() implements State {}

        /** Waits for the round to be complete. */
        record Joining(ClassicMember member) implements State {}

        /** Waits for the leader to assign. */
        record Syncing(Joined joined) implements State {}

        /** Knows its assignment; the listener has not heard all of it. */
        record Completing(Joined joined, Assignment assignment) implements State {}

        record Stable(Joined joined) implements State {}
    }

    private final Cluster cluster;
    private final ConsumerSettings settings;
    private final Subscriptions subscriptions;
    private final TopicMetadata topics;
    private final Listeners listeners;
    private final Runnable autoCommit;
    private final Runnable afterJoin;
    private final RebalanceProtocol protocol;
    private final PollInterval interval;
    private final String groupId;

    private State state = new State.Out();
    private ConsumerGroupMetadata metadata;
    private boolean rejoin = true;
    private boolean prepare = true;

    /** The application has not polled for too long. */
    private boolean idle;

    private Set<String> joinedTopics = Set.of();
    /** All topics that members of the group subscribe to, for one who leads it. */
    private Set<String> groupTopics = Set.of();

    /** The topics that the leader looked at when it assigned; null for those who do not lead. */
    @Nullable
    private Map<String, Integer> assignedFrom;

    ClassicMembership(
            Cluster cluster,
            ConsumerSettings settings,
            String groupId,
            Subscriptions subscriptions,
            TopicMetadata topics,
            Runnable autoCommit,
            Runnable afterJoin) {
        this.cluster = cluster;
        this.settings = settings;
        this.groupId = groupId;
        this.subscriptions = subscriptions;
        this.topics = topics;
        this.listeners = new Listeners(subscriptions);
        this.autoCommit = autoCommit;
        this.afterJoin = afterJoin;
        this.protocol = protocol(settings.assignors());
        this.interval = new PollInterval(cluster, settings.maxPollInterval(), this::pollsTooRarely);
        this.metadata = GroupIdentity.of(groupId, -1, "", settings.instanceId());
    }

    /** The one that asks the least of members, of what all assignors support. */
    private static RebalanceProtocol protocol(List<ConsumerPartitionAssignor> assignors) {
        Set<RebalanceProtocol> common = new TreeSet<>(List.of(RebalanceProtocol.values()));
        assignors.forEach(assignor -> common.retainAll(assignor.supportedProtocols()));
        if (common.isEmpty()) {
            throw new IllegalArgumentException("Specified assignors "
                    + assignors.stream().map(ConsumerPartitionAssignor::name).toList()
                    + " do not have commonly supported rebalance protocol");
        }
        return List.copyOf(common).getLast();
    }

    private ClassicGroup group() {
        return cluster.groups().classic(groupId);
    }

    // --- polling

    @Override
    public boolean due() {
        if (!subscriptions.byGroup()) {
            return false;
        }
        return switch (state) {
            case State.Out s -> true;
            case State.Joining(ClassicMember member) -> member.joined != null || gone(member.id());
            case State.Syncing(Joined joined) ->
                beat(joined.memberId(), joined.generation()) != Beat.FINE || synced(joined);
            case State.Completing s -> true;
            case State.Stable(Joined joined) ->
                rejoin
                        || idle
                        || topics.stale(subscriptions.topics())
                        || beat(joined.memberId(), joined.generation()) != Beat.FINE;
        };
    }

    @Override
    public long dueAt() {
        return subscriptions.byGroup() ? topics.expiresAt() : Long.MAX_VALUE;
    }

    private boolean synced(Joined joined) {
        return group().assignment(joined.memberId(), joined.generation()) != null;
    }

    private boolean gone(String memberId) {
        Beat beat = beat(memberId, -1);
        return beat == Beat.UNKNOWN_MEMBER || beat == Beat.FENCED;
    }

    private Beat beat(String memberId, int generation) {
        return group().beat(memberId, settings.instanceId(), generation);
    }

    @Override
    public void poll() {
        if (!subscriptions.byGroup()) {
            return;
        }
        cluster.change(interval::polled);
        lookAtTopics();
        heartbeat();
        noticeChanges();
        while (rejoin || !(state instanceof State.Stable)) {
            if (!step()) {
                return;
            }
            noticeChanges();
        }
    }

    private void lookAtTopics() {
        if (cluster.locked(() -> topics.stale(subscriptions.topics()))) {
            refreshTopics();
        }
    }

    private void refreshTopics() {
        topics.refresh();
        if (subscriptions.source() instanceof Subscriptions.Source.ByPattern pattern) {
            Set<String> matched = new LinkedHashSet<>(topics.names());
            matched.removeIf(name -> !pattern.pattern().matcher(name).matches());
            subscriptions.matched(matched);
        }
    }

    private void heartbeat() {
        Joined joined = joined();
        if (joined == null) {
            return;
        }
        if (idle) {
            out();
            return;
        }
        Beat beat = cluster.locked(() -> beat(joined.memberId(), joined.generation()));
        throwIfFenced(beat);
        switch (beat) {
            case FINE, FENCED -> {}
            case REBALANCE -> rejoin = true;
            case UNKNOWN_MEMBER -> out();
        }
    }

    private void throwIfFenced(Beat beat) {
        if (beat == Beat.FENCED) {
            out();
            throw new FencedInstanceIdException("Another consumer of group " + groupId + " has taken group.instance.id "
                    + settings.instanceId().orElse(""));
        }
    }

    @Nullable
    private Joined joined() {
        return switch (state) {
            case State.Out s -> null;
            case State.Joining s -> null;
            case State.Syncing(Joined joined) -> joined;
            case State.Completing(Joined joined, Assignment assignment) -> joined;
            case State.Stable(Joined joined) -> joined;
        };
    }

    private void noticeChanges() {
        if (state instanceof State.Stable
                && ((assignedFrom != null && !assignedFrom.equals(topics.sizes(groupTopics)))
                        || !joinedTopics.equals(subscriptions.topics()))) {
            rejoin = true;
        }
    }

    /** No member any more: what it owned it has lost. */
    private void out() {
        state = new State.Out();
        rejoin = true;
        prepare = true;
        idle = false;
    }

    /** Goes one step towards the next assignment. False if that is for others to make possible. */
    private boolean step() {
        if (prepare) {
            prepare = false;
            prepareToJoin();
        }
        switch (state) {
            case State.Out s -> join("");
            case State.Stable(Joined joined) -> join(joined.memberId());
            case State.Joining(ClassicMember member) -> {
                Joined joined = cluster.locked(() -> member.joined);
                if (joined == null) {
                    if (!cluster.locked(() -> gone(member.id()))) {
                        return false;
                    }
                    throwIfFenced(cluster.locked(() -> beat(member.id(), -1)));
                    out();
                    return true;
                }
                sync(joined);
            }
            case State.Syncing(Joined joined) -> {
                return awaitSync(joined);
            }
            case State.Completing(Joined joined, Assignment assignment) -> complete(joined, assignment);
        }
        return true;
    }

    private void prepareToJoin() {
        autoCommit.run();
        SortedSet<TopicPartition> had = PartitionOrder.sorted(subscriptions.partitions());
        RuntimeException failure = null;
        if (joined() == null) {
            if (!had.isEmpty()) {
                failure = listeners.lost(had);
                subscriptions.become(Set.of());
            }
        } else if (protocol == RebalanceProtocol.EAGER) {
            failure = listeners.revoked(had);
            subscriptions.become(Set.of());
        } else {
            SortedSet<TopicPartition> gone = PartitionOrder.sorted(had);
            gone.removeIf(partition -> subscriptions.topics().contains(partition.topic()));
            if (!gone.isEmpty()) {
                failure = listeners.revoked(gone);
                subscriptions.become(PartitionOrder.minus(had, gone));
            }
        }
        if (failure != null) {
            throw Listeners.wrapped(failure);
        }
    }

    private void join(String memberId) {
        if (subscriptions.source() instanceof Subscriptions.Source.ByPattern || memberId.isEmpty()) {
            refreshTopics();
        }
        List<String> names = List.copyOf(subscriptions.topics());
        int generation = memberId.isEmpty() ? -1 : metadata.generationId();
        LinkedHashMap<String, ClassicMember.Subscription> protocols = new LinkedHashMap<>();
        for (ConsumerPartitionAssignor assignor : settings.assignors()) {
            protocols.put(
                    assignor.name(),
                    new ClassicMember.Subscription(
                            names,
                            assignor.subscriptionUserData(new LinkedHashSet<>(names)),
                            List.copyOf(subscriptions.partitions()),
                            generation,
                            settings.rack()));
        }
        joinedTopics = Set.copyOf(names);
        ClassicMember.Join request = new ClassicMember.Join(
                memberId,
                settings.clientId(),
                settings.instanceId(),
                protocols,
                settings.sessionTimeout(),
                settings.maxPollInterval());
        rejoin = false;
        try {
            state = new State.Joining(cluster.locked(() -> group().join(request)));
        } catch (UnknownMemberIdException e) {
            out();
        }
    }

    private void sync(Joined joined) {
        assignedFrom = null;
        Map<String, Assignment> assignments = joined.leader() && !joined.keepAssignment() ? assign(joined) : Map.of();
        state = new State.Syncing(joined);
        if (joined.leader()) {
            try {
                cluster.change(() -> group().sync(joined.memberId(), joined.generation(), assignments));
            } catch (IllegalGenerationException | UnknownMemberIdException e) {
                // The group did not wait for this leader.
                again(e instanceof UnknownMemberIdException);
            }
        }
    }

    private Map<String, Assignment> assign(Joined joined) {
        Set<String> all = new LinkedHashSet<>();
        joined.members().values().forEach(member -> all.addAll(member.topics()));
        if (!topics.names().containsAll(all)) {
            refreshTopics();
        }
        Map<String, Assignment> assignments = assignor(joined.protocol())
                .assign(topics.forAssignor(), new GroupSubscription(joined.members()))
                .groupAssignment();
        groupTopics = all;
        assignedFrom = topics.sizes(all);
        return assignments;
    }

    private ConsumerPartitionAssignor assignor(String name) {
        return settings.assignors().stream()
                .filter(assignor -> assignor.name().equals(name))
                .findFirst()
                .orElseThrow(
                        () -> new IllegalStateException("Coordinator selected invalid assignment protocol: " + name));
    }

    private boolean awaitSync(Joined joined) {
        try {
            Assignment assignment = cluster.locked(() -> group().assignment(joined.memberId(), joined.generation()));
            if (assignment == null) {
                return false;
            }
            state = new State.Completing(joined, assignment);
            metadata = GroupIdentity.of(groupId, joined.generation(), joined.memberId(), settings.instanceId());
        } catch (RebalanceInProgressException | IllegalGenerationException e) {
            again(false);
        } catch (UnknownMemberIdException e) {
            again(true);
        }
        return true;
    }

    /** The round came to nothing. */
    private void again(boolean unknown) {
        Joined joined = joined();
        if (unknown || joined == null) {
            out();
        } else {
            state = new State.Stable(joined);
            rejoin = true;
        }
    }

    private void complete(Joined joined, Assignment assignment) {
        SortedSet<TopicPartition> had = PartitionOrder.sorted(subscriptions.partitions());
        SortedSet<TopicPartition> now = PartitionOrder.sorted(assignment.partitions());
        if (!now.stream().allMatch(partition -> subscriptions.covers(partition.topic()))) {
            // The subscription has changed since.
            state = new State.Stable(joined);
            rejoin = true;
            prepare = true;
            return;
        }
        RuntimeException failure = null;
        boolean again = false;
        if (protocol == RebalanceProtocol.COOPERATIVE) {
            SortedSet<TopicPartition> revoked = PartitionOrder.minus(had, now);
            if (!revoked.isEmpty()) {
                failure = listeners.revoked(revoked);
                again = true;
            }
        }
        if (again) {
            rejoin = true;
        }
        ConsumerPartitionAssignor assignor = assignor(joined.protocol());
        failure = first(failure, () -> assignor.onAssignment(assignment, metadata));
        subscriptions.become(now);
        afterJoin.run();
        RuntimeException heard = listeners.assigned(PartitionOrder.minus(now, had));
        failure = failure == null ? heard : failure;
        if (failure != null) {
            throw failure instanceof KafkaException ? failure : Listeners.wrapped(failure);
        }
        state = new State.Stable(joined);
        prepare = true;
    }

    private static @Nullable RuntimeException first(@Nullable RuntimeException failure, Runnable then) {
        try {
            then.run();
            return failure;
        } catch (RuntimeException e) {
            return failure == null ? e : failure;
        }
    }

    // --- commits

    @Override
    public ConsumerGroupMetadata forCommit() {
        Joined joined = switch (state) {
            case State.Out s ->
                throw new CommitFailedException("Offset commit cannot be completed since the consumer is not part"
                        + " of an active group for auto partition assignment; it is likely that the consumer was"
                        + " kicked out of the group.");
            case State.Joining s -> throw rebalancing();
            case State.Syncing s -> throw rebalancing();
            case State.Completing(Joined of, Assignment assignment) -> of;
            case State.Stable(Joined of) -> of;
        };
        return GroupIdentity.of(groupId, joined.generation(), joined.memberId(), settings.instanceId());
    }

    private static RebalanceInProgressException rebalancing() {
        return new RebalanceInProgressException("Offset commit cannot be completed since the consumer is undergoing a"
                + " rebalance for auto partition assignment. You can try completing the rebalance by calling poll() and"
                + " then retry the operation.");
    }

    @Override
    public RuntimeException refused(RuntimeException refusal) {
        return switch (refusal) {
            case RebalanceInProgressException e -> {
                rejoin = true;
                yield new RebalanceInProgressException("Offset commit cannot be completed since the consumer group is"
                        + " executing a rebalance at the moment. You can try completing the rebalance by calling poll() and"
                        + " then retry commit again");
            }
            case UnknownMemberIdException e -> {
                out();
                yield new CommitFailedException();
            }
            case IllegalGenerationException e -> {
                out();
                yield new CommitFailedException();
            }
            default -> refusal;
        };
    }

    // --- comings and goings

    @Override
    public ConsumerGroupMetadata metadata() {
        return metadata;
    }

    @Override
    public void subscriptionChanged() {
        refreshTopics();
    }

    @Override
    public void enforceRebalance() {
        rejoin = true;
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

    /** With the lock: the member leaves; the next poll finds that out. */
    private void pollsTooRarely() {
        Joined joined = joined();
        if (joined == null) {
            return;
        }
        idle = true;
        if (settings.instanceId().isEmpty()) {
            group().remove(joined.memberId());
        } else {
            group().sessionEndsSoon(joined.memberId());
        }
    }

    @Override
    public void release() {
        SortedSet<TopicPartition> had = PartitionOrder.sorted(subscriptions.partitions());
        if (!subscriptions.byGroup() || had.isEmpty()) {
            return;
        }
        Joined joined = joined();
        boolean member = joined != null
                && !(state instanceof State.Syncing)
                && cluster.locked(() -> beat(joined.memberId(), joined.generation())) != Beat.UNKNOWN_MEMBER;
        RuntimeException failure = member ? listeners.revoked(had) : listeners.lost(had);
        subscriptions.become(Set.of());
        if (failure != null) {
            throw Listeners.wrapped(failure);
        }
    }

    @Override
    public void leave(Leave how) {
        boolean goes = switch (how) {
            case DEFAULT -> settings.instanceId().isEmpty();
            case FOR_GOOD -> true;
            case REMAIN -> false;
        };
        String memberId = memberId();
        cluster.change(() -> {
            interval.stop();
            if (memberId != null && goes) {
                group().remove(memberId);
            } else if (memberId != null) {
                group().sessionEndsSoon(memberId);
            }
        });
        out();
        assignedFrom = null;
    }

    @Nullable
    private String memberId() {
        if (state instanceof State.Joining(ClassicMember member)) {
            return member.id();
        }
        Joined joined = joined();
        return joined == null ? null : joined.memberId();
    }

    @Override
    public void crash(boolean atOnce) {
        interval.stop();
        String memberId = memberId();
        if (memberId != null && atOnce) {
            group().remove(memberId);
        } else if (memberId != null) {
            group().sessionEndsSoon(memberId);
        }
    }
}
