package io.settlestream.testing.internal.kafka;

import java.util.Collection;
import java.util.Comparator;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import org.apache.kafka.common.TopicPartition;

/** Partitions by topic and number, the order in which listeners see them. */
final class PartitionOrder {

    static final Comparator<TopicPartition> BY_NAME =
            Comparator.comparing(TopicPartition::topic).thenComparingInt(TopicPartition::partition);

    private PartitionOrder() {}

    static SortedSet<TopicPartition> sorted(Collection<TopicPartition> partitions) {
        SortedSet<TopicPartition> sorted = new TreeSet<>(BY_NAME);
        sorted.addAll(partitions);
        return sorted;
    }

    static SortedSet<TopicPartition> minus(Collection<TopicPartition> partitions, Set<TopicPartition> without) {
        SortedSet<TopicPartition> rest = sorted(partitions);
        rest.removeAll(without);
        return rest;
    }
}
