package io.settlestream.testing.internal.kafka;

import io.settlestream.spi.TimeSource;
import io.settlestream.testing.internal.kafka.ConsumerMember.Wish;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.FencedInstanceIdException;
import org.apache.kafka.common.errors.StaleMemberEpochException;
import org.apache.kafka.common.errors.UnknownMemberIdException;
import org.apache.kafka.common.errors.UnreleasedInstanceIdException;
import org.jspecify.annotations.Nullable;

/**
 * A group of {@code group.protocol=consumer} (KIP-848). The coordinator decides who is to have what, and brings each
 * member there on its own: first it gives back what it is not to have, then it gets what it is to have and nobody else
 * still has. There is no moment in which all members wait for each other.
 */
final class ConsumerGroup implements Group {

    private final String groupId;
    private final Groups groups;
    private final Map<String, ConsumerMember> members = new LinkedHashMap<>();
    /** Members whose clients have stopped without a word; of ids that are not members any more nobody asks. */
    private final Set<String> silent = new HashSet<>();

    private final Map<TopicPartition, String> pins = new LinkedHashMap<>();
    private Set<TopicPartition> existing = Set.of();
    private int epoch;

    ConsumerGroup(String groupId, Groups groups) {
        this.groupId = groupId;
        this.groups = groups;
    }

    // --- members

    /** A member comes, or comes back after it was fenced. */
    ConsumerMember join(Wish wish) {
        var unused = ServerAssignor.of(wish.assignor());
        Optional<ConsumerMember> holder = wish.instanceId().flatMap(this::holder);
        if (holder.isPresent() && !holder.get().id().equals(wish.memberId())) {
            return replace(holder.get(), wish);
        }
        ConsumerMember member = members.computeIfAbsent(wish.memberId(), id -> new ConsumerMember(id, wish, false));
        member.wish(wish);
        member.told = null;
        member.owned = Set.of();
        rebalance();
        return member;
    }

    private ConsumerMember replace(ConsumerMember holder, Wish wish) {
        if (!holder.away) {
            throw new UnreleasedInstanceIdException("in group " + groupId + " member " + holder.id()
                    + " holds group.instance.id " + wish.instanceId().orElse("") + " and has not left");
        }
        ConsumerMember member = new ConsumerMember(wish.memberId(), wish, false);
        member.target = holder.target;
        members.remove(holder.id());
        members.put(member.id(), member);
        pins.replaceAll((partition, id) -> id.equals(holder.id()) ? member.id() : id);
        if (holder.wish().topics().equals(wish.topics())
                && holder.wish().pattern().equals(wish.pattern())) {
            advance();
        } else {
            rebalance();
        }
        return member;
    }

    /** The member, or null if the coordinator does not know it (any more). */
    @Nullable
    ConsumerMember find(String memberId) {
        return members.get(memberId);
    }

    /** A member subscribes to something else. */
    void subscribe(Wish wish) {
        ConsumerMember member = member(wish.memberId());
        member.wish(wish);
        rebalance();
    }

    /** A member has what it was told to have, and has given back the rest. */
    void acknowledge(String memberId, Set<TopicPartition> has) {
        ConsumerMember member = members.get(memberId);
        if (member != null && has.equals(member.told)) {
            member.owned = has;
            cancelRevocation(member);
            advance();
        }
    }

    /** A static member closes: its partitions wait for it until its session ends. */
    void away(String memberId) {
        ConsumerMember member = members.get(memberId);
        if (member != null) {
            member.away = true;
            sessionEndsSoon(memberId);
        }
    }

    @Override
    public void remove(String memberId) {
        ConsumerMember member = members.remove(memberId);
        if (member != null) {
            cancelRevocation(member);
            pins.values().removeIf(memberId::equals);
            rebalance();
        }
    }

    @Override
    public void sessionEndsSoon(String memberId) {
        ConsumerMember member = members.get(memberId);
        if (member != null) {
            silent.add(memberId);
            groups.later(member.wish().sessionTimeout(), () -> {
                if (members.get(memberId) == member) {
                    remove(memberId);
                }
            });
        }
    }

    @Override
    public boolean isSilent(String memberId) {
        return silent.contains(memberId);
    }

    // --- who has what

    /** Works out anew who is to have what. */
    @Override
    public void rebalance() {
        epoch++;
        existing = partitions(subscribed());
        List<ServerAssignor.Candidate> candidates = new ArrayList<>();
        Map<String, Integer> wishes = new LinkedHashMap<>();
        for (ConsumerMember member : members.values()) {
            if (!member.bare()) {
                candidates.add(new ServerAssignor.Candidate(
                        member.id(), member.wish().instanceId(), topics(member), member.target));
                if (!member.wish().assignor().isEmpty()) {
                    wishes.merge(member.wish().assignor(), 1, Integer::sum);
                }
            }
        }
        String preferred = wishes.entrySet().stream()
                .max(Map.Entry.comparingByValue())
                .map(Map.Entry::getKey)
                .orElse("");
        Map<String, Set<TopicPartition>> targets =
                ServerAssignor.of(preferred).assign(candidates, PartitionOrder.minus(existing, pins.keySet()));
        for (ConsumerMember member : members.values()) {
            Set<TopicPartition> target = PartitionOrder.sorted(targets.getOrDefault(member.id(), Set.of()));
            pins.forEach((partition, id) -> {
                if (id.equals(member.id())) {
                    target.add(partition);
                }
            });
            member.target = target;
        }
        advance();
    }

    /** Brings each member as far as the others let it. */
    private void advance() {
        for (ConsumerMember member : members.values()) {
            Set<TopicPartition> keeps = PartitionOrder.sorted(member.owned);
            keeps.retainAll(member.target);
            if (keeps.size() < member.owned.size()) {
                if (!keeps.equals(member.told)) {
                    member.told = keeps;
                    cancelRevocation(member);
                    member.revocation = groups.later(member.wish().rebalanceTimeout(), () -> notGivenBack(member));
                }
                if (member.bare()) {
                    member.owned = keeps;
                }
                continue;
            }
            member.epoch = epoch;
            for (TopicPartition partition : member.target) {
                if (free(partition, member)) {
                    keeps.add(partition);
                }
            }
            member.owned = keeps;
            member.told = keeps;
        }
        groups.changed();
    }

    private void notGivenBack(ConsumerMember member) {
        if (members.get(member.id()) == member) {
            remove(member.id());
        }
    }

    private static void cancelRevocation(ConsumerMember member) {
        TimeSource.Timer timer = member.revocation;
        if (timer != null) {
            timer.cancel();
            member.revocation = null;
        }
    }

    private boolean free(TopicPartition partition, ConsumerMember taker) {
        return members.values().stream().noneMatch(other -> other != taker && other.owned.contains(partition));
    }

    private Set<String> subscribed() {
        Set<String> all = new TreeSet<>();
        members.values().forEach(member -> all.addAll(topics(member)));
        return all;
    }

    private Set<String> topics(ConsumerMember member) {
        Set<String> topics = new LinkedHashSet<>(member.wish().topics());
        if (!member.wish().pattern().isEmpty()) {
            Pattern pattern = Pattern.compile(member.wish().pattern());
            groups.cluster().topicNames().stream()
                    .filter(name -> pattern.matcher(name).matches())
                    .forEach(topics::add);
        }
        return topics;
    }

    private Set<TopicPartition> partitions(Collection<String> topics) {
        Set<TopicPartition> all = new LinkedHashSet<>();
        for (String name : topics) {
            List<? extends LogView> topic = groups.cluster().topic(name);
            for (int i = 0; topic != null && i < topic.size(); i++) {
                all.add(new TopicPartition(name, i));
            }
        }
        return all;
    }

    @Override
    public void topicsChanged() {
        if (!existing.equals(partitions(subscribed()))) {
            rebalance();
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
        Wish nothing = new Wish(memberId, Optional.empty(), Set.of(), "", "", Duration.ofDays(1), Duration.ofDays(1));
        members.put(memberId, new ConsumerMember(memberId, nothing, true));
        pin(partitions, memberId);
    }

    @Override
    public boolean isEmpty() {
        return members.isEmpty();
    }

    @Override
    public String state() {
        if (members.isEmpty()) {
            return "Empty";
        }
        boolean settled = members.values().stream()
                .allMatch(member -> member.epoch == epoch && member.target.equals(member.owned));
        return settled ? "Stable" : "Reconciling";
    }

    @Override
    public List<GroupMember> members() {
        return members.values().stream()
                .map(member -> new GroupMember(
                        member.id(),
                        member.wish().instanceId(),
                        member.epoch,
                        PartitionOrder.sorted(member.owned),
                        member.bare()))
                .toList();
    }

    // --- checks

    @Override
    public void check(ConsumerGroupMetadata who, boolean transactional) {
        boolean nameless = who.memberId().isEmpty() && who.groupInstanceId().isEmpty() && who.generationId() < 0;
        if ((who.generationId() < 0 && members.isEmpty()) || (transactional && nameless)) {
            return;
        }
        Optional<ConsumerMember> holder = who.groupInstanceId().flatMap(this::holder);
        if (holder.isPresent() && !holder.get().id().equals(who.memberId())) {
            throw new FencedInstanceIdException("in group " + groupId + " another member holds group.instance.id "
                    + who.groupInstanceId().orElse(""));
        }
        ConsumerMember member = member(who.memberId());
        if (who.generationId() != member.epoch) {
            throw new StaleMemberEpochException("member " + who.memberId() + " of group " + groupId + " is at epoch "
                    + member.epoch + " and not at " + who.generationId());
        }
    }

    private ConsumerMember member(String memberId) {
        ConsumerMember member = members.get(memberId);
        if (member == null) {
            throw new UnknownMemberIdException("group " + groupId + " has no member " + memberId);
        }
        return member;
    }

    private Optional<ConsumerMember> holder(String instanceId) {
        return members.values().stream()
                .filter(member -> member.wish().instanceId().equals(Optional.of(instanceId)))
                .findFirst();
    }
}
