package io.settlestream.testing.internal.kafka;

import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InvalidGroupIdException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;

/** What a consumer asks the cluster without reading. */
final class Lookups {

    private final Cluster cluster;
    private final ConsumerSettings settings;
    private final Waiting waiting;

    Lookups(Cluster cluster, ConsumerSettings settings, Waiting waiting) {
        this.cluster = cluster;
        this.settings = settings;
        this.waiting = waiting;
    }

    Map<TopicPartition, Long> beginnings(Collection<TopicPartition> partitions, Duration timeout) {
        return offsets(partitions, timeout, LogView::startOffset);
    }

    Map<TopicPartition, Long> ends(Collection<TopicPartition> partitions, Duration timeout) {
        return offsets(partitions, timeout, log -> Offsets.end(log, settings.readCommitted()));
    }

    Map<TopicPartition, OffsetAndTimestamp> since(Map<TopicPartition, Long> timestamps, Duration timeout) {
        Map<TopicPartition, OffsetAndTimestamp> found = new LinkedHashMap<>();
        timestamps.forEach((partition, timestamp) -> {
            if (timestamp < 0) {
                throw new IllegalArgumentException("The target time for partition " + partition + " is " + timestamp
                        + ". The target time cannot be negative.");
            }
        });
        awaitLogs(timestamps.keySet(), timeout);
        cluster.locked(() -> {
            timestamps.forEach((partition, timestamp) -> {
                LogView log = Offsets.log(cluster, partition);
                LogView.Stored record = log == null ? null : log.firstSince(timestamp, settings.readCommitted());
                found.put(partition, answer(record));
            });
            return null;
        });
        return found;
    }

    @SuppressWarnings("NullAway") // Kafka's map has null for a partition without such a record.
    private static OffsetAndTimestamp answer(LogView.@Nullable Stored record) {
        return record == null
                ? null
                : new OffsetAndTimestamp(record.offset(), record.timestamp(), Optional.of(record.leaderEpoch()));
    }

    private Map<TopicPartition, Long> offsets(
            Collection<TopicPartition> partitions, Duration timeout, Function<LogView, Long> which) {
        awaitLogs(partitions, timeout);
        Map<TopicPartition, Long> offsets = new LinkedHashMap<>();
        cluster.locked(() -> {
            for (TopicPartition partition : partitions) {
                LogView log = Offsets.log(cluster, partition);
                if (log != null) {
                    offsets.put(partition, which.apply(log));
                }
            }
            return null;
        });
        return offsets;
    }

    /** Kafka's consumer asks for partitions that do not exist until they do, or its time is up. */
    private void awaitLogs(Collection<TopicPartition> partitions, Duration timeout) {
        waiting.throwIfWoken();
        boolean exist = waiting.until(
                () -> partitions.stream().allMatch(partition -> Offsets.log(cluster, partition) != null),
                waiting.deadline(timeout));
        if (!exist) {
            throw new TimeoutException(
                    "Failed to get offsets by times in " + timeout.toMillis() + "ms for " + partitions);
        }
    }

    Map<TopicPartition, OffsetAndMetadata> committed(Set<TopicPartition> partitions, Duration timeout) {
        String group = requireGroup(settings);
        waiting.throwIfWoken();
        boolean stable =
                waiting.until(() -> cluster.groups().offsets(group).stable(partitions), waiting.deadline(timeout));
        if (!stable) {
            throw new TimeoutException(
                    "Timeout of " + timeout.toMillis() + "ms expired before the last committed offset"
                            + " for partitions " + partitions
                            + " could be determined. Try tuning default.api.timeout.ms larger to"
                            + " relax the threshold.");
        }
        Map<TopicPartition, OffsetAndMetadata> found = new LinkedHashMap<>();
        cluster.locked(() -> {
            Map<TopicPartition, OffsetAndMetadata> all =
                    cluster.groups().offsets(group).committed();
            partitions.forEach(partition -> put(found, partition, all.get(partition)));
            return null;
        });
        return found;
    }

    @SuppressWarnings("NullAway") // Kafka's map has null for a partition without a committed offset.
    private static void put(
            Map<TopicPartition, OffsetAndMetadata> found,
            TopicPartition partition,
            @Nullable OffsetAndMetadata offset) {
        found.put(partition, offset);
    }

    List<PartitionInfo> partitions(String topic) {
        waiting.throwIfWoken();
        if (!Topic.isLegalName(topic)) {
            throw new InvalidTopicException("Topic '" + topic + "' is invalid");
        }
        return cluster.locked(() -> {
            List<? extends LogView> partitions = cluster.topic(topic);
            return partitions == null ? List.of() : TopicMetadata.infos(topic, partitions.size());
        });
    }

    Map<String, List<PartitionInfo>> topics() {
        waiting.throwIfWoken();
        Map<String, List<PartitionInfo>> all = new LinkedHashMap<>();
        cluster.locked(() -> TopicMetadata.sizesNow(cluster))
                .forEach((topic, size) -> all.put(topic, TopicMetadata.infos(topic, size)));
        return all;
    }

    static String requireGroup(ConsumerSettings settings) {
        String group = settings.groupId();
        if (group == null) {
            throw new InvalidGroupIdException(
                    "To use the group management or offset commit APIs, you must provide a valid"
                            + " group.id in the consumer configuration.");
        }
        return group;
    }
}
