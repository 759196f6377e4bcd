package io.settlestream.internal.poll;

import java.util.HashSet;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;

/**
 * What the user pauses: the whole subscription, or partitions of it, one independent of the other. It is remembered for
 * partitions that are elsewhere, too. Belongs to the poll thread.
 */
final class Pauses {

    private boolean all;
    private final Set<TopicPartition> partitions = new HashSet<>();

    void all(boolean paused) {
        all = paused;
    }

    void add(TopicPartition partition) {
        partitions.add(partition);
    }

    /** Forgets a partition's own pause; true if it had one. */
    boolean remove(TopicPartition partition) {
        return partitions.remove(partition);
    }

    boolean cover(TopicPartition partition) {
        return all || partitions.contains(partition);
    }
}
