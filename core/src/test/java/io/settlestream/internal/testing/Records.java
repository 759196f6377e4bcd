package io.settlestream.internal.testing;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.record.TimestampType;

/** Records as a consumer returns them. */
public final class Records {

    private Records() {}

    /** One with everything that bookkeeping looks at. */
    public static ConsumerRecord<byte[], byte[]> of(
            TopicPartition partition, long offset, Integer leaderEpoch, byte[] key, byte[] value) {
        return new ConsumerRecord<>(
                partition.topic(),
                partition.partition(),
                offset,
                0L,
                TimestampType.CREATE_TIME,
                key == null ? -1 : key.length,
                value == null ? -1 : value.length,
                key,
                value,
                new ConsumerRecord<>(partition.topic(), partition.partition(), offset, key, value).headers(),
                Optional.ofNullable(leaderEpoch));
    }

    /** One whose key is a word, or none. */
    public static ConsumerRecord<byte[], byte[]> keyed(TopicPartition partition, long offset, String key) {
        return of(partition, offset, 0, key == null ? null : key.getBytes(UTF_8), new byte[] {1});
    }

    /** Some in a row without keys. */
    public static List<ConsumerRecord<byte[], byte[]>> row(TopicPartition partition, long first, int count) {
        List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>(count);
        for (long offset = first; offset < first + count; offset++) {
            records.add(keyed(partition, offset, null));
        }
        return records;
    }
}
