package io.settlestream.testing.internal.kafka;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/** What an operator sees of a group, and what can happen to one. */
public final class GroupControl {

    private final Cluster cluster;
    private final String groupId;

    GroupControl(Cluster cluster, String groupId) {
        this.cluster = cluster;
        this.groupId = groupId;
    }

    /** Its state, by the names that Kafka has for it; {@code Dead} if nobody has ever been in it. */
    public String state() {
        return cluster.locked(() -> {
            Group group = cluster.groups().find(groupId);
            return group == null ? "Dead" : group.state();
        });
    }

    /** The members, in the order in which they came. */
    public List<GroupMember> members() {
        return cluster.locked(() -> {
            Group group = cluster.groups().find(groupId);
            return group == null ? List.of() : group.members();
        });
    }

    /** The committed offsets, without those of open transactions. */
    public Map<TopicPartition, OffsetAndMetadata> committed() {
        return cluster.locked(() -> Collections.unmodifiableMap(
                new LinkedHashMap<>(cluster.groups().offsets(groupId).committed())));
    }

    /**
     * Commits offsets from outside, as an administrator does.
     *
     * @throws org.apache.kafka.common.errors.UnknownMemberIdException if the group has members
     */
    public void commit(Map<TopicPartition, OffsetAndMetadata> offsets) {
        cluster.change(() -> cluster.groups().commit(GroupIdentity.none(groupId), offsets));
    }

    /** Makes the group assign its partitions anew. */
    public void rebalance() {
        cluster.change(() -> group().rebalance());
    }

    /** Takes a member for dead, as if its session had ended: it has lost its partitions, and hears so when it polls. */
    public void expire(String memberId) {
        cluster.change(() -> group().remove(memberId));
    }

    /**
     * Moves partitions to a member, where they stay as long as it is there.
     *
     * @throws IllegalStateException if the group has no such member, or none any more although the member does not know yet
     */
    public void move(Set<TopicPartition> partitions, String memberId) {
        cluster.change(() -> {
            Group group = group();
            if (group.members().stream().noneMatch(member -> member.memberId().equals(memberId))) {
                throw new IllegalStateException("group " + groupId + " has no member " + memberId
                        + " any more: it was thrown out and has not joined again");
            }
            group.pin(partitions, memberId);
        });
    }

    /**
     * Adds a member that owns partitions and does nothing; {@link #expire} removes it.
     *
     * @return its id
     */
    public String addBareMember(Set<TopicPartition> partitions) {
        return cluster.locked(() -> {
            String memberId = cluster.groups().newMemberId("bare");
            group().addBare(memberId, partitions);
            return memberId;
        });
    }

    private Group group() {
        Group group = cluster.groups().find(groupId);
        if (group == null) {
            throw new IllegalStateException("group " + groupId + " has never had a member; there are "
                    + cluster.groups().all().keySet());
        }
        return group;
    }
}
