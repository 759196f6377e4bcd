package io.settlestream.internal.config;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.kafka.KafkaBroker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProducerPropertiesTest {

    private final KafkaBroker broker = KafkaBroker.of("localhost:9092");
    private final List<String> problems = new ArrayList<>();

    @Test
    @DisplayName("6.4 a producer without properties has the client's defaults")
    void defaults() {
        ProducerSettings settings = settings(broker);

        assertThat(problems).isEmpty();
        assertThat(settings.properties())
                .containsOnly(
                        entry("bootstrap.servers", List.of("localhost:9092")),
                        entry("client.id", "app"),
                        entry("key.serializer", ByteArraySerializer.class),
                        entry("value.serializer", ByteArraySerializer.class));
        assertThat(settings.bufferMemory()).isEqualTo(32L << 20);
        assertThat(settings.maxRequestSize()).isEqualTo(1 << 20);
        assertThat(settings.maxBlock()).isEqualTo(Duration.ofMinutes(1));
    }

    @Test
    @DisplayName("6.4 the producer's property wins over the broker's, and a consumer's is left out")
    void precedence() {
        ProducerSettings settings = settings(broker.config("linger.ms", 1)
                .config("max.poll.records", 10)
                .producerConfig("linger.ms", 2)
                .producerConfig("acks", 1)
                .producerConfig("buffer.memory", 1 << 20)
                .producerConfig("max.request.size", "1000")
                .producerConfig("max.block.ms", 10));

        assertThat(problems).isEmpty();
        assertThat(settings.properties())
                .contains(entry("linger.ms", 2L), entry("acks", "1"))
                .doesNotContainKey("max.poll.records");
        assertThat(settings.bufferMemory()).isEqualTo(1L << 20);
        assertThat(settings.maxRequestSize()).isEqualTo(1_000);
        assertThat(settings.maxBlock()).isEqualTo(Duration.ofMillis(10));
        new KafkaProducer<>(settings.properties()).close(Duration.ZERO);
    }

    @ParameterizedTest
    @CsvSource({
        "transactional.id,  x,     is not transactional",
        "value.serializer,  x,     Codec",
        "bootstrap.servers, x:1,   KafkaBroker.of",
        "acks,              0,     succeeds only when",
        "max.poll.records,  1,     set it with KafkaTopic.config or KafkaBroker.config",
        "linger,            1,     correct the name",
        "lingr.ms,          1,     Did you mean linger.ms?",
        "linger.ms,         x,     Not a number",
        "acks,              2,     must be one of"
    })
    @DisplayName("6.4 what the producer must not be given is refused with the way out")
    void refused(String property, String value, String wayOut) {
        settings(broker.producerConfig(property, value));

        assertThat(problems)
                .singleElement()
                .asString()
                .startsWith("broker [localhost:9092]: KafkaBroker.producerConfig sets " + property)
                .contains(wayOut);
    }

    @Test
    @DisplayName("6.4 properties that do not fit together are refused with Kafka's reason")
    void misfit() {
        settings(broker.producerConfig("enable.idempotence", true).producerConfig("acks", "1"));
        settings(broker.producerConfig("max.in.flight.requests.per.connection", 9));
        settings(broker.producerConfig("delivery.timeout.ms", 1_000));

        assertThat(problems).hasSize(3);
        assertThat(problems.get(0)).contains("do not fit together", "Must set acks to all", "idempotent");
        assertThat(problems.get(1)).contains("do not fit together", "max.in.flight.requests.per.connection");
        assertThat(problems.get(2)).contains("delivery.timeout.ms is below linger.ms + request.timeout.ms, 30005");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "localhost | is not host:port",
                "localhost:kafka | is not host:port",
                ":9092 | is not host:port",
                "localhost:0 | port",
                "localhost:65536 | port",
                "a:1, | is not host:port",
                "a b:1 | is not host:port",
                "'' | no node is named"
            })
    @DisplayName("6.4 a malformed node is refused before anything connects")
    void malformedNode(String nodes, String mistake) {
        settings(KafkaBroker.of(nodes));

        assertThat(problems).singleElement().asString().contains(mistake, "KafkaBroker.of");
    }

    @Test
    @DisplayName("6.4 nodes may be given one by one or as one text")
    void nodes() {
        ProducerSettings settings =
                settings(KafkaBroker.of("a:1, b.example.org:2", "[::1]:3", "10.0.0.1:4", "SSL://c_d:5"));

        assertThat(problems).isEmpty();
        assertThat(settings.properties())
                .containsEntry(
                        "bootstrap.servers", List.of("a:1", "b.example.org:2", "[::1]:3", "10.0.0.1:4", "SSL://c_d:5"));
    }

    private ProducerSettings settings(KafkaBroker broker) {
        return ClientProperties.producer(broker, "app", problems);
    }
}
