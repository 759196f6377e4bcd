package io.settlestream.internal.publish;

import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;

/**
 * How many bytes a record takes in front of the producer: the size of a batch that holds it alone, before compression.
 * It is the number that Kafka's producer compares with {@code max.request.size} and {@code buffer.memory}, so that a
 * record is refused here exactly if it would be refused there.
 */
final class RecordSize {

    /** Header of a batch. */
    private static final int BATCH_OVERHEAD = 61;

    /** Most that a record's length, attributes, timestamp and offset take. */
    private static final int MAX_RECORD_OVERHEAD = 21;

    private static final int ABSENT = 1;

    private RecordSize() {}

    static long of(ProducerRecord<byte[], byte[]> record) {
        long size = BATCH_OVERHEAD + MAX_RECORD_OVERHEAD + sized(record.key()) + sized(record.value());
        int headers = 0;
        for (Header header : record.headers()) {
            headers++;
            long name = utf8Length(header.key());
            size += varintLength(name) + name + sized(header.value());
        }
        return size + varintLength(headers);
    }

    private static long sized(byte[] bytes) {
        return bytes == null ? ABSENT : varintLength(bytes.length) + (long) bytes.length;
    }

    /** Length of a number as a varint in zig-zag coding, which doubles it first. */
    private static int varintLength(long number) {
        int bits = 64 - Long.numberOfLeadingZeros((number << 1) | 1);
        return (bits + 6) / 7;
    }

    private static long utf8Length(String text) {
        long length = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < 0x80) {
                length++;
            } else if (c < 0x800) {
                length += 2;
            } else if (Character.isHighSurrogate(c)) {
                // With its low surrogate, which this skips, four bytes.
                length += 4;
                i++;
            } else {
                length += 3;
            }
        }
        return length;
    }
}
