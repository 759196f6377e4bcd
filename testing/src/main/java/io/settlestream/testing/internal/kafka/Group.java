package io.settlestream.testing.internal.kafka;

import java.util.List;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.common.TopicPartition;

/** The members of a group and what they own; a group keeps its protocol as long as it has members. */
sealed interface Group permits ClassicGroup, ConsumerGroup {

    boolean isEmpty();

    /** The state's name, as an admin client shows it. */
    String state();

    List<GroupMember> members();

    /**
     * Whether offsets may be committed in the name of a member.
     *
     * @throws org.apache.kafka.common.errors.ApiException if not, of the kind that the coordinator answers
     */
    void check(ConsumerGroupMetadata member, boolean transactional);

    /** A member leaves, or is taken for dead. */
    void remove(String memberId);

    /** A member's client has stopped without a word: it is removed when its session ends. */
    void sessionEndsSoon(String memberId);

    /** Whether a member's client has stopped without a word: until its session ends, nobody reads what it was assigned. */
    boolean isSilent(String memberId);

    /** Makes the group assign its partitions anew. */
    void rebalance();

    /** Topics have been created or have gained partitions. */
    void topicsChanged();

    /** From now on these partitions belong to this member, whatever the assignor says. */
    void pin(Set<TopicPartition> partitions, String memberId);

    /** Adds a member that owns partitions and does nothing. */
    void addBare(String memberId, Set<TopicPartition> partitions);
}
