package io.settlestream.testing;

import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaPartitions;
import io.settlestream.kafka.KafkaSource;
import java.util.Optional;
import org.apache.kafka.common.TopicPartition;

/** What one of an application's subscriptions reads, and where. */
record Read(KafkaSource<?> source, KafkaBroker broker) {

    /** Whether a group says which partitions it reads. */
    boolean asMember() {
        return !(source instanceof KafkaPartitions);
    }

    /** The group that it commits to, if it does. */
    Optional<String> group() {
        return asMember() ? source.group().or(broker::defaultGroup) : source.group();
    }

    /** Whether it reads a partition, as far as a group does not give that to another member. */
    boolean reads(TopicPartition partition) {
        return source.reads(partition.topic())
                && (!(source instanceof KafkaPartitions named)
                        || named.partitions().contains(partition.partition()));
    }
}
