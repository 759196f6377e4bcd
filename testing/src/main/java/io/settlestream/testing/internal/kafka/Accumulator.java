package io.settlestream.testing.internal.kafka;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * The records that a producer has taken and not sent, in batches, and the memory that all its batches take until they are
 * reported. With the cluster's lock, except for {@link #append}, which waits for memory.
 */
final class Accumulator {

    /** Someone who waits for memory; the first of them gets it first. */
    private static final class Ticket {}

    private final Cluster cluster;
    private final ProducerOptions options;
    private final Map<TopicPartition, Deque<Batch>> queues = new LinkedHashMap<>();
    private final Set<Batch> incomplete = new LinkedHashSet<>();
    private final Map<String, StickyPartition> sticky = new HashMap<>();
    private final Deque<Ticket> waiting = new ArrayDeque<>();

    /** Called when there is something new to send: a batch that was begun or is full, or any, as memory is short. */
    private final Runnable wakeUp;

    private long free;
    private boolean closed;

    Accumulator(Cluster cluster, ProducerOptions options, Runnable wakeUp) {
        this.wakeUp = wakeUp;
        this.cluster = cluster;
        this.options = options;
        this.free = options.bufferMemory();
    }

    /** What {@link #append} needs to know of a record. */
    interface Draft {

        /** Makes the record's place in a partition. */
        SentRecord in(TopicPartition partition);

        /** With the lock, right before the record is taken: throws if it may not be. */
        void admit(TopicPartition partition);
    }

    /**
     * Takes a record, waiting for memory if need be.
     *
     * @param partition or -1 for whichever records without key go to
     * @param bytes what the record takes in a batch of its own
     * @param deadline of the wait
     * @param waited how long that is in all, for the error
     * @return the record
     */
    SentRecord append(String topic, int partition, int partitions, int bytes, Draft draft, long deadline, long waited)
            throws InterruptedException {
        Ticket ticket = new Ticket();
        int capacity = Math.max(options.batchSize(), bytes);
        try {
            while (true) {
                SentRecord taken =
                        cluster.locked(() -> tryAppend(topic, partition, partitions, capacity, draft, ticket));
                if (taken != null) {
                    return taken;
                }
                wakeUp.run();
                if (!cluster.host().await(() -> cluster.locked(() -> closed || isNext(ticket, capacity)), deadline)) {
                    throw new BufferExhaustedException("Failed to allocate " + capacity
                            + " bytes within the configured max blocking time " + waited + " ms. Total memory: "
                            + options.bufferMemory() + " bytes. Available memory: " + cluster.locked(() -> free)
                            + " bytes. Poolable size: " + options.batchSize() + " bytes");
                }
            }
        } finally {
            cluster.change(() -> waiting.remove(ticket));
        }
    }

    /** Takes no more records, and fails those who wait for memory. */
    void close() {
        closed = true;
    }

    boolean isClosed() {
        return closed;
    }

    boolean isMemoryShort() {
        return !waiting.isEmpty();
    }

    /** The partitions that have batches to send. */
    Set<TopicPartition> partitions() {
        return queues.keySet();
    }

    Collection<Batch> queued() {
        List<Batch> all = new ArrayList<>();
        queues.values().forEach(all::addAll);
        return all;
    }

    boolean isEmpty() {
        return queues.isEmpty();
    }

    /** All batches that are not reported. */
    Set<Batch> incomplete() {
        return incomplete;
    }

    /** The batch of a partition that goes next. */
    @Nullable
    Batch head(TopicPartition partition) {
        Deque<Batch> queue = queues.get(partition);
        return queue == null ? null : queue.peekFirst();
    }

    /** Whether a partition's first batch will not grow any more. */
    boolean isHeadFull(TopicPartition partition) {
        Deque<Batch> queue = queues.get(partition);
        return queue != null && (queue.size() > 1 || queue.getFirst().isFull());
    }

    void remove(Batch batch) {
        Deque<Batch> queue = queues.get(batch.partition());
        if (queue != null) {
            batch.close();
            queue.remove(batch);
            if (queue.isEmpty()) {
                queues.remove(batch.partition());
            }
        }
    }

    /** Puts batches before all others of their partition, to be sent again. */
    void putBack(List<Batch> batches) {
        for (Batch batch : batches.reversed()) {
            incomplete.add(batch);
            queues.computeIfAbsent(batch.partition(), any -> new ArrayDeque<>()).addFirst(batch);
        }
    }

    /** The batch is reported, or was split: its memory is free. */
    void complete(Batch batch) {
        if (incomplete.remove(batch)) {
            free += batch.capacity();
        }
    }

    private @Nullable SentRecord tryAppend(
            String topic, int partition, int partitions, int capacity, Draft draft, Ticket ticket) {
        if (closed) {
            throw new KafkaException("Producer closed while send in progress");
        }
        StickyPartition chooser = null;
        int chosen = partition;
        if (partition < 0) {
            chooser = sticky.computeIfAbsent(
                    topic, name -> new StickyPartition(name, options.batchSize(), cluster.host()));
            chosen = chooser.current(partitions);
            if (areFull(new TopicPartition(topic, chosen))) {
                chooser.batchesAreFull(partitions);
                chosen = chooser.current(partitions);
            }
        }
        TopicPartition to = new TopicPartition(topic, chosen);
        SentRecord record = draft.in(to);
        draft.admit(to);
        Deque<Batch> queue = queues.get(to);
        Batch last = queue == null ? null : queue.peekLast();
        int before = 0;
        if (last != null && last.hasRoomFor(record.record())) {
            before = last.bytes();
        } else {
            if (last != null) {
                last.close();
            }
            if (!isNextOrAlone(ticket, capacity)) {
                return null;
            }
            free -= capacity;
            last = new Batch(to, cluster.host().nanoTime(), capacity);
            incomplete.add(last);
            queues.computeIfAbsent(to, any -> new ArrayDeque<>()).addLast(last);
        }
        int size = last.add(record);
        if (chooser != null) {
            chooser.gave(before == 0 ? last.bytes() : size, areFull(to), partitions);
        }
        if (before == 0 || last.isFull()) {
            wakeUp.run();
        }
        return record;
    }

    private boolean areFull(TopicPartition partition) {
        Deque<Batch> queue = queues.get(partition);
        return queue == null || queue.getLast().isFull();
    }

    private boolean isNextOrAlone(Ticket ticket, int bytes) {
        if (!waiting.contains(ticket)) {
            if (waiting.isEmpty() && free >= bytes) {
                return true;
            }
            waiting.addLast(ticket);
        }
        return isNext(ticket, bytes);
    }

    private boolean isNext(Ticket ticket, int bytes) {
        return waiting.peekFirst() == ticket && free >= bytes;
    }
}
