package io.settlestream.testing.internal.kafka;

import io.settlestream.testing.internal.kafka.Assigned.Where;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.NoOffsetForPartitionException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** Works out where assigned partitions are read from. */
final class Positions {

    private final Cluster cluster;
    private final ConsumerSettings settings;
    private final Subscriptions subscriptions;

    Positions(Cluster cluster, ConsumerSettings settings, Subscriptions subscriptions) {
        this.cluster = cluster;
        this.settings = settings;
        this.subscriptions = subscriptions;
    }

    /** With the lock: whether {@link #resolve} would get further. */
    boolean due() {
        Set<TopicPartition> unknown = null;
        for (Assigned partition : subscriptions.assigned()) {
            switch (partition.where()) {
                case Where.Unknown w -> {
                    unknown = unknown == null ? new LinkedHashSet<>() : unknown;
                    unknown.add(partition.partition());
                }
                case Where.Resetting w -> {
                    if (Offsets.log(cluster, partition.partition()) != null) {
                        return true;
                    }
                }
                case Where.At w -> {}
            }
        }
        return unknown != null && (settings.groupId() == null || stable(unknown));
    }

    private boolean stable(Set<TopicPartition> partitions) {
        String group = settings.groupId();
        return group == null || cluster.groups().offsets(group).stable(partitions);
    }

    /**
     * Goes as far as it can without waiting.
     *
     * @throws NoOffsetForPartitionException if the group has no offset and there is no reset policy
     */
    void resolve() {
        List<TopicPartition> without = new ArrayList<>();
        cluster.locked(() -> {
            Map<TopicPartition, Assigned> unknown = new LinkedHashMap<>();
            for (Assigned partition : subscriptions.assigned()) {
                if (partition.where() instanceof Where.Unknown) {
                    unknown.put(partition.partition(), partition);
                }
            }
            if (stable(unknown.keySet())) {
                unknown.values().stream()
                        .filter(partition -> !begin(partition))
                        .forEach(partition -> without.add(partition.partition()));
            }
            return null;
        });
        if (!without.isEmpty()) {
            throw new NoOffsetForPartitionException(without);
        }
        cluster.locked(() -> {
            subscriptions.assigned().forEach(this::reset);
            return null;
        });
    }

    private boolean begin(Assigned partition) {
        String group = settings.groupId();
        OffsetAndMetadata committed = group == null
                ? null
                : cluster.groups().offsets(group).committed().get(partition.partition());
        if (committed != null) {
            partition.where(
                    new Where.At(committed.offset(), committed.leaderEpoch().orElse(null)));
            return true;
        }
        if (settings.reset() instanceof Reset.None) {
            return false;
        }
        partition.where(new Where.Resetting(settings.reset()));
        return true;
    }

    private void reset(Assigned partition) {
        LogView log = Offsets.log(cluster, partition.partition());
        if (log == null || !(partition.where() instanceof Where.Resetting(Reset to))) {
            return;
        }
        switch (to) {
            case Reset.Earliest r -> partition.where(new Where.At(log.startOffset(), null));
            case Reset.Latest r -> partition.where(new Where.At(end(log), null));
            case Reset.ByDuration(Duration age) -> {
                LogView.Stored found =
                        since(log, cluster.host().now().minus(age).toEpochMilli());
                partition.where(
                        found == null
                                ? new Where.At(end(log), null)
                                : new Where.At(found.offset(), found.leaderEpoch()));
            }
            case Reset.None r -> throw new IllegalStateException("nothing to reset " + partition.partition() + " to");
        }
    }

    LogView.@Nullable Stored since(LogView log, long timestamp) {
        return log.firstSince(timestamp, settings.readCommitted());
    }

    long end(LogView log) {
        return Offsets.end(log, settings.readCommitted());
    }
}
