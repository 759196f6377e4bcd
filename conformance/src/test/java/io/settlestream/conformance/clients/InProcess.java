package io.settlestream.conformance.clients;

import io.settlestream.testing.internal.kafka.InProcessKafka;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.TopicPartition;

/** A Kafka in this process, of one script. */
final class InProcess implements KafkaUnderTest {

    private final InProcessKafka kafka = new InProcessKafka(new RealTimeHost());

    @Override
    public void createTopic(String name, int partitions, Map<String, String> config) {
        kafka.createTopic(name, partitions, config);
    }

    @Override
    public void deleteTopic(String name) {
        kafka.deleteTopic(name);
    }

    @Override
    public void addPartitions(String topic, int total) {
        kafka.addPartitions(topic, total);
    }

    @Override
    public void trim(String topic, int partition, long before) {
        kafka.trim(new TopicPartition(topic, partition), before);
    }

    @Override
    public Map<TopicPartition, OffsetAndMetadata> committed(String group) {
        return kafka.committed(group);
    }

    @Override
    public Consumer<byte[], byte[]> consumer(Map<String, Object> config) {
        return kafka.consumer(addressed(config));
    }

    @Override
    public Producer<byte[], byte[]> producer(Map<String, Object> config) {
        return kafka.producer(addressed(config));
    }

    /** Clients want an address, also where nobody looks at it. */
    private static Map<String, Object> addressed(Map<String, Object> config) {
        Map<String, Object> all = new HashMap<>(config);
        all.putIfAbsent("bootstrap.servers", "in-process:9092");
        return all;
    }
}
