package io.settlestream.internal.poll;

import io.settlestream.kafka.KafkaPosition;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.TopicPartition;

/**
 * Finds places in logs: asks the cluster where they are now. Belongs to the poll thread. The end is the one for this
 * consumer: under {@code read_committed}, in front of the first transaction that is still open.
 */
final class LogPlaces {

    private final Consumer<byte[], byte[]> consumer;
    private final Duration callTimeout;

    LogPlaces(Consumer<byte[], byte[]> consumer, Duration callTimeout) {
        this.consumer = consumer;
        this.callTimeout = callTimeout;
    }

    Map<TopicPartition, Long> beginnings(Collection<TopicPartition> partitions) {
        return partitions.isEmpty() ? Map.of() : consumer.beginningOffsets(partitions, callTimeout);
    }

    Map<TopicPartition, Long> ends(Collection<TopicPartition> partitions) {
        return partitions.isEmpty() ? Map.of() : consumer.endOffsets(partitions, callTimeout);
    }

    /**
     * The offsets of positions, each moved into its log if it is outside.
     *
     * @throws org.apache.kafka.common.errors.RetriableException if the cluster does not say in time
     */
    Map<TopicPartition, Long> offsets(Map<TopicPartition, KafkaPosition> positions) {
        List<TopicPartition> earliest = new ArrayList<>();
        List<TopicPartition> latest = new ArrayList<>();
        Map<TopicPartition, Long> given = new LinkedHashMap<>();
        Map<TopicPartition, Long> times = new LinkedHashMap<>();
        positions.forEach((partition, position) -> {
            switch (position) {
                case KafkaPosition.Earliest e -> earliest.add(partition);
                case KafkaPosition.Latest l -> latest.add(partition);
                case KafkaPosition.Offset(long offset) -> given.put(partition, offset);
                case KafkaPosition.Timestamp(Instant time) -> times.put(partition, millis(time));
            }
        });
        Map<TopicPartition, Long> found = new HashMap<>(beginnings(earliest));
        found.putAll(within(given));
        found.putAll(since(times, latest));
        found.putAll(ends(latest));
        return found;
    }

    private Map<TopicPartition, Long> within(Map<TopicPartition, Long> wanted) {
        Map<TopicPartition, Long> beginnings = beginnings(wanted.keySet());
        Map<TopicPartition, Long> ends = ends(wanted.keySet());
        Map<TopicPartition, Long> found = new HashMap<>();
        wanted.forEach((partition, offset) -> {
            long beginning = beginnings.getOrDefault(partition, offset);
            long end = ends.getOrDefault(partition, offset);
            found.put(partition, Math.max(beginning, Math.min(offset, end)));
        });
        return found;
    }

    /** Records that are not older; partitions without one are added to {@code latest}. */
    private Map<TopicPartition, Long> since(Map<TopicPartition, Long> times, List<TopicPartition> latest) {
        if (times.isEmpty()) {
            return Map.of();
        }
        Map<TopicPartition, OffsetAndTimestamp> records = consumer.offsetsForTimes(times, callTimeout);
        Map<TopicPartition, Long> found = new HashMap<>();
        for (TopicPartition partition : times.keySet()) {
            OffsetAndTimestamp record = records.get(partition);
            if (record == null) {
                latest.add(partition);
            } else {
                found.put(partition, record.offset());
            }
        }
        return found;
    }

    /** As Kafka counts time: not below 0, and rounded up, as a record of the millisecond before is older. */
    static long millis(Instant time) {
        if (time.isBefore(Instant.EPOCH)) {
            return 0;
        }
        if (time.getEpochSecond() >= Long.MAX_VALUE / 1000) {
            return Long.MAX_VALUE;
        }
        return time.plusNanos(999_999).toEpochMilli();
    }
}
