package io.settlestream.testing.internal.kafka;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.jspecify.annotations.Nullable;

/**
 * What a partition's leader remembers of idempotent producers: the epoch that each wrote in last, and its last batches. By
 * these it knows a batch that it has already, one that comes too early because another is missing, and one of a producer
 * that was fenced.
 */
final class ProducerEpochs {

    /** As many as a producer may have in flight, so that the repetition of any of them is known. */
    private static final int BATCHES_KEPT = 5;

    /** A batch in the log. Sequences go on at 0 after the largest int; nothing here writes that many records. */
    private record Batch(int first, int last, Produce.Appended where) {}

    private static final class Known {
        private short epoch;
        private final Deque<Batch> batches = new ArrayDeque<>();

        Known(short epoch) {
            this.epoch = epoch;
        }
    }

    private final Map<Long, Known> producers = new HashMap<>();

    /**
     * Looks at a batch before it is appended.
     *
     * @return where the batch lies already, or null if it may be appended
     * @throws InvalidProducerEpochException if a later epoch has written
     * @throws OutOfOrderSequenceException if records before these are missing
     */
    Produce.@Nullable Appended check(String partition, Produce.Sender sender, int records) {
        Known known = producers.get(sender.producerId());
        if (known == null) {
            return null;
        }
        if (sender.epoch() < known.epoch) {
            throw new InvalidProducerEpochException("Epoch of producer " + sender.producerId() + " in " + partition
                    + " is " + sender.epoch() + ", which is smaller than the last seen epoch " + known.epoch);
        }
        boolean newEpoch = sender.epoch() > known.epoch;
        int last = newEpoch || known.batches.isEmpty()
                ? -1
                : known.batches.getLast().last();
        if (!newEpoch) {
            for (Batch batch : known.batches) {
                if (batch.first() == sender.sequence() && batch.last() == sender.sequence() + records - 1) {
                    return batch.where();
                }
            }
        }
        if (sender.sequence() != last + 1) {
            throw new OutOfOrderSequenceException("Out of order sequence number for producer " + sender.producerId()
                    + " in " + partition + ": " + sender.sequence() + " (incoming seq. number), " + last
                    + " (current end sequence number)");
        }
        return null;
    }

    /** A batch lies in the log. */
    void appended(Produce.Sender sender, int records, Produce.Appended where) {
        Known known = epoch(sender.producerId(), sender.epoch());
        known.batches.addLast(new Batch(sender.sequence(), sender.sequence() + records - 1, where));
        if (known.batches.size() > BATCHES_KEPT) {
            known.batches.removeFirst();
        }
    }

    /** A marker in this epoch lies in the log: what an earlier epoch still sends is refused. */
    void fence(long producerId, short epoch) {
        epoch(producerId, epoch);
    }

    private Known epoch(long producerId, short epoch) {
        Known known = producers.computeIfAbsent(producerId, id -> new Known(epoch));
        if (epoch > known.epoch) {
            known.epoch = epoch;
            known.batches.clear();
        }
        return known;
    }
}
