package io.settlestream.testing.internal.kafka;

import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/** The group coordinator: members, generations, and committed offsets. All of it is called with the cluster's lock. */
final class Groups {

    @SuppressWarnings("UnusedVariable")
    private final Cluster cluster;

    Groups(Cluster cluster) {
        this.cluster = cluster;
    }

    /**
     * Offsets of an open transaction: pending until {@link #complete}.
     *
     * @throws org.apache.kafka.common.KafkaException as the coordinator refuses a member that is unknown, fenced or of an
     *     old generation
     */
    void addPending(long producerId, ConsumerGroupMetadata member, Map<TopicPartition, OffsetAndMetadata> offsets) {
        throw new UnsupportedOperationException("to come");
    }

    /** The transaction of a producer has ended: its pending offsets, of all groups, count or are forgotten. */
    void complete(long producerId, boolean committed) {
        throw new UnsupportedOperationException("to come");
    }
}
