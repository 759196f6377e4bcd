package io.settlestream.testing.internal.kafka;

/**
 * The partition that records without key go to for the time being. Kafka's producer takes another one when it has given
 * {@code batch.size} bytes to it and its batches are full, or twice as many; which one comes next is open. With the
 * cluster's lock.
 */
final class StickyPartition {

    private final String topic;
    private final int batchSize;
    private final Host host;
    private int partition = -1;
    private long bytes;

    StickyPartition(String topic, int batchSize, Host host) {
        this.topic = topic;
        this.batchSize = batchSize;
        this.host = host;
    }

    int current(int partitions) {
        if (partition < 0) {
            move(partitions);
        }
        return partition;
    }

    /** Records were given to the current partition. */
    void gave(int more, boolean batchesFull, int partitions) {
        bytes += more;
        if (bytes >= 2L * batchSize || (bytes >= batchSize && batchesFull)) {
            move(partitions);
        }
    }

    /** Goes on elsewhere if it could not while the last batch had room. */
    void batchesAreFull(int partitions) {
        if (bytes >= batchSize) {
            move(partitions);
        }
    }

    private void move(int partitions) {
        int next = (partition + 1) % partitions;
        partition = (int) host.choose("partition of " + topic + " for records without key", 0, partitions - 1L, next);
        bytes = 0;
    }
}
