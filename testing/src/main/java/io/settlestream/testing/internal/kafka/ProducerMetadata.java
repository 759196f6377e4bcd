package io.settlestream.testing.internal.kafka;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.jspecify.annotations.Nullable;

/**
 * What a producer knows of topics. It asks for a topic that it does not know, for a partition beyond those it knows, and
 * again after {@code metadata.max.age.ms}: until then it knows neither added partitions nor that a topic is gone.
 */
final class ProducerMetadata {

    private record Known(List<PartitionInfo> partitions, long at) {}

    private final Cluster cluster;
    private final ProducerOptions options;
    private final Map<String, Known> topics = new HashMap<>();
    private final Set<String> illegal = new HashSet<>();

    ProducerMetadata(Cluster cluster, ProducerOptions options) {
        this.cluster = cluster;
        this.options = options;
    }

    /**
     * The partitions of a topic, waiting until it, and a certain partition if one is named, exists.
     *
     * @param thread the producer's, which asks for metadata as long as it runs
     */
    List<PartitionInfo> await(String topic, @Nullable Integer partition, long deadline, ProducerThread thread)
            throws InterruptedException {
        List<PartitionInfo> found = cluster.locked(() -> lookUp(topic, partition));
        if (found != null) {
            return found;
        }
        cluster.wanted(topic);
        if (!Topic.isLegalName(topic)) {
            throw illegal(topic);
        }
        boolean exists = cluster.host()
                .await(() -> cluster.locked(() -> thread.isClosing() || refreshed(topic, partition) != null), deadline);
        if (!exists) {
            throw missing(topic, partition);
        }
        found = cluster.locked(() -> lookUp(topic, partition));
        if (found == null) {
            throw new KafkaException("Producer closed while send in progress");
        }
        return found;
    }

    /** The broker's answer carries the name; who asks again is told by what is known, without it. */
    private InvalidTopicException illegal(String topic) {
        return cluster.locked(() -> illegal.add(topic))
                ? new InvalidTopicException(Set.of(topic))
                : new InvalidTopicException(topic);
    }

    private TimeoutException missing(String topic, @Nullable Integer partition) {
        List<PartitionInfo> there = cluster.locked(() -> refreshed(topic, null));
        if (there == null) {
            return new TimeoutException(
                    "Topic " + topic + " not present in metadata after " + options.maxBlockMs() + " ms.",
                    new UnknownTopicOrPartitionException("This server does not host this topic-partition."));
        }
        return new TimeoutException("Partition " + partition + " of topic " + topic + " with partition count "
                + there.size() + " is not present in metadata after " + options.maxBlockMs() + " ms.");
    }

    private @Nullable List<PartitionInfo> lookUp(String topic, @Nullable Integer partition) {
        long now = cluster.host().nanoTime();
        Known known = topics.get(topic);
        if (known != null
                && now - known.at() < TimeUnit.MILLISECONDS.toNanos(options.metadataMaxAgeMs())
                && (partition == null || partition < known.partitions().size())) {
            return known.partitions();
        }
        List<PartitionInfo> found = refreshed(topic, partition);
        if (found != null) {
            topics.put(topic, new Known(found, now));
        }
        return found;
    }

    private @Nullable List<PartitionInfo> refreshed(String topic, @Nullable Integer partition) {
        Topic there = cluster.find(topic);
        return there == null
                        || (partition != null && partition >= there.partitions().size())
                ? null
                : there.partitionInfos();
    }
}
