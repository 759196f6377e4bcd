package io.settlestream.testing.internal.kafka;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** A member of a {@link ClassicGroup}, as the coordinator knows it. */
final class ClassicMember {

    /** What a member tells the group's leader through one of the assignors it supports. */
    record Subscription(
            List<String> topics,
            @Nullable ByteBuffer userData,
            List<TopicPartition> owned,
            int generation,
            Optional<String> rack) {

        ConsumerPartitionAssignor.Subscription forAssignor() {
            return new ConsumerPartitionAssignor.Subscription(
                    topics, userData == null ? null : userData.duplicate(), owned, generation, rack);
        }
    }

    /**
     * A JoinGroup request.
     *
     * @param memberId empty at first
     * @param protocols by the assignor's name, in order of preference
     */
    record Join(
            String memberId,
            String clientId,
            Optional<String> instanceId,
            LinkedHashMap<String, Subscription> protocols,
            Duration sessionTimeout,
            Duration rebalanceTimeout) {}

    /**
     * What a member learns when a round is complete.
     *
     * @param members what each member tells the leader; empty for all others
     * @param keepAssignment whether a leader that came back need not assign anew
     */
    record Joined(
            String memberId,
            int generation,
            String protocol,
            boolean leader,
            Map<String, ConsumerPartitionAssignor.Subscription> members,
            boolean keepAssignment) {}

    private final String id;
    private final Optional<String> instanceId;
    private Join join;

    /** Whether it takes part in the round that is under way. */
    boolean waiting;

    @Nullable
    Joined joined;

    ConsumerPartitionAssignor.@Nullable Assignment assignment;

    ClassicMember(String id, Join join) {
        this.id = id;
        this.instanceId = join.instanceId();
        this.join = join;
    }

    String id() {
        return id;
    }

    Optional<String> instanceId() {
        return instanceId;
    }

    Join join() {
        return join;
    }

    void join(Join again) {
        join = again;
    }

    /** Whether it says the same as before. */
    boolean same(Join again) {
        return join.protocols().equals(again.protocols())
                && List.copyOf(join.protocols().keySet())
                        .equals(List.copyOf(again.protocols().keySet()));
    }

    ConsumerPartitionAssignor.Subscription subscription(String protocol) {
        Subscription said = join.protocols().get(protocol);
        if (said == null) {
            throw new IllegalStateException(
                    "member " + id + " supports " + join.protocols().keySet() + " and not " + protocol);
        }
        ConsumerPartitionAssignor.Subscription subscription = said.forAssignor();
        subscription.setGroupInstanceId(instanceId);
        return subscription;
    }
}
