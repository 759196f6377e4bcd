package io.settlestream.internal.publish;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.internal.AbstractRecords;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

class RecordSizeTest {

    private static final int[] LENGTHS = {0, 1, 63, 64, 127, 128, 8191, 8192, 1 << 20};
    private static final String[] NAMES = {"", "origin", "größe", "\u20ac", "\ud83d\ude00", "a".repeat(200)};

    @RepeatedTest(50)
    @DisplayName("6.1: a record's size is the one that the producer checks")
    void sizeIsTheProducers(RepetitionInfo repetition) {
        long seed = 4711L + repetition.getCurrentRepetition();
        Random random = new Random(seed);
        List<Header> headers = new ArrayList<>();
        for (int i = random.nextInt(4) * random.nextInt(40); i > 0; i--) {
            headers.add(new RecordHeader(NAMES[random.nextInt(NAMES.length)], bytes(random)));
        }
        ProducerRecord<byte[], byte[]> record =
                new ProducerRecord<>("payouts", null, bytes(random), bytes(random), headers);

        assertThat(RecordSize.of(record)).as("seed %d", seed).isEqualTo(producersSize(record));
    }

    @Test
    @DisplayName("6.1: the smallest record has a size")
    void smallest() {
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>("payouts", null);

        assertThat(RecordSize.of(record)).isEqualTo(producersSize(record)).isPositive();
    }

    private static long producersSize(ProducerRecord<byte[], byte[]> record) {
        return AbstractRecords.estimateSizeInBytesUpperBound(
                RecordBatch.CURRENT_MAGIC_VALUE,
                CompressionType.NONE,
                record.key(),
                record.value(),
                record.headers().toArray());
    }

    private static byte[] bytes(Random random) {
        int choice = random.nextInt(LENGTHS.length + 1);
        return choice == LENGTHS.length ? null : new byte[LENGTHS[choice]];
    }
}
