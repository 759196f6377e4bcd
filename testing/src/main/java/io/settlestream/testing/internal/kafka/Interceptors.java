package io.settlestream.testing.internal.kafka;

import java.util.List;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A producer's interceptors. As with Kafka's producer, one that throws is logged and stops nothing. */
final class Interceptors {

    private static final Logger LOG = LoggerFactory.getLogger(Interceptors.class);

    private final List<ProducerInterceptor<byte[], byte[]>> interceptors;

    @SuppressWarnings({"unchecked", "rawtypes"}) // the class is known by name only
    Interceptors(ProducerConfig config) {
        interceptors = (List)
                config.getConfiguredInstances(ProducerConfig.INTERCEPTOR_CLASSES_CONFIG, ProducerInterceptor.class);
    }

    ProducerRecord<byte[], byte[]> onSend(ProducerRecord<byte[], byte[]> record) {
        ProducerRecord<byte[], byte[]> intercepted = record;
        for (ProducerInterceptor<byte[], byte[]> interceptor : interceptors) {
            try {
                intercepted = interceptor.onSend(intercepted);
            } catch (RuntimeException failure) {
                LOG.atWarn()
                        .addKeyValue("topic", record.topic())
                        .setCause(failure)
                        .log("An interceptor failed on send");
            }
        }
        return intercepted;
    }

    void onAcknowledgement(RecordMetadata metadata, @Nullable Exception error, Headers headers) {
        for (ProducerInterceptor<byte[], byte[]> interceptor : interceptors) {
            try {
                interceptor.onAcknowledgement(metadata, error, headers);
            } catch (RuntimeException failure) {
                LOG.atWarn()
                        .addKeyValue("topic", metadata.topic())
                        .setCause(failure)
                        .log("An interceptor failed on a report");
            }
        }
    }

    void onSendError(ProducerRecord<byte[], byte[]> record, TopicPartition partition, Exception error) {
        onAcknowledgement(SentRecord.nowhere(partition), error, record.headers());
    }

    void close() {
        for (ProducerInterceptor<byte[], byte[]> interceptor : interceptors) {
            try {
                interceptor.close();
            } catch (RuntimeException failure) {
                LOG.atWarn().setCause(failure).log("An interceptor failed to close");
            }
        }
    }
}
