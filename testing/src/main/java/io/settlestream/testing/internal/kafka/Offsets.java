package io.settlestream.testing.internal.kafka;

import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** Offsets as readers ask for them. With the cluster's lock. */
final class Offsets {

    private Offsets() {}

    static OffsetAndMetadata committable(long offset, @Nullable Integer leaderEpoch) {
        return new OffsetAndMetadata(offset, Optional.ofNullable(leaderEpoch), "");
    }

    /** The log of a partition, or null if there is none. */
    @Nullable
    static LogView log(Cluster cluster, TopicPartition partition) {
        List<? extends LogView> topic = cluster.topic(partition.topic());
        return topic == null || partition.partition() >= topic.size() ? null : topic.get(partition.partition());
    }

    /** Where the log ends for a reader. */
    static long end(LogView log, boolean committed) {
        return committed ? log.lastStableOffset() : log.endOffset();
    }
}
