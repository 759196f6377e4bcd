package io.settlestream.internal.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaTopic;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.config.ConfigDef;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ConfigSafetyTest {

    private static final String SECRET = "s3cr3t-of-the-bank";

    private static final List<Object> NONSENSE = List.of(
            "",
            " ",
            "x",
            "${x}",
            "\n\u0000\u202e",
            "9".repeat(500),
            -1,
            Long.MIN_VALUE,
            Double.NaN,
            true,
            Object.class,
            List.of(),
            List.of(1, new Object()),
            Map.of("a", 1),
            new byte[3],
            new Object());

    private final List<String> problems = new ArrayList<>();

    @ParameterizedTest
    @EnumSource(Client.class)
    @DisplayName("6.4 no value of any property makes the check itself fail")
    void nonsense(Client client) {
        for (String property : client.names()) {
            for (Object value : NONSENSE) {
                both(KafkaBroker.of("a:1").config(property, value).producerConfig(property, value));
            }
        }

        assertThat(problems)
                .isNotEmpty()
                .allSatisfy(problem -> assertThat(problem).hasSizeLessThan(800).doesNotContain("\n"));
    }

    @ParameterizedTest
    @EnumSource(Client.class)
    @DisplayName("12.1 a refused secret is not shown")
    void refusedSecret(Client client) {
        List<String> secrets = client.names().stream()
                .filter(name -> client.key(name).type == ConfigDef.Type.PASSWORD)
                .toList();
        assertThat(secrets).contains("sasl.jaas.config", "ssl.key.password", "ssl.keystore.key");

        for (String property : secrets) {
            both(KafkaBroker.of("a:1").config(property, List.of(SECRET)));
        }

        assertThat(problems).hasSize(secrets.size()).noneMatch(problem -> problem.contains(SECRET));
    }

    @Test
    @DisplayName("12.1 the value of an unknown or owned property is not shown")
    void unknownSecret() {
        both(KafkaBroker.of("a:1")
                .config("sasl.password", SECRET)
                .config("ssl.keystore.pasword", SECRET)
                .config("group.id", SECRET)
                .producerConfig("my.password", SECRET));

        assertThat(problems).hasSize(4).noneMatch(problem -> problem.contains(SECRET));
    }

    @Test
    @DisplayName("12.1 a secret that got into a message of Kafka is cut out of it")
    void secretInMisfit() {
        Map<String, Object> properties = new HashMap<>(
                ClientProperties.producer(KafkaBroker.of("a:1").config("ssl.key.password", "idempotent"), "p", problems)
                        .properties());
        properties.put("max.in.flight.requests.per.connection", 9);

        assertThat(CrossChecks.producer(properties))
                .hasValueSatisfying(mistake -> assertThat(mistake).contains("To use the [hidden] producer"));
    }

    @Test
    @DisplayName("12.1 settings name their properties and show no value")
    void settingsShowNoValue() {
        KafkaBroker broker =
                KafkaBroker.of("a:1").config("sasl.jaas.config", SECRET).pluginConfig("tracer.token", SECRET);

        assertThat(ClientProperties.producer(broker, "p", problems).toString())
                .contains("sasl.jaas.config", "tracer.token")
                .doesNotContain(SECRET);
        assertThat(consumer(broker).toString()).contains("sasl.jaas.config").doesNotContain(SECRET);
        assertThat(problems).isEmpty();
    }

    @Test
    @DisplayName("6.4 no name in the table of librdkafka is one that Kafka's clients know, and every equivalent is")
    void librdkafkaTable() {
        assertThat(LibrdkafkaNames.JAVA_NAMES.keySet())
                .allSatisfy(name -> assertThat(Client.knowing(name)).isEmpty())
                .doesNotContainAnyElementsOf(LibrdkafkaNames.NOTES.keySet());
        assertThat(LibrdkafkaNames.NOTES.keySet())
                .allSatisfy(name -> assertThat(Client.knowing(name)).isEmpty());
        assertThat(LibrdkafkaNames.JAVA_NAMES.values())
                .allSatisfy(name -> assertThat(Client.knowing(name)).isNotEmpty());
    }

    @Test
    @DisplayName("6.4 internal properties of Kafka count as unknown")
    void internalProperties() {
        assertThat(Arrays.stream(Client.values()).flatMap(client -> client.names().stream()))
                .noneMatch(name -> name.startsWith("internal."));
    }

    private void both(KafkaBroker broker) {
        consumer(broker);
        ClientProperties.producer(broker, "p", problems);
    }

    private ConsumerSettings consumer(KafkaBroker broker) {
        return ClientProperties.consumer(
                broker, KafkaTopic.of("t"), Commit.tracked(), Optional.of("g"), "c", "t", problems);
    }
}
