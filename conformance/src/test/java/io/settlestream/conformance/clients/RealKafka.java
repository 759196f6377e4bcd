package io.settlestream.conformance.clients;

import static java.util.stream.Collectors.toMap;

import io.settlestream.embedded.EmbeddedKafka;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsOptions;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** A broker in this JVM, shared by all scripts. */
final class RealKafka implements KafkaUnderTest {

    private static final class Shared {
        static final RealKafka INSTANCE = new RealKafka(EmbeddedKafka.start());
    }

    private final EmbeddedKafka broker;
    private final Admin admin;

    private RealKafka(EmbeddedKafka broker) {
        this.broker = broker;
        this.admin = Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, broker.bootstrapServers()));
    }

    /** The broker shared by all scripts; it ends with the JVM. */
    static RealKafka shared() {
        return Shared.INSTANCE;
    }

    @Override
    public void createTopic(String name, int partitions, Map<String, String> config) {
        broker.createTopic(name, partitions, config);
    }

    @Override
    public void deleteTopic(String name) {
        get(admin.deleteTopics(List.of(name)).all());
    }

    @Override
    public void addPartitions(String topic, int total) {
        get(admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(total)))
                .all());
        Stage.eventually("new partitions of " + topic + " have leaders", () -> {
            var partitions = get(admin.describeTopics(List.of(topic)).allTopicNames())
                    .get(topic)
                    .partitions();
            return partitions.size() == total && partitions.stream().allMatch(info -> info.leader() != null);
        });
    }

    @Override
    public void trim(String topic, int partition, long before) {
        get(admin.deleteRecords(Map.of(new TopicPartition(topic, partition), RecordsToDelete.beforeOffset(before)))
                .all());
    }

    @Override
    public Map<TopicPartition, OffsetAndMetadata> committed(String group) {
        return get(admin.listConsumerGroupOffsets(group, new ListConsumerGroupOffsetsOptions())
                        .partitionsToOffsetAndMetadata())
                .entrySet()
                .stream()
                .filter(entry -> entry.getValue() != null)
                .collect(toMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    @Override
    public Consumer<byte[], byte[]> consumer(Map<String, Object> config) {
        return new KafkaConsumer<>(connected(config), new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    @Override
    public Producer<byte[], byte[]> producer(Map<String, Object> config) {
        Map<String, Object> all = connected(config);
        // A broker that has just got a partition may refuse its first batch and accept the second; the first would then
        // be out of sequence for ever.
        all.putIfAbsent(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, 1);
        return new KafkaProducer<>(all, new ByteArraySerializer(), new ByteArraySerializer());
    }

    private Map<String, Object> connected(Map<String, Object> config) {
        Map<String, Object> all = new HashMap<>(config);
        all.putIfAbsent(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, broker.bootstrapServers());
        return all;
    }

    private static <T> T get(KafkaFuture<T> future) {
        try {
            return future.get(30, TimeUnit.SECONDS);
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            throw new AssertionError(e);
        }
    }
}
