package io.settlestream.testing.internal.kafka;

import io.settlestream.testing.internal.kafka.Produce.Sender;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;

/**
 * An idempotent producer's identity, and how far it has counted its records in each partition. One batch of a partition
 * is sent at a time, so a new epoch may begin to count at 0 in each partition with the next batch. With the cluster's
 * lock.
 */
final class Sequences {

    private record Count(long producerId, short epoch, int next) {}

    private final Map<TopicPartition, Count> counts = new HashMap<>();
    private final boolean transactional;
    private long producerId;
    private short epoch;

    Sequences(long producerId, short epoch, boolean transactional) {
        this.producerId = producerId;
        this.epoch = epoch;
        this.transactional = transactional;
    }

    long producerId() {
        return producerId;
    }

    short epoch() {
        return epoch;
    }

    /** Goes on under an identity that the broker gave. */
    void become(long newProducerId, short newEpoch) {
        producerId = newProducerId;
        epoch = newEpoch;
    }

    /** Counts from 0 again, because what became of records is not known and their numbers must not be used again. */
    void startAnew() {
        epoch++;
    }

    /** Numbers the records of a batch. */
    Sender next(TopicPartition partition, int records) {
        Count count = counts.get(partition);
        int first = count == null || count.producerId() != producerId || count.epoch() != epoch ? 0 : count.next();
        counts.put(partition, new Count(producerId, epoch, first + records));
        return new Sender(producerId, epoch, first, transactional);
    }

    /** Gives the numbers of a batch back, because none of its records was appended. */
    void takeBack(TopicPartition partition, Sender sender) {
        counts.put(partition, new Count(sender.producerId(), sender.epoch(), sender.sequence()));
    }
}
