package io.settlestream.examples.deadletters;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.ConsumerInterceptor;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;

/**
 * Something that happens to a run in a process of its own when Kafka has taken a number of its records, which are then
 * written and not committed. The run is told of it by its file of properties, which its consumer reads, too: nothing happens
 * there.
 */
public final class Accident implements ProducerInterceptor<byte[], byte[]>, ConsumerInterceptor<byte[], byte[]> {

    static final String AFTER = "accident.after";
    static final String KILLED = "accident.killed";
    static final int KILLED_EXIT = 137;

    /** What a run prints that stands still now, until a line is written to it. */
    static final String STANDS_STILL = "STANDS STILL";

    private final AtomicInteger taken = new AtomicInteger();
    private int after;
    private boolean killed;

    @Override
    public void configure(Map<String, ?> configs) {
        after = Integer.parseInt((String) configs.get(AFTER));
        killed = Boolean.parseBoolean((String) configs.get(KILLED));
    }

    @Override
    public ProducerRecord<byte[], byte[]> onSend(ProducerRecord<byte[], byte[]> record) {
        return record;
    }

    @Override
    public void onAcknowledgement(RecordMetadata metadata, Exception exception) {
        if (exception != null || taken.incrementAndGet() != after) {
            return;
        }
        if (killed) {
            Runtime.getRuntime().halt(KILLED_EXIT);
        }
        System.out.println(STANDS_STILL);
        try {
            int line = System.in.read();
            if (line < 0) {
                throw new IllegalStateException("Nobody lets this run go on.");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public ConsumerRecords<byte[], byte[]> onConsume(ConsumerRecords<byte[], byte[]> records) {
        return records;
    }

    @Override
    public void onCommit(Map<TopicPartition, OffsetAndMetadata> offsets) {}

    @Override
    public void close() {}
}
