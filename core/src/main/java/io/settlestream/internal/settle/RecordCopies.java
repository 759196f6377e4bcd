package io.settlestream.internal.settle;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.settlestream.internal.publish.PlainHeader;
import io.settlestream.kafka.RecordCopy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * Makes copies of records for another topic: key, value and headers as they are, and what {@link RecordCopy} describes in
 * the place of what an earlier copy had of it. The timestamp is that of the copying, because retention counts by it.
 *
 * @param topic where copies go
 * @param group who makes them; null without a group
 * @param samePartition whether a copy goes to the partition of the same number as that of what is copied, rather than to
 *     one that the key decides; a copy of a copy so stays where it is, whatever its headers say
 */
record RecordCopies(String topic, @Nullable String group, boolean samePartition) {

    /**
     * A copy of a delivery's record.
     *
     * @param attempts how many attempts have ended
     * @param delay from now until the copy is due, or null for one that is not to be handled again
     */
    ProducerRecord<byte[], byte[]> copy(
            Delivery delivery, int attempts, Reason reason, Instant now, @Nullable Duration delay) {
        ConsumerRecord<byte[], byte[]> record = delivery.record();
        RecordCopy origin = delivery.origin().orElse(null);
        List<Header> headers = new ArrayList<>();
        for (Header header : record.headers()) {
            if (!RecordCopy.isAdded(header.key())) {
                headers.add(header);
            }
        }
        int partition = origin == null ? record.partition() : origin.partition();
        add(headers, RecordCopy.ORIGIN_TOPIC, origin == null ? record.topic() : origin.topic());
        add(headers, RecordCopy.ORIGIN_PARTITION, String.valueOf(partition));
        add(headers, RecordCopy.ORIGIN_OFFSET, String.valueOf(origin == null ? record.offset() : origin.offset()));
        add(
                headers,
                RecordCopy.ORIGIN_TIMESTAMP,
                String.valueOf(
                        origin == null ? record.timestamp() : origin.timestamp().toEpochMilli()));
        add(headers, RecordCopy.GROUP, group);
        add(headers, RecordCopy.ATTEMPTS, String.valueOf(attempts));
        add(headers, RecordCopy.FAILURE, reason.failure());
        add(headers, RecordCopy.REASON, reason.words());
        add(headers, RecordCopy.COPIED_AT, String.valueOf(now.toEpochMilli()));
        if (delay != null) {
            add(headers, RecordCopy.DUE, String.valueOf(due(now, delay)));
        }
        return new ProducerRecord<>(
                topic,
                samePartition ? (Integer) record.partition() : null,
                now.toEpochMilli(),
                record.key(),
                record.value(),
                headers);
    }

    /** A copy without what may be long of what was added: the reason and the kind of what was thrown. */
    ProducerRecord<byte[], byte[]> withoutWords(ProducerRecord<byte[], byte[]> copy) {
        List<Header> headers = new ArrayList<>();
        for (Header header : copy.headers()) {
            if (!header.key().equals(RecordCopy.REASON) && !header.key().equals(RecordCopy.FAILURE)) {
                headers.add(header);
            }
        }
        return new ProducerRecord<>(
                copy.topic(), copy.partition(), copy.timestamp(), copy.key(), copy.value(), headers);
    }

    /** Rounded up: a copy that waits in milliseconds must not come too early. */
    private static long due(Instant now, Duration delay) {
        try {
            return now.plus(delay).plusNanos(999_999).toEpochMilli();
        } catch (ArithmeticException | java.time.DateTimeException never) {
            return Long.MAX_VALUE;
        }
    }

    private static void add(List<Header> headers, String name, @Nullable String value) {
        if (value != null) {
            headers.add(new PlainHeader(name, value.getBytes(UTF_8)));
        }
    }
}
