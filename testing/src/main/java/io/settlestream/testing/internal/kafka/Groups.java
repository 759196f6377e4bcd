package io.settlestream.testing.internal.kafka;

import io.settlestream.spi.TimeSource;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.IllegalGenerationException;
import org.apache.kafka.common.errors.InconsistentGroupProtocolException;
import org.apache.kafka.common.errors.OffsetMetadataTooLarge;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.jspecify.annotations.Nullable;

/** The group coordinator: members, generations, and committed offsets. All of it is called with the cluster's lock. */
final class Groups {

    /** The broker's default of {@code offset.metadata.max.bytes}, which counts characters. */
    private static final int MAX_METADATA_LENGTH = 4096;

    private final Cluster cluster;
    private final Map<String, Group> groups = new LinkedHashMap<>();
    private final Map<String, GroupOffsets> offsets = new LinkedHashMap<>();
    private long membersSoFar;
    private long clientsSoFar;

    Groups(Cluster cluster) {
        this.cluster = cluster;
    }

    // --- for members

    /**
     * The group, made if there is none.
     *
     * @throws InconsistentGroupProtocolException if it has members of the other protocol
     */
    ClassicGroup classic(String groupId) {
        Group group = groups.get(groupId);
        if (group instanceof ClassicGroup classic) {
            return classic;
        }
        if (group != null && !group.isEmpty()) {
            throw new InconsistentGroupProtocolException(
                    "group " + groupId + " has members with group.protocol=consumer,"
                            + " so none of them can use the classic protocol; the in-process Kafka does not migrate groups");
        }
        ClassicGroup made = new ClassicGroup(groupId, this);
        groups.put(groupId, made);
        return made;
    }

    /** As {@link #classic}, for {@code group.protocol=consumer}. */
    ConsumerGroup consumer(String groupId) {
        Group group = groups.get(groupId);
        if (group instanceof ConsumerGroup consumer) {
            return consumer;
        }
        if (group != null && !group.isEmpty()) {
            throw new InconsistentGroupProtocolException("group " + groupId + " has members of the classic protocol, so"
                    + " none of them can use group.protocol=consumer; the in-process Kafka does not migrate groups");
        }
        ConsumerGroup made = new ConsumerGroup(groupId, this);
        groups.put(groupId, made);
        return made;
    }

    /** A name for a member that no other has; in the order in which they came. */
    String newMemberId(String clientId) {
        membersSoFar++;
        return String.format("%s-%08d", clientId, membersSoFar);
    }

    /** Counts consumers, to name those without a {@code client.id}. */
    long newClientNumber() {
        return ++clientsSoFar;
    }

    // --- offsets

    /**
     * Commits, if the member may.
     *
     * @throws org.apache.kafka.common.errors.ApiException if not
     */
    void commit(ConsumerGroupMetadata member, Map<TopicPartition, OffsetAndMetadata> positions) {
        check(member, false);
        checkExist(positions.keySet());
        checkMetadata(positions);
        offsets(member.groupId()).commit(positions);
        cluster.host().changed();
    }

    /**
     * Offsets of an open transaction: pending until {@link #complete}.
     *
     * @throws org.apache.kafka.common.KafkaException as the coordinator refuses a member that is unknown, fenced or of an
     *     old generation
     */
    void addPending(long producerId, ConsumerGroupMetadata member, Map<TopicPartition, OffsetAndMetadata> positions) {
        check(member, true);
        checkExist(positions.keySet());
        checkMetadata(positions);
        offsets(member.groupId()).addPending(producerId, positions);
    }

    /** The transaction of a producer has ended: its pending offsets, of all groups, count or are forgotten. */
    void complete(long producerId, boolean committed) {
        offsets.values().forEach(group -> group.complete(producerId, committed));
        cluster.host().changed();
    }

    GroupOffsets offsets(String groupId) {
        return offsets.computeIfAbsent(groupId, id -> new GroupOffsets());
    }

    private void check(ConsumerGroupMetadata member, boolean transactional) {
        Group group = groups.get(member.groupId());
        if (group != null) {
            group.check(member, transactional);
        } else if (member.generationId() >= 0) {
            throw new IllegalGenerationException(
                    "group " + member.groupId() + " does not exist, so it has no generation " + member.generationId());
        }
    }

    private static void checkMetadata(Map<TopicPartition, OffsetAndMetadata> positions) {
        positions.forEach((partition, position) -> {
            if (position.metadata().length() > MAX_METADATA_LENGTH) {
                throw new OffsetMetadataTooLarge("the metadata of the offset of " + partition + " has "
                        + position.metadata().length() + " characters, more than " + MAX_METADATA_LENGTH);
            }
        });
    }

    private void checkExist(Set<TopicPartition> partitions) {
        for (TopicPartition partition : partitions) {
            List<? extends LogView> topic = cluster.topic(partition.topic());
            if (topic == null || partition.partition() >= topic.size()) {
                throw new UnknownTopicOrPartitionException("there is no " + partition);
            }
        }
    }

    // --- for operators

    /** The group, or null if nobody has ever been in it. */
    @Nullable
    Group find(String groupId) {
        return groups.get(groupId);
    }

    Map<String, Group> all() {
        return groups;
    }

    /** Topics have been created or have gained partitions. */
    void topicsChanged() {
        groups.values().forEach(Group::topicsChanged);
    }

    // --- for groups

    Cluster cluster() {
        return cluster;
    }

    void changed() {
        cluster.host().changed();
    }

    /** Lets those who wait look again later. */
    void lookAgain(Duration delay) {
        TimeSource.Timer unused = cluster.host().schedule(delay, cluster.host()::changed);
    }

    /** Does something later, with the lock. */
    TimeSource.Timer later(Duration delay, Runnable task) {
        return cluster.host().schedule(delay, () -> {
            cluster.lock().lock();
            try {
                task.run();
            } finally {
                cluster.lock().unlock();
            }
        });
    }
}
