package io.settlestream.testing.internal.kafka;

import io.settlestream.testing.internal.kafka.Assigned.Where;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** What keeps a member from being at rest: nothing left to read, and what it has read is committed. */
final class Rest {

    private Rest() {}

    static List<String> open(
            Cluster cluster,
            String group,
            boolean readCommitted,
            @Nullable Membership membership,
            Collection<Assigned> assigned) {
        List<String> open = new ArrayList<>();
        Group members = cluster.groups().find(group);
        String state = members == null ? "Empty" : members.state();
        if (membership != null && (membership.due() || !state.equals("Stable"))) {
            open.add("group " + group + " is " + state + ": a member has a rebalance to take part in");
        }
        GroupOffsets offsets = cluster.groups().offsets(group);
        if (membership != null && members != null) {
            open.addAll(nobodyReads(cluster, group, members, offsets, readCommitted));
        }
        open.addAll(unread(cluster, readCommitted, assigned));
        for (Assigned partition : assigned) {
            if (Offsets.log(cluster, partition.partition()) == null || !(partition.where() instanceof Where.At at)) {
                continue;
            }
            String name = partition.partition() + " in group " + group;
            OffsetAndMetadata committed = offsets.committed().get(partition.partition());
            if (committed == null || committed.offset() != at.offset()) {
                open.add(name + " is committed up to " + (committed == null ? "nothing" : committed.offset())
                        + ", its position is " + at.offset());
            }
        }
        return open;
    }

    /** Partitions of a consumer, in a group or in none, that are not read up to their ends. */
    static List<String> unread(Cluster cluster, boolean readCommitted, Collection<Assigned> assigned) {
        List<String> open = new ArrayList<>();
        for (Assigned partition : assigned) {
            LogView log = Offsets.log(cluster, partition.partition());
            if (log == null) {
                continue;
            }
            if (!(partition.where() instanceof Where.At at)) {
                open.add(partition.partition() + " has no position yet");
                continue;
            }
            long end = Offsets.end(log, readCommitted);
            if (at.offset() < end) {
                open.add(partition.partition() + " is read up to " + at.offset() + " of " + end);
            }
        }
        return open;
    }

    /** Partitions with something to read, whose member is gone and whose session has not ended. */
    private static List<String> nobodyReads(
            Cluster cluster, String group, Group members, GroupOffsets offsets, boolean readCommitted) {
        List<String> open = new ArrayList<>();
        for (GroupMember member : members.members()) {
            if (members.isSilent(member.memberId())) {
                for (TopicPartition partition : member.assigned()) {
                    LogView log = Offsets.log(cluster, partition);
                    OffsetAndMetadata committed = offsets.committed().get(partition);
                    long from = committed == null ? 0 : committed.offset();
                    if (log != null && from < Offsets.end(log, readCommitted)) {
                        open.add(partition + " in group " + group + " belongs to a member that is gone,"
                                + " until its session ends");
                    }
                }
            }
        }
        return open;
    }
}
