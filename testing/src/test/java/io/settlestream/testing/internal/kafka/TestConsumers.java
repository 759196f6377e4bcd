package io.settlestream.testing.internal.kafka;

import io.settlestream.testing.internal.sim.Simulation;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;

/** An in-process Kafka in virtual time, and consumers whose listeners write down what they hear. */
final class TestConsumers implements AutoCloseable {

    static final Duration LONG = Duration.ofSeconds(10);

    final Simulation time = Simulation.usual();
    final InProcessKafka kafka = new InProcessKafka(time);

    /** What listeners heard, such as {@code a assigned [topic-0]}. */
    final List<String> heard = new ArrayList<>();

    /** The values that {@link #poll} and {@link #settle} brought. */
    final List<String> values = new ArrayList<>();

    static TopicPartition partition(int number) {
        return new TopicPartition("topic", number);
    }

    static OffsetAndMetadata offset(long offset) {
        return new OffsetAndMetadata(offset, Optional.of(0), "");
    }

    /** Settings for a member of the group {@code g}. */
    static Map<String, Object> member(String protocol, Object... more) {
        Map<String, Object> configs = new HashMap<>();
        configs.put("group.id", "g");
        configs.put("group.protocol", protocol);
        for (int i = 0; i < more.length; i += 2) {
            configs.put((String) more[i], more[i + 1]);
        }
        return configs;
    }

    Consumer<byte[], byte[]> consumer(Map<String, Object> more) {
        Map<String, Object> configs = new HashMap<>();
        configs.put("bootstrap.servers", "localhost:9092");
        configs.put("auto.offset.reset", "earliest");
        configs.put("enable.auto.commit", false);
        configs.putAll(more);
        return kafka.consumer(configs);
    }

    /** A member that has subscribed to the topic. */
    Consumer<byte[], byte[]> subscribed(String name, Map<String, Object> configs) {
        Consumer<byte[], byte[]> consumer = consumer(configs);
        consumer.subscribe(List.of("topic"), listener(name));
        return consumer;
    }

    ConsumerRebalanceListener listener(String name) {
        return new ConsumerRebalanceListener() {
            @Override
            public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
                heard.add(name + " assigned " + partitions);
            }

            @Override
            public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
                heard.add(name + " revoked " + partitions);
            }

            @Override
            public void onPartitionsLost(Collection<TopicPartition> partitions) {
                heard.add(name + " lost " + partitions);
            }
        };
    }

    List<String> poll(Consumer<byte[], byte[]> consumer, Duration timeout) {
        List<String> polled = new ArrayList<>();
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(timeout)) {
            polled.add(new String(record.value(), StandardCharsets.UTF_8));
        }
        values.addAll(polled);
        return polled;
    }

    /** Polls these in turn until the group has come to rest. */
    @SafeVarargs
    final void settle(Consumer<byte[], byte[]>... consumers) {
        for (int i = 0; i < 5; i++) {
            for (Consumer<byte[], byte[]> consumer : consumers) {
                List<String> unused = poll(consumer, Duration.ZERO);
            }
        }
    }

    /** What was heard since the last time. */
    List<String> takeHeard() {
        List<String> taken = List.copyOf(heard);
        heard.clear();
        return taken;
    }

    void publish(int partition, String... published) {
        try (Producer<byte[], byte[]> producer = kafka.producer(Map.of("bootstrap.servers", "localhost:9092"))) {
            for (String value : published) {
                var unused = producer.send(
                        new ProducerRecord<>("topic", partition, null, value.getBytes(StandardCharsets.UTF_8)));
            }
            producer.flush();
        }
    }

    void pass(Duration span) {
        var unused = time.drive(() -> false, time.nanoTime() + span.toNanos(), () -> false);
    }

    @Override
    public void close() {
        time.close();
    }
}
