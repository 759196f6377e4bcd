package io.settlestream.conformance.clients;

import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.TopicPartition;

/** A Kafka as scripts see it: plain clients, and the little that an administrator does. */
interface KafkaUnderTest {

    /** Creates a topic; when this returns, clients can use all of its partitions. */
    void createTopic(String name, int partitions, Map<String, String> config);

    void deleteTopic(String name);

    /** Raises the number of partitions; when this returns, clients can use the new ones. */
    void addPartitions(String topic, int total);

    /** Deletes the records of a partition before an offset. */
    void trim(String topic, int partition, long before);

    /** What a group has committed, as an administrator sees it. */
    Map<TopicPartition, OffsetAndMetadata> committed(String group);

    /** A consumer of bytes; deserializers and bootstrap servers are added here. */
    Consumer<byte[], byte[]> consumer(Map<String, Object> config);

    /** A producer of bytes; serializers and bootstrap servers are added here. */
    Producer<byte[], byte[]> producer(Map<String, Object> config);
}
