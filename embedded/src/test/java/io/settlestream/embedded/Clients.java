package io.settlestream.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Producers and consumers of strings, and what the tests do with them. */
final class Clients {
    static final Duration PATIENCE = Duration.ofSeconds(60);

    private Clients() {}

    static Producer<String, String> producer(String bootstrapServers, Map<String, String> more) {
        var config = new HashMap<String, Object>(Map.of("bootstrap.servers", bootstrapServers, "linger.ms", "0"));
        config.putAll(more);
        return new KafkaProducer<>(config, new StringSerializer(), new StringSerializer());
    }

    static Consumer<String, String> consumer(String bootstrapServers, Map<String, String> more) {
        var config = new HashMap<String, Object>(Map.of(
                "bootstrap.servers", bootstrapServers, "auto.offset.reset", "earliest", "enable.auto.commit", "false"));
        config.putAll(more);
        return new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer());
    }

    /** Sends with acks=all and returns when all are acknowledged. */
    static void send(EmbeddedKafka kafka, String topic, String... values) throws Exception {
        try (var producer = producer(kafka.bootstrapServers(), Map.of())) {
            for (String value : values) {
                producer.send(new ProducerRecord<>(topic, value)).get();
            }
        }
    }

    /** What a consumer of this group gets from where the group stands, which it then commits. */
    static List<String> consume(EmbeddedKafka kafka, String topic, String group, int count) {
        try (var consumer = consumer(kafka.bootstrapServers(), Map.of("group.id", group))) {
            consumer.subscribe(List.of(topic));
            List<String> values = poll(consumer, count);
            consumer.commitSync();
            return values;
        }
    }

    static List<String> poll(Consumer<String, String> consumer, int count) {
        var values = new ArrayList<String>();
        Instant end = Instant.now().plus(PATIENCE);
        while (values.size() < count) {
            assertThat(Instant.now())
                    .as("%d of %d records so far: %s", values.size(), count, values)
                    .isBefore(end);
            consumer.poll(Duration.ofMillis(200)).forEach(record -> values.add(record.value()));
        }
        return values;
    }
}
