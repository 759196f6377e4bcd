package io.settlestream.conformance.rules;

import io.settlestream.kafka.KafkaBroker;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;

/** Counts the producers that an application opens, as a plug-in of each. */
public final class OpenedProducers implements ProducerInterceptor<byte[], byte[]> {

    private static final String COUNTER = "conformance.opened.producers";

    /** A broker whose producers are counted. */
    static KafkaBroker counted(KafkaBroker broker, AtomicInteger opened) {
        return broker.producerConfig(ProducerConfig.INTERCEPTOR_CLASSES_CONFIG, OpenedProducers.class.getName())
                .pluginConfig(COUNTER, opened);
    }

    @Override
    public void configure(Map<String, ?> configs) {
        ((AtomicInteger) configs.get(COUNTER)).incrementAndGet();
    }

    @Override
    public ProducerRecord<byte[], byte[]> onSend(ProducerRecord<byte[], byte[]> record) {
        return record;
    }

    @Override
    public void onAcknowledgement(RecordMetadata metadata, Exception exception) {}

    @Override
    public void close() {}
}
