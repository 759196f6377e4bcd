package io.settlestream.internal.config;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KafkaNamesTest {

    @ParameterizedTest
    @ValueSource(strings = {"a", "payouts.done", "__internal", "A-9", "...", "._-"})
    @DisplayName("6.1 a name that Kafka takes is taken")
    void legal(String topic) {
        assertThat(KafkaNames.topicMistake(topic)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ".", "..", " ", "a b", "a/b", "grüße", "a\n", "a:b", "٣"})
    @DisplayName("6.1 a name that Kafka does not take is refused")
    void illegal(String topic) {
        assertThat(KafkaNames.topicMistake(topic)).isPresent();
    }

    @Test
    @DisplayName("6.1 a name has 249 characters at most")
    void length() {
        assertThat(KafkaNames.topicMistake("a".repeat(249))).isEmpty();
        assertThat(KafkaNames.topicMistake("a".repeat(250))).hasValue("has 250 characters and may have 249");
    }
}
