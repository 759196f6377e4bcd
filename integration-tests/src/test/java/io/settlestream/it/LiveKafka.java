package io.settlestream.it;

import io.settlestream.embedded.EmbeddedKafka;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;
import org.jspecify.annotations.Nullable;

/** One broker for all tests of a JVM, seen with plain clients. Tests keep apart by the names of topics and groups. */
final class LiveKafka {

    /** How long a test waits for what must happen before it says that it did not. */
    static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final AtomicInteger NAMES = new AtomicInteger();

    private static final class Shared {
        static final LiveKafka INSTANCE = new LiveKafka(EmbeddedKafka.start());
    }

    private final EmbeddedKafka broker;
    private final Admin admin;
    private final KafkaProducer<byte[], byte[]> producer;

    LiveKafka(EmbeddedKafka broker) {
        this.broker = broker;
        this.admin = Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, broker.bootstrapServers()));
        this.producer = producer(Map.of());
    }

    /** The broker shared by all tests; it ends with the JVM. */
    static LiveKafka shared() {
        return Shared.INSTANCE;
    }

    String bootstrap() {
        return broker.bootstrapServers();
    }

    Admin admin() {
        return admin;
    }

    /** A name nobody else uses. */
    static String unique(String prefix) {
        return prefix + "-" + NAMES.incrementAndGet();
    }

    /** A new topic. */
    String topic(String prefix, int partitions) {
        return topic(prefix, partitions, Map.of());
    }

    String topic(String prefix, int partitions, Map<String, String> config) {
        String name = unique(prefix);
        broker.createTopic(name, partitions, config);
        return name;
    }

    /** A topic of a name that was chosen before. */
    void create(String topic, int partitions) {
        broker.createTopic(topic, partitions);
    }

    /** Whether a partition that was added to a topic is of use already. */
    boolean hasLeader(String topic, int partition) {
        return get(admin.describeTopics(List.of(topic)).allTopicNames()).get(topic).partitions().stream()
                .anyMatch(info -> info.partition() == partition && info.leader() != null);
    }

    /** How many members a group has; 0 if there is no such group. */
    int members(String group) {
        try {
            return admin.describeConsumerGroups(List.of(group))
                    .describedGroups()
                    .get(group)
                    .get(PATIENCE.toSeconds(), TimeUnit.SECONDS)
                    .members()
                    .size();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof GroupIdNotFoundException) {
                return 0;
            }
            throw new AssertionError(e);
        } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError(e);
        }
    }

    /** Writes values to one partition and waits until they are accepted. */
    void produce(String topic, int partition, String... values) {
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        for (String value : values) {
            sent.add(producer.send(new ProducerRecord<>(topic, partition, null, bytes(value))));
        }
        sent.forEach(LiveKafka::get);
    }

    /** Writes values with a key to one partition and waits until they are accepted. */
    void produceKeyed(String topic, int partition, String key, String... values) {
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        for (String value : values) {
            sent.add(producer.send(new ProducerRecord<>(topic, partition, bytes(key), bytes(value))));
        }
        sent.forEach(LiveKafka::get);
    }

    /** A producer of the test's own; the caller closes it. */
    KafkaProducer<byte[], byte[]> producer(Map<String, Object> config) {
        Map<String, Object> all = new HashMap<>(Map.of(
                ProducerConfig.BOOTSTRAP_SERVERS_CONFIG,
                broker.bootstrapServers(),
                ProducerConfig.LINGER_MS_CONFIG,
                0,
                // A broker that has just got a partition may refuse its first batch and accept the second; the first
                // would then be out of sequence for ever.
                ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION,
                1));
        all.putAll(config);
        return new KafkaProducer<>(all, new ByteArraySerializer(), new ByteArraySerializer());
    }

    /** What a group has committed, by partition. Partitions without a committed offset are absent. */
    Map<Integer, Long> committed(String group, String topic) {
        Map<Integer, Long> offsets = new TreeMap<>();
        committedOffsets(group).forEach((partition, offset) -> {
            if (partition.topic().equals(topic) && offset != null) {
                offsets.put(partition.partition(), offset.offset());
            }
        });
        return offsets;
    }

    Map<TopicPartition, OffsetAndMetadata> committedOffsets(String group) {
        return get(admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata());
    }

    /** What a group has committed for partition 0, if anything. */
    Optional<Long> committed0(String group, String topic) {
        return Optional.ofNullable(committed(group, topic).get(0));
    }

    /** Log ends, by partition: the offsets that the next records will get. */
    Map<Integer, Long> ends(String topic, int partitions) {
        Map<TopicPartition, OffsetSpec> wanted = new HashMap<>();
        for (int i = 0; i < partitions; i++) {
            wanted.put(new TopicPartition(topic, i), OffsetSpec.latest());
        }
        Map<TopicPartition, ListOffsetsResult.ListOffsetsResultInfo> found =
                get(admin.listOffsets(wanted).all());
        Map<Integer, Long> ends = new TreeMap<>();
        found.forEach((partition, info) -> ends.put(partition.partition(), info.offset()));
        return ends;
    }

    /** All records of a topic that a read_committed reader sees, in the order of their partitions. */
    List<ConsumerRecord<byte[], byte[]>> read(String topic, int partitions) {
        Map<String, Object> config = Map.of(
                ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG,
                broker.bootstrapServers(),
                ConsumerConfig.ISOLATION_LEVEL_CONFIG,
                "read_committed");
        List<TopicPartition> names = new ArrayList<>();
        for (int i = 0; i < partitions; i++) {
            names.add(new TopicPartition(topic, i));
        }
        List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(names);
            consumer.seekToBeginning(names);
            Map<TopicPartition, Long> ends = consumer.endOffsets(names);
            while (names.stream().anyMatch(name -> consumer.position(name) < ends.get(name))) {
                consumer.poll(Duration.ofMillis(100)).forEach(records::add);
            }
        }
        return records;
    }

    List<String> readValues(String topic, int partitions) {
        return read(topic, partitions).stream()
                .map(record -> text(record.value()))
                .toList();
    }

    /** Waits until something holds; fails with {@code what} if it never does. */
    static void eventually(String what, BooleanSupplier condition) {
        try {
            Awaitility.await(what)
                    .atMost(PATIENCE)
                    .pollInterval(Duration.ofMillis(10))
                    .until(condition::getAsBoolean);
        } catch (ConditionTimeoutException e) {
            throw new AssertionError("never happened: " + what, e);
        }
    }

    static <T> T get(Future<T> future) {
        try {
            return future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            throw new AssertionError(e);
        }
    }

    /** The bytes of a text; of no text, none. */
    static byte[] bytes(@Nullable String text) {
        return text == null ? null : text.getBytes(StandardCharsets.UTF_8);
    }

    static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
