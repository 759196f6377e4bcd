package io.settlestream.conformance.rules;

import static java.util.stream.Collectors.toMap;

import io.settlestream.App;
import io.settlestream.embedded.EmbeddedKafka;
import io.settlestream.spi.KafkaClients;
import io.settlestream.testing.TestApp;
import io.settlestream.testing.TestClock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** One broker for all scenarios of a JVM, which keep apart by the names of topics and groups. */
final class BrokerKafka implements Kafka {

    private static final AtomicInteger SCENARIOS = new AtomicInteger();

    private static final class Shared {
        static final EmbeddedKafka BROKER = EmbeddedKafka.builder()
                .brokerConfig("log.cleaner.backoff.ms", "100")
                .start();
        static final Admin ADMIN =
                Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, BROKER.bootstrapServers()));
    }

    private final String suffix = "-" + SCENARIOS.incrementAndGet();
    private final TestClock clock = new RealClock();

    @Override
    public String name(String name) {
        return name + suffix;
    }

    @Override
    public String bootstrapServers() {
        return Shared.BROKER.bootstrapServers();
    }

    @Override
    public <S> TestApp<S> start(App<S> app) {
        return TestApp.startLive(app, bootstrapServers());
    }

    @Override
    public KafkaClients clients() {
        return new KafkaClients() {
            @Override
            public Consumer<byte[], byte[]> consumer(Map<String, Object> properties) {
                return new KafkaConsumer<>(
                        connected(properties), new ByteArrayDeserializer(), new ByteArrayDeserializer());
            }

            @Override
            public Producer<byte[], byte[]> producer(Map<String, Object> properties) {
                return new KafkaProducer<>(connected(properties), new ByteArraySerializer(), new ByteArraySerializer());
            }
        };
    }

    private Map<String, Object> connected(Map<String, Object> properties) {
        Map<String, Object> connected = new HashMap<>(properties);
        connected.put(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers());
        return connected;
    }

    @Override
    public TestClock clock() {
        return clock;
    }

    @Override
    public void pass(Duration time) {
        try {
            clock.sleep(time);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    @Override
    public Duration patience() {
        return Duration.ofSeconds(30);
    }

    @Override
    public void createTopic(String topic, int partitions, Map<String, String> config) {
        Shared.BROKER.createTopic(topic, partitions, config);
    }

    @Override
    public void addPartitions(String topic, int total) {
        get(Shared.ADMIN
                .createPartitions(Map.of(topic, NewPartitions.increaseTo(total)))
                .all());
        while (leaders(topic) < total) {
            pass(Duration.ofMillis(10));
        }
    }

    private static long leaders(String topic) {
        return get(Shared.ADMIN.describeTopics(List.of(topic)).allTopicNames()).get(topic).partitions().stream()
                .filter(partition -> partition.leader() != null)
                .count();
    }

    @Override
    public void trim(String topic, int partition, long offset) {
        get(Shared.ADMIN
                .deleteRecords(Map.of(new TopicPartition(topic, partition), RecordsToDelete.beforeOffset(offset)))
                .all());
    }

    @Override
    public void compact(String topic) {
        // The cleaner does it by itself, as often as the broker was told to.
    }

    // A compacted topic takes no record without a key.

    @Override
    public void createRefusingTopic(String topic) {
        createTopic(topic, 1, Map.of(TopicConfig.CLEANUP_POLICY_CONFIG, TopicConfig.CLEANUP_POLICY_COMPACT));
    }

    @Override
    public void acceptWrites(String topic) {
        ConfigEntry entry = new ConfigEntry(TopicConfig.CLEANUP_POLICY_CONFIG, TopicConfig.CLEANUP_POLICY_DELETE);
        get(Shared.ADMIN
                .incrementalAlterConfigs(Map.of(
                        new ConfigResource(ConfigResource.Type.TOPIC, topic),
                        List.of(new AlterConfigOp(entry, AlterConfigOp.OpType.SET))))
                .all());
    }

    @Override
    public void missingTopic(String topic) {
        // This broker makes no topics by itself.
    }

    @Override
    public void appears(String topic) {
        createTopic(topic, 1, Map.of());
    }

    @Override
    public Map<TopicPartition, Long> committed(String group) {
        try {
            return Shared.ADMIN
                    .listConsumerGroupOffsets(group)
                    .partitionsToOffsetAndMetadata()
                    .get(patience().toSeconds(), TimeUnit.SECONDS)
                    .entrySet()
                    .stream()
                    .filter(entry -> entry.getValue() != null)
                    .collect(toMap(Map.Entry::getKey, entry -> entry.getValue().offset()));
        } catch (ExecutionException e) {
            if (e.getCause() instanceof GroupIdNotFoundException) {
                return Map.of();
            }
            throw new AssertionError(e);
        } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError(e);
        }
    }

    private static <T> T get(KafkaFuture<T> future) {
        try {
            return future.get(30, TimeUnit.SECONDS);
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        // The broker ends with the JVM.
    }

    private static final class RealClock implements TestClock {

        @Override
        public Instant now() {
            return Instant.now();
        }

        @Override
        public void sleep(Duration time) throws InterruptedException {
            Thread.sleep(time);
        }
    }
}
