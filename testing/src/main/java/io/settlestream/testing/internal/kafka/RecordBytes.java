package io.settlestream.testing.internal.kafka;

import java.nio.charset.StandardCharsets;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/** How many bytes records take in batches of the format that all supported versions of Kafka write. */
final class RecordBytes {

    /** The header of a batch. */
    static final int BATCH_HEADER = 61;

    /** Most that a record's length, attributes, timestamp and offset take. */
    private static final int MAX_RECORD_HEADER = 21;

    private RecordBytes() {}

    /** Most that a batch with this record alone takes, which the producer compares with its limits. */
    static int alone(ProducerRecord<byte[], byte[]> record) {
        return saturated(
                (long) BATCH_HEADER + MAX_RECORD_HEADER + content(record.key(), record.value(), record.headers()));
    }

    /**
     * What a record takes in a batch.
     *
     * @param timestampDelta to the batch's first record
     * @param offsetDelta likewise
     */
    static int inBatch(
            byte @Nullable [] key, byte @Nullable [] value, Headers headers, long timestampDelta, int offsetDelta) {
        long body = 1 + varint(timestampDelta) + varint(offsetDelta) + content(key, value, headers);
        return saturated(varint(body) + body);
    }

    private static int saturated(long bytes) {
        return (int) Math.min(bytes, Integer.MAX_VALUE);
    }

    private static long content(byte @Nullable [] key, byte @Nullable [] value, Headers headers) {
        long bytes = sized(key) + sized(value);
        int count = 0;
        for (Header header : headers) {
            count++;
            bytes += sized(header.key().getBytes(StandardCharsets.UTF_8)) + sized(header.value());
        }
        return bytes + varint(count);
    }

    private static long sized(byte @Nullable [] bytes) {
        return bytes == null ? varint(-1) : varint(bytes.length) + (long) bytes.length;
    }

    /** The length of a number in zig-zag coding, seven bits a byte. */
    private static int varint(long number) {
        long coded = (number << 1) ^ (number >> 63);
        int bits = 64 - Long.numberOfLeadingZeros(coded | 1);
        return (bits + 6) / 7;
    }
}
