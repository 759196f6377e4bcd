package io.settlestream.examples.payouts.demo;

import java.util.Map;

/**
 * How far a group has come in a topic.
 *
 * @param reading the topic and the group
 * @param partitions by number
 */
record GroupPosition(Groups.Reading reading, Map<Integer, Partition> partitions) {

    /**
     * One partition.
     *
     * @param start its end when the run began
     * @param committed the group's committed offset; {@code start} if there is none yet
     * @param end its end now
     */
    record Partition(long start, long committed, long end) {}

    GroupPosition {
        partitions = Map.copyOf(partitions);
    }

    /** How many records of this run are below the committed offsets. */
    long done() {
        return partitions.values().stream()
                .mapToLong(p -> p.committed - p.start)
                .sum();
    }

    /** How many records are not. */
    long lag() {
        return partitions.values().stream().mapToLong(p -> p.end - p.committed).sum();
    }

    /** Whether every partition is committed up to its end. Lags of opposite sign must not make up for each other. */
    boolean atEnd() {
        return partitions.values().stream().allMatch(p -> p.committed == p.end);
    }
}
