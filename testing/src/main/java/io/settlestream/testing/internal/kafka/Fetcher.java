package io.settlestream.testing.internal.kafka;

import io.settlestream.testing.internal.kafka.Assigned.Where;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * Reads ahead and hands out. What was fetched of a partition is kept until the application has taken all of it, also
 * while the partition is paused; it is dropped when the position has moved elsewhere.
 */
final class Fetcher {

    /** What a fetch brought of one partition. */
    private static final class Chunk {
        private final TopicPartition partition;
        private final Deque<LogView.Stored> records;
        private final LogView.Read read;
        private final boolean outOfRange;
        private long next;

        @Nullable
        private Integer epoch;

        Chunk(TopicPartition partition, Where.At from, LogView.Read read, boolean outOfRange) {
            this.partition = partition;
            this.records = new ArrayDeque<>(read.records());
            this.read = read;
            this.outOfRange = outOfRange;
            this.next = from.offset();
            this.epoch = from.leaderEpoch();
        }

        List<ConsumerRecord<byte[], byte[]>> take(int most) {
            List<ConsumerRecord<byte[], byte[]>> taken = new ArrayList<>();
            while (taken.size() < most && !records.isEmpty()) {
                LogView.Stored stored = records.remove();
                taken.add(record(partition, stored));
                next = stored.offset() + 1;
                epoch = stored.leaderEpoch();
            }
            if (records.isEmpty()) {
                next = read.nextOffset();
                epoch = read.leaderEpoch() == null ? epoch : read.leaderEpoch();
            }
            return taken;
        }
    }

    private final Cluster cluster;
    private final ConsumerSettings settings;
    private final Subscriptions subscriptions;
    private final Deque<Chunk> fetched = new ArrayDeque<>();

    Fetcher(Cluster cluster, ConsumerSettings settings, Subscriptions subscriptions) {
        this.cluster = cluster;
        this.settings = settings;
        this.subscriptions = subscriptions;
    }

    /** Forgets what was fetched of other partitions than these. */
    void keepOnly(Collection<TopicPartition> partitions) {
        fetched.removeIf(chunk -> !partitions.contains(chunk.partition));
    }

    /** With the lock: whether a poll would bring something. */
    boolean ready() {
        for (Chunk chunk : fetched) {
            Assigned partition = subscriptions.find(chunk.partition);
            if (partition != null && partition.readable() && partition.at(chunk.next)) {
                return true;
            }
        }
        // A loop: this is asked for every waiting consumer whenever anything changes.
        for (Assigned partition : subscriptions.assigned()) {
            if (more(partition)) {
                return true;
            }
        }
        return false;
    }

    /** Whether there is something to fetch of a partition. */
    private boolean more(Assigned partition) {
        if (!partition.readable() || !(partition.where() instanceof Where.At at) || buffered(partition)) {
            return false;
        }
        if (partition.notBefore != null && partition.notBefore - cluster.host().nanoTime() > 0) {
            return false;
        }
        LogView log = Offsets.log(cluster, partition.partition());
        return log != null
                && (at.offset() < Offsets.end(log, settings.readCommitted())
                        || at.offset() < log.startOffset()
                        || at.offset() > log.endOffset());
    }

    private boolean buffered(Assigned partition) {
        for (Chunk chunk : fetched) {
            if (chunk.partition.equals(partition.partition()) && partition.at(chunk.next)) {
                return true;
            }
        }
        return false;
    }

    /** Fetches of each partition of which nothing is left. */
    void fetch() {
        int budget = settings.fetchMaxBytes();
        List<Assigned> order = cluster.locked(() -> new ArrayList<>(
                subscriptions.assigned().stream().filter(this::more).toList()));
        if (order.isEmpty()) {
            return;
        }
        int first = (int) cluster.host().choose("first partition of a fetch", 0, order.size() - 1L, 0);
        for (int i = 0; i < order.size() && budget > 0; i++) {
            Assigned partition = order.get((first + i) % order.size());
            if (fails(partition)) {
                continue;
            }
            int most = Math.min(budget, settings.maxPartitionFetchBytes());
            Chunk chunk = cluster.locked(() -> read(partition, most));
            if (chunk != null) {
                fetched.removeIf(old -> old.partition.equals(chunk.partition));
                fetched.add(chunk);
                budget -= chunk.records.stream().mapToInt(LogView.Stored::bytes).sum();
            }
        }
    }

    /** Whether something goes wrong with the fetch of a partition, so that it has to be made again later. */
    private boolean fails(Assigned partition) {
        partition.notBefore = null;
        if (partition.late) {
            partition.late = false;
            return false;
        }
        String topic = partition.partition().topic();
        Fault fault = cluster.locked(() -> cluster.faults().take(Faults.Request.FETCH, topic));
        if (fault == null) {
            return false;
        }
        Duration later = switch (fault) {
            case Fault.Fail(ApiException error) -> {
                if (!(error instanceof RetriableException)) {
                    throw error;
                }
                yield settings.retryBackoff();
            }
            case Fault.Delay(Duration by) -> by;
            case Fault.LoseAnswer lost -> settings.retryBackoff();
        };
        partition.late = fault instanceof Fault.Delay;
        partition.notBefore = cluster.host().nanoTime() + later.toNanos();
        cluster.groups().lookAgain(later);
        return true;
    }

    @Nullable
    private Chunk read(Assigned partition, int bytes) {
        LogView log = Offsets.log(cluster, partition.partition());
        if (log == null || !(partition.where() instanceof Where.At at)) {
            return null;
        }
        if (at.offset() < log.startOffset() || at.offset() > log.endOffset()) {
            return new Chunk(partition.partition(), at, new LogView.Read(List.of(), at.offset(), null), true);
        }
        partition.end = Offsets.end(log, settings.readCommitted());
        LogView.Read read = log.read(at.offset(), settings.readCommitted(), Integer.MAX_VALUE, bytes);
        return read.nextOffset() == at.offset() ? null : new Chunk(partition.partition(), at, read, false);
    }

    /**
     * Hands out what was fetched.
     *
     * @return null if no position has moved; without records if positions only moved past what is never handed out
     */
    @Nullable
    ConsumerRecords<byte[], byte[]> collect() {
        int most = settings.maxPollRecords();
        int left = fetched.isEmpty() ? most : (int) cluster.host().choose("poll size", 1, most, most);
        Map<TopicPartition, List<ConsumerRecord<byte[], byte[]>>> records = new LinkedHashMap<>();
        Map<TopicPartition, OffsetAndMetadata> nextOffsets = new LinkedHashMap<>();
        List<Chunk> paused = new ArrayList<>();
        try {
            while (left > 0 && !fetched.isEmpty()) {
                Chunk chunk = fetched.element();
                Assigned partition = subscriptions.find(chunk.partition);
                if (partition == null || partition.held || !partition.at(chunk.next)) {
                    fetched.remove();
                } else if (partition.paused) {
                    paused.add(fetched.remove());
                } else if (chunk.outOfRange) {
                    if (!nextOffsets.isEmpty()) {
                        break;
                    }
                    fetched.remove();
                    outOfRange(partition, chunk.next);
                } else {
                    List<ConsumerRecord<byte[], byte[]>> taken = chunk.take(left);
                    left -= taken.size();
                    if (!taken.isEmpty()) {
                        records.put(chunk.partition, taken);
                    }
                    partition.where(new Where.At(chunk.next, chunk.epoch));
                    nextOffsets.put(chunk.partition, Offsets.committable(chunk.next, chunk.epoch));
                    if (chunk.records.isEmpty()) {
                        fetched.remove();
                        subscriptions.moveToEnd(chunk.partition);
                    }
                }
            }
        } finally {
            fetched.addAll(paused);
        }
        return nextOffsets.isEmpty() ? null : new ConsumerRecords<>(records, nextOffsets);
    }

    private void outOfRange(Assigned partition, long offset) {
        if (settings.reset() instanceof Reset.None) {
            throw new OffsetOutOfRangeException(
                    "Fetch position " + partition.partition() + "@" + offset
                            + " is out of range, and no reset policy is configured",
                    Map.of(partition.partition(), offset));
        }
        partition.where(new Where.Resetting(settings.reset()));
    }

    /** Forgets everything. */
    void clear() {
        keepOnly(Set.of());
    }

    /** A copy, as what an application does to its record must not change the log. */
    private static ConsumerRecord<byte[], byte[]> record(TopicPartition partition, LogView.Stored stored) {
        Headers headers = new ProducerRecord<byte[], byte[]>(
                        partition.topic(), partition.partition(), null, null, stored.headers())
                .headers();
        return new ConsumerRecord<>(
                partition.topic(),
                partition.partition(),
                stored.offset(),
                stored.timestamp(),
                stored.timestampType(),
                stored.keySize(),
                stored.valueSize(),
                copy(stored.key()),
                copy(stored.value()),
                headers,
                Optional.of(stored.leaderEpoch()));
    }

    private static byte @Nullable [] copy(byte @Nullable [] bytes) {
        return bytes == null ? null : bytes.clone();
    }
}
