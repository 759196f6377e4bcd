package io.settlestream.examples.deadletters;

import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;

/** Reads parts of partitions from their beginning to their end, as it is when the reading begins. For one thread. */
final class LogReader implements AutoCloseable {

    private static final Duration POLL = Duration.ofMillis(500);
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Consumer<byte[], byte[]> consumer;

    LogReader(Consumer<byte[], byte[]> consumer) {
        this.consumer = consumer;
    }

    /**
     * Reads records in the order of their offsets.
     *
     * @param from the lowest offset that is of interest
     * @param to the offset that is no longer of interest
     * @param visitor is given each record, and answers whether it wants more
     * @return whether the visitor still wants more
     * @throws ToolException if Kafka gives nothing for half a minute
     */
    boolean read(TopicPartition partition, long from, long to, Predicate<ConsumerRecord<byte[], byte[]>> visitor) {
        List<TopicPartition> only = List.of(partition);
        long end = Math.min(to, consumer.endOffsets(only).getOrDefault(partition, 0L));
        long begin = Math.max(from, consumer.beginningOffsets(only).getOrDefault(partition, 0L));
        if (begin >= end) {
            return true;
        }
        consumer.assign(only);
        consumer.seek(partition, begin);
        long progress = System.nanoTime();
        for (long position = begin; position < end; ) {
            for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
                if (record.offset() >= end) {
                    return true;
                }
                if (!visitor.test(record)) {
                    return false;
                }
            }
            long next = consumer.position(partition);
            if (next > position) {
                position = next;
                progress = System.nanoTime();
            } else if (System.nanoTime() - progress > PATIENCE.toNanos()) {
                throw new ToolException(
                        "Kafka gave nothing of %s from offset %d on for %d s; its end is %d. Is its leader there?"
                                .formatted(partition, position, PATIENCE.toSeconds(), end),
                        null);
            }
        }
        return true;
    }

    @Override
    public void close() {
        consumer.close();
    }
}
