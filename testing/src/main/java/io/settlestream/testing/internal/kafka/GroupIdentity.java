package io.settlestream.testing.internal.kafka;

import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;

/** Makes what clients say they are; only Kafka's own consumer is to do so in later versions, and this stands for it. */
@SuppressWarnings("removal")
final class GroupIdentity {

    private GroupIdentity() {}

    /** A member, with its generation or epoch. */
    static ConsumerGroupMetadata of(String groupId, int generation, String memberId, Optional<String> instanceId) {
        return new ConsumerGroupMetadata(groupId, generation, memberId, instanceId);
    }

    /** Somebody who is not in the group. */
    static ConsumerGroupMetadata none(String groupId) {
        return new ConsumerGroupMetadata(groupId);
    }
}
