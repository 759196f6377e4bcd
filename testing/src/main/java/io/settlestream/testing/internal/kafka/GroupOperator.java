package io.settlestream.testing.internal.kafka;

import java.util.List;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;

/** What is done to groups from outside: the accidents and decisions that move partitions. Thread-safe. */
public final class GroupOperator {

    /**
     * A member of a group.
     *
     * @param id its name
     * @param partitions what it is assigned
     */
    public record Member(String id, Set<TopicPartition> partitions) {}

    private final Cluster cluster;

    GroupOperator(Cluster cluster) {
        this.cluster = cluster;
    }

    /** The members of a group. */
    public List<Member> members(String group) {
        return cluster.locked(() -> {
            Group found = cluster.groups().find(group);
            return found == null
                    ? List.of()
                    : found.members().stream()
                            .map(member -> new Member(member.memberId(), Set.copyOf(member.assigned())))
                            .toList();
        });
    }

    /** Makes a group assign its partitions anew. */
    public void rebalance(String group) {
        cluster.change(() -> require(group).rebalance());
    }

    /** Takes a member for dead, as when its session has ended; it hears that its partitions are lost. */
    public void expire(String group, String memberId) {
        cluster.change(() -> require(group).remove(memberId));
    }

    /** Gives partitions to a member, whatever the assignor says. */
    public void assign(String group, String memberId, Set<TopicPartition> partitions) {
        cluster.change(() -> require(group).pin(partitions, memberId));
    }

    /** Adds a member that owns these partitions and does nothing with them. */
    public void addMember(String group, String memberId, Set<TopicPartition> partitions) {
        cluster.change(() -> require(group).addBare(memberId, partitions));
    }

    /** A member that was added leaves. */
    public void removeMember(String group, String memberId) {
        cluster.change(() -> require(group).remove(memberId));
    }

    private Group require(String name) {
        Group group = cluster.groups().find(name);
        if (group == null) {
            throw new IllegalArgumentException("There is no group " + name + "; there are "
                    + cluster.groups().all().keySet());
        }
        return group;
    }
}
