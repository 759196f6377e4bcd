package io.settlestream.internal.poll;

import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.kafka.KafkaPartitions;
import io.settlestream.kafka.KafkaTopics;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class ReadingTest {

    static Stream<Arguments> patterns() {
        return Stream.of(
                Arguments.of(Pattern.compile("pay.*|refunds"), List.of("pay", "payouts", "refunds"), List.of("other")),
                Arguments.of(Pattern.compile("(a|b)\\1"), List.of("aa", "bb"), List.of("ab", "a")),
                Arguments.of(
                        Pattern.compile("pay", Pattern.CASE_INSENSITIVE), List.of("PAY"), List.of("RE-TRY", "re.try")),
                Arguments.of(Pattern.compile("a.b", Pattern.LITERAL), List.of("a.b"), List.of("a-b")),
                Arguments.of(Pattern.compile("a b # both", Pattern.COMMENTS), List.of("ab"), List.of("a b")));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("patterns")
    @DisplayName(
            "7.7: a pattern and a retry topic are subscribed to as one pattern, which matches both and nothing else")
    void patternAndOneMore(Pattern pattern, List<String> matched, List<String> others) {
        Pattern both = new Reading.Matching(pattern).and("re-try");

        assertThat(matched).allMatch(name -> both.matcher(name).matches());
        assertThat(others).noneMatch(name -> both.matcher(name).matches());
        assertThat(both.matcher("re-try").matches()).isTrue();
    }

    @Test
    @DisplayName("7.7: a list and a retry topic are a longer list, also if the topic is in it already")
    void listAndOneMore() {
        Reading.Topics topics = new Reading.Topics(List.of("a", "b"));

        assertThat(topics.and("re-try")).containsExactly("a", "b", "re-try");
        assertThat(topics.and("b")).containsExactly("a", "b");
    }

    @Test
    @DisplayName("7.7: partitions and a retry topic have the same numbers")
    void partitionsOfAnother() {
        Reading.Partitions partitions = new Reading.Partitions("a", List.of(3, 1));

        assertThat(partitions.of("re-try"))
                .containsExactly(new TopicPartition("re-try", 3), new TopicPartition("re-try", 1));
    }

    @Test
    @DisplayName("9.1: what is read is shown, and a subscription named by it, in bounded length")
    void shown() {
        Reading many = Reading.of(KafkaTopics.of(
                Stream.iterate(1, n -> n + 1).limit(200).map(n -> "topic-" + n).toList()));
        Reading pattern = Reading.of(KafkaTopics.matching(Pattern.compile("x".repeat(500))));

        assertThat(Reading.of(KafkaTopics.of("a", "b"))).hasToString("a, b").returns("a+b", Reading::name);
        assertThat(Reading.of(KafkaPartitions.of("p", 0, 2)))
                .hasToString("p-0, p-2")
                .returns("p", Reading::name);
        assertThat(many.name())
                .hasSizeLessThan(120)
                .startsWith("topic-1+topic-2+")
                .endsWith("-more");
        assertThat(pattern.name()).hasSizeLessThan(120);
    }
}
