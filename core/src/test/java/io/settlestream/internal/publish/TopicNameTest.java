package io.settlestream.internal.publish;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.internals.Topic;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class TopicNameTest {

    static String[] lengths() {
        return new String[] {"", "a".repeat(249), "a".repeat(250)};
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"payouts", "Payouts.done_v2-eu", "0", ".", "..", "...", "pay outs", "pay/outs", "größe", "a\nb"})
    @MethodSource("lengths")
    @DisplayName("6.1: a topic name is legal where Kafka says so")
    void legalWhereKafkaSaysSo(String name) {
        boolean legal;
        try {
            Topic.validate(name);
            legal = true;
        } catch (InvalidTopicException refused) {
            legal = false;
        }

        assertThat(TopicName.isLegal(name)).isEqualTo(legal);
    }

    @Test
    @DisplayName("12.2: a hostile topic name cannot break a message")
    void hostileNameIsShownHarmless() {
        assertThat(TopicName.shown("a\r\nERROR all is lost")).isEqualTo("a??ERROR?all?is?lost");
        assertThat(TopicName.shown("/".repeat(100_000))).hasSizeLessThan(100);
    }
}
