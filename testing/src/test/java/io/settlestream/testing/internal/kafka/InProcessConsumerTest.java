package io.settlestream.testing.internal.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(30)
class InProcessConsumerTest {

    private static final Duration LONG = Duration.ofSeconds(10);
    private static final TopicPartition P0 = new TopicPartition("topic", 0);

    private final RealTimeHost host = new RealTimeHost();
    private final InProcessKafka kafka = new InProcessKafka(host);

    @BeforeEach
    void createTopic() {
        kafka.createTopic("topic", 2, Map.of());
    }

    @AfterEach
    void close() {
        host.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("a member is assigned all partitions, reads what comes, and what it commits outlives it")
    void oneMember(String protocol) {
        try (Consumer<byte[], byte[]> consumer = consumer(Map.of("group.id", "g", "group.protocol", protocol))) {
            List<String> heard = new ArrayList<>();
            consumer.subscribe(List.of("topic"), listener(heard));
            publish(0, "a", "b");

            ConsumerRecords<byte[], byte[]> records = consumer.poll(LONG);

            assertThat(heard).containsExactly("assigned [topic-0, topic-1]");
            assertThat(records.count()).isEqualTo(2);
            assertThat(records.nextOffsets().get(P0).offset()).isEqualTo(2);
            consumer.commitSync();
            assertThat(consumer.committed(Set.of(P0)).get(P0).offset()).isEqualTo(2);
            consumer.close();
            assertThat(heard).containsExactly("assigned [topic-0, topic-1]", "revoked [topic-0, topic-1]");
        }
        assertThat(kafka.committed("g")).containsEntry(P0, new OffsetAndMetadata(2, java.util.Optional.of(0), ""));
    }

    @Test
    @DisplayName("a consumer without a group reads what it assigns to itself")
    void assign() {
        publish(0, "a", "b");
        try (Consumer<byte[], byte[]> consumer = consumer(Map.of())) {
            consumer.assign(List.of(P0));
            consumer.seek(P0, 1);

            assertThat(consumer.poll(LONG).count()).isEqualTo(1);
            assertThat(consumer.position(P0)).isEqualTo(2);
        }
    }

    private Consumer<byte[], byte[]> consumer(Map<String, Object> more) {
        Map<String, Object> configs = new HashMap<>();
        configs.put("bootstrap.servers", "localhost:9092");
        configs.put("auto.offset.reset", "earliest");
        configs.put("enable.auto.commit", false);
        configs.putAll(more);
        return kafka.consumer(configs);
    }

    private void publish(int partition, String... values) {
        try (Producer<byte[], byte[]> producer = kafka.producer(Map.of("bootstrap.servers", "localhost:9092"))) {
            for (String value : values) {
                producer.send(new ProducerRecord<>(
                        "topic", partition, null, value.getBytes(java.nio.charset.StandardCharsets.UTF_8)));
            }
            producer.flush();
        }
    }

    private static ConsumerRebalanceListener listener(List<String> heard) {
        return new ConsumerRebalanceListener() {
            @Override
            public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
                heard.add("assigned " + partitions);
            }

            @Override
            public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
                heard.add("revoked " + partitions);
            }

            @Override
            public void onPartitionsLost(Collection<TopicPartition> partitions) {
                heard.add("lost " + partitions);
            }
        };
    }
}
