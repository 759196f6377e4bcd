package io.settlestream.spi;

import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.producer.Producer;

/**
 * Makes the Kafka clients of an application. The one place where a client comes from: everything above sees only the
 * interfaces.
 *
 * @since 0.1.0
 */
public interface KafkaClients {

    /** A consumer of raw bytes with these properties. Called on the thread that will own the consumer. */
    Consumer<byte[], byte[]> consumer(Map<String, Object> properties);

    /** A producer of raw bytes with these properties. */
    Producer<byte[], byte[]> producer(Map<String, Object> properties);
}
