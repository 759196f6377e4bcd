package io.settlestream.testing.internal.kafka;

import io.settlestream.spi.TimeSource;
import io.settlestream.testing.internal.kafka.ClassicMember.Join;
import io.settlestream.testing.internal.kafka.ClassicMember.Joined;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.FencedInstanceIdException;
import org.apache.kafka.common.errors.IllegalGenerationException;
import org.apache.kafka.common.errors.InconsistentGroupProtocolException;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.UnknownMemberIdException;
import org.jspecify.annotations.Nullable;

/**
 * A group of the classic protocol. Its members join in rounds; when all have joined there is a new generation, whose
 * leader assigns the partitions.
 *
 * <pre>
 *   Empty ──join──▶ PreparingRebalance ──all joined, or time is up──▶ CompletingRebalance ──leader syncs──▶ Stable
 *                          ▲                                                │                          │
 *                          └──────────── a member joins, leaves or dies ────┴──────────────────────────┘
 * </pre>
 */
final class ClassicGroup implements Group {

    /** What a heartbeat would be answered. */
    enum Beat {
        FINE,
        REBALANCE,
        UNKNOWN_MEMBER,
        FENCED
    }

    private sealed interface State {
        record Empty() implements State {}

        /** Members that have not joined when the timer fires are out. */
        record PreparingRebalance(TimeSource.Timer timeout) implements State {}

        record CompletingRebalance() implements State {}

        record Stable() implements State {}
    }

    private final String groupId;
    private final Groups groups;
    private final Map<String, ClassicMember> members = new LinkedHashMap<>();
    /** Members whose clients have stopped without a word; of ids that are not members any more nobody asks. */
    private final Set<String> silent = new HashSet<>();

    private final Map<String, Set<TopicPartition>> bare = new LinkedHashMap<>();
    private final Map<TopicPartition, String> pins = new LinkedHashMap<>();
    private State state = new State.Empty();
    private int generation;
    private String protocol = "";

    @Nullable
    private String leader;

    ClassicGroup(String groupId, Groups groups) {
        this.groupId = groupId;
        this.groups = groups;
    }

    // --- members

    /** Takes part in a round; the member's {@code joined} is null until it is complete. */
    ClassicMember join(Join join) {
        Optional<ClassicMember> holder = join.instanceId().flatMap(this::holder);
        if (holder.isPresent()) {
            if (join.memberId().isEmpty()) {
                return replace(holder.get(), join);
            }
            if (!join.memberId().equals(holder.get().id())) {
                throw fenced(join.memberId(), join.instanceId().orElse(""));
            }
        }
        if (join.memberId().isEmpty()) {
            checkProtocols(join);
            ClassicMember member =
                    new ClassicMember(groups.newMemberId(join.instanceId().orElse(join.clientId())), join);
            members.put(member.id(), member);
            joinRound(member);
            return member;
        }
        ClassicMember member = member(join.memberId());
        boolean same = member.same(join);
        boolean again = switch (state) {
            case State.Empty s -> true;
            case State.PreparingRebalance s -> true;
            case State.CompletingRebalance s -> !same;
            case State.Stable s -> !same || member.id().equals(leader);
        };
        member.join(join);
        if (again) {
            joinRound(member);
        } else {
            member.joined = answer(member, false);
        }
        return member;
    }

    /** A static member came back under its name: it takes over what its predecessor owned, who is fenced. */
    private ClassicMember replace(ClassicMember holder, Join join) {
        checkProtocols(join);
        ClassicMember member =
                new ClassicMember(groups.newMemberId(join.instanceId().orElse("")), join);
        members.remove(holder.id());
        members.put(member.id(), member);
        pins.replaceAll((partition, id) -> id.equals(holder.id()) ? member.id() : id);
        boolean leads = holder.id().equals(leader);
        if (leads) {
            leader = member.id();
        }
        boolean sameTopics = join.protocols().containsKey(protocol)
                && Set.copyOf(member.subscription(protocol).topics())
                        .equals(Set.copyOf(holder.subscription(protocol).topics()));
        if (state instanceof State.Stable && sameTopics && protocol.equals(commonProtocol())) {
            member.assignment = holder.assignment;
            member.joined = answer(member, leads);
            groups.changed();
        } else {
            joinRound(member);
        }
        return member;
    }

    private void joinRound(ClassicMember member) {
        member.waiting = true;
        member.joined = null;
        member.assignment = null;
        rebalance();
    }

    /** The leader assigns. */
    void sync(String memberId, int ofGeneration, Map<String, Assignment> assignments) {
        checkGeneration(memberId, ofGeneration);
        if (!(state instanceof State.CompletingRebalance) || !memberId.equals(leader)) {
            return;
        }
        Map<String, Assignment> pinned = pinned(assignments);
        for (ClassicMember member : members.values()) {
            member.assignment = pinned.getOrDefault(member.id(), new Assignment(List.of()));
        }
        state = new State.Stable();
        groups.changed();
    }

    /**
     * What a member was assigned, or null if the leader has not said yet. The answer is on its way as soon as the leader
     * has said it, so it arrives also if the next round has begun meanwhile.
     *
     * @throws RebalanceInProgressException if the next round has begun
     */
    @Nullable
    Assignment assignment(String memberId, int ofGeneration) {
        ClassicMember member = checkGeneration(memberId, ofGeneration);
        if (member.assignment == null && state instanceof State.PreparingRebalance) {
            throw new RebalanceInProgressException();
        }
        return member.assignment;
    }

    /** What the coordinator has to say to a member. */
    Beat beat(String memberId, Optional<String> instanceId, int ofGeneration) {
        Optional<ClassicMember> holder = instanceId.flatMap(this::holder);
        if (holder.isPresent() && !holder.get().id().equals(memberId)) {
            return Beat.FENCED;
        }
        ClassicMember member = members.get(memberId);
        if (member == null) {
            return Beat.UNKNOWN_MEMBER;
        }
        return (state instanceof State.PreparingRebalance && !member.waiting) || generation != ofGeneration
                ? Beat.REBALANCE
                : Beat.FINE;
    }

    @Override
    public void remove(String memberId) {
        bare.remove(memberId);
        pins.values().removeIf(memberId::equals);
        ClassicMember member = members.remove(memberId);
        if (memberId.equals(leader)) {
            leader = null;
        }
        if (member != null || !members.isEmpty()) {
            rebalance();
        }
    }

    @Override
    public void sessionEndsSoon(String memberId) {
        ClassicMember member = members.get(memberId);
        if (member != null) {
            silent.add(memberId);
            groups.later(member.join().sessionTimeout(), () -> {
                if (members.containsKey(memberId)) {
                    remove(memberId);
                }
            });
        }
    }

    @Override
    public boolean isSilent(String memberId) {
        return silent.contains(memberId);
    }

    // --- rounds

    /** Begins a round, unless one is under way, and ends it if nobody is missing. */
    @Override
    public void rebalance() {
        if (!(state instanceof State.PreparingRebalance)) {
            Duration longest = members.values().stream()
                    .map(member -> member.join().rebalanceTimeout())
                    .max(Comparator.naturalOrder())
                    .orElse(Duration.ZERO);
            state = new State.PreparingRebalance(groups.later(longest, this::timeIsUp));
        }
        if (members.values().stream().allMatch(member -> member.waiting)) {
            completeRound();
        }
        groups.changed();
    }

    private void timeIsUp() {
        if (state instanceof State.PreparingRebalance) {
            members.values().removeIf(member -> !member.waiting);
            completeRound();
            groups.changed();
        }
    }

    private void completeRound() {
        if (state instanceof State.PreparingRebalance(TimeSource.Timer timeout)) {
            timeout.cancel();
        }
        generation++;
        if (members.isEmpty()) {
            leader = null;
            protocol = "";
            state = new State.Empty();
            return;
        }
        protocol = commonProtocol();
        if (leader == null || !members.containsKey(leader)) {
            leader = members.keySet().iterator().next();
        }
        for (ClassicMember member : members.values()) {
            member.waiting = false;
            member.assignment = null;
        }
        state = new State.CompletingRebalance();
        members.values().forEach(member -> member.joined = answer(member, false));
    }

    private Joined answer(ClassicMember member, boolean keepAssignment) {
        boolean leads = member.id().equals(leader);
        Map<String, Subscription> all = new LinkedHashMap<>();
        if (leads) {
            members.values().forEach(other -> all.put(other.id(), other.subscription(protocol)));
        }
        return new Joined(member.id(), generation, protocol, leads, all, keepAssignment);
    }

    /** What most members would rather use, of what all of them support. */
    private String commonProtocol() {
        Set<String> common = new LinkedHashSet<>(
                members.values().iterator().next().join().protocols().keySet());
        members.values()
                .forEach(member -> common.retainAll(member.join().protocols().keySet()));
        Map<String, Integer> votes = new LinkedHashMap<>();
        for (ClassicMember member : members.values()) {
            member.join().protocols().keySet().stream()
                    .filter(common::contains)
                    .findFirst()
                    .ifPresent(vote -> votes.merge(vote, 1, Integer::sum));
        }
        String chosen = "";
        for (Map.Entry<String, Integer> vote : votes.entrySet()) {
            if (chosen.isEmpty() || vote.getValue() > votes.getOrDefault(chosen, 0)) {
                chosen = vote.getKey();
            }
        }
        return chosen;
    }

    private void checkProtocols(Join join) {
        Set<String> common = new LinkedHashSet<>(join.protocols().keySet());
        members.values().stream()
                .filter(member ->
                        member.instanceId().isEmpty() || !member.instanceId().equals(join.instanceId()))
                .forEach(member -> common.retainAll(member.join().protocols().keySet()));
        if (common.isEmpty()) {
            throw new InconsistentGroupProtocolException("the members of group " + groupId
                    + " have no partition.assignment.strategy in common with one that supports "
                    + join.protocols().keySet());
        }
    }

    // --- what operators want

    @Override
    public void pin(Set<TopicPartition> partitions, String memberId) {
        partitions.forEach(partition -> pins.put(partition, memberId));
        rebalance();
    }

    @Override
    public void addBare(String memberId, Set<TopicPartition> partitions) {
        bare.put(memberId, new LinkedHashSet<>(partitions));
        partitions.forEach(partition -> pins.put(partition, memberId));
        if (!members.isEmpty()) {
            rebalance();
        }
    }

    /** The leader's assignment, with the pinned partitions where they belong. */
    private Map<String, Assignment> pinned(Map<String, Assignment> assignments) {
        if (pins.isEmpty()) {
            return assignments;
        }
        // The leader may not have heard of a new partition yet. An owner of what it does not know confuses the
        // assignor.
        Set<TopicPartition> known = new LinkedHashSet<>();
        assignments.values().forEach(assignment -> known.addAll(assignment.partitions()));
        Map<String, Set<TopicPartition>> result = new LinkedHashMap<>();
        members.keySet().forEach(id -> result.put(id, new LinkedHashSet<>()));
        assignments.forEach((id, assignment) -> assignment.partitions().stream()
                .filter(partition ->
                        !pins.containsKey(partition) || pins.get(partition).equals(id))
                .forEach(partition ->
                        result.getOrDefault(id, new LinkedHashSet<>()).add(partition)));
        pins.forEach((partition, id) -> {
            // Under a cooperative protocol its owner has to give it back first; then comes another round.
            boolean owned = members.values().stream()
                    .anyMatch(member -> !member.id().equals(id)
                            && member.subscription(protocol).ownedPartitions().contains(partition));
            Set<TopicPartition> owner = result.get(id);
            if (owner != null && !owned && known.contains(partition)) {
                owner.add(partition);
            }
        });
        Map<String, Assignment> all = new LinkedHashMap<>();
        result.forEach((id, partitions) -> {
            Assignment assigned = assignments.get(id);
            all.put(id, new Assignment(new ArrayList<>(partitions), assigned == null ? null : assigned.userData()));
        });
        return all;
    }

    @Override
    public void topicsChanged() {
        // It is the leader who looks at topics.
    }

    @Override
    public boolean isEmpty() {
        return members.isEmpty() && bare.isEmpty();
    }

    @Override
    public String state() {
        return state.getClass().getSimpleName();
    }

    @Override
    public List<GroupMember> members() {
        List<GroupMember> all = new ArrayList<>();
        for (ClassicMember member : members.values()) {
            Assignment assignment = member.assignment;
            Set<TopicPartition> assigned =
                    PartitionOrder.sorted(assignment == null ? List.of() : assignment.partitions());
            all.add(new GroupMember(member.id(), member.instanceId(), generation, assigned, false));
        }
        bare.forEach((id, owned) -> all.add(new GroupMember(id, Optional.empty(), generation, owned, true)));
        return all;
    }

    // --- checks

    @Override
    public void check(ConsumerGroupMetadata member, boolean transactional) {
        int of = member.generationId();
        if (of < 0 && isEmpty()) {
            return;
        }
        if (of >= 0 || !member.memberId().isEmpty() || member.groupInstanceId().isPresent()) {
            checkMember(member.memberId(), member.groupInstanceId());
            checkGeneration(member.memberId(), of);
        } else if (!transactional) {
            throw new UnknownMemberIdException("group " + groupId + " has members, and only they may commit");
        }
        if (!transactional && state instanceof State.CompletingRebalance) {
            throw new RebalanceInProgressException();
        }
    }

    private void checkMember(String memberId, Optional<String> instanceId) {
        Optional<ClassicMember> holder = instanceId.flatMap(this::holder);
        if (holder.isPresent() && !holder.get().id().equals(memberId)) {
            throw fenced(memberId, instanceId.orElse(""));
        }
        member(memberId);
    }

    private ClassicMember checkGeneration(String memberId, int ofGeneration) {
        ClassicMember member = member(memberId);
        if (ofGeneration != generation) {
            throw new IllegalGenerationException(
                    "group " + groupId + " is at generation " + generation + " and not at " + ofGeneration);
        }
        return member;
    }

    private ClassicMember member(String memberId) {
        ClassicMember member = members.get(memberId);
        if (member == null) {
            throw new UnknownMemberIdException("group " + groupId + " has no member " + memberId);
        }
        return member;
    }

    private Optional<ClassicMember> holder(String instanceId) {
        return members.values().stream()
                .filter(member -> member.instanceId().equals(Optional.of(instanceId)))
                .findFirst();
    }

    private FencedInstanceIdException fenced(String memberId, String instanceId) {
        return new FencedInstanceIdException("in group " + groupId + " another member holds group.instance.id "
                + instanceId + "; " + memberId + " is fenced");
    }
}
