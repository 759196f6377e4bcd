package io.settlestream.internal.poll;

import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.internal.testing.ManualTime;
import io.settlestream.kafka.StartOffset;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** How a consumer is told what it reads. */
class AssignersTest implements ConsumerRebalanceListener {

    private static final Reading.Partitions NAMED = new Reading.Partitions("a", List.of(0, 2));

    private final MockConsumer<byte[], byte[]> consumer = new MockConsumer<>("none");
    private final ManualTime time = new ManualTime();
    private final List<Collection<TopicPartition>> heard = new ArrayList<>();

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        heard.add(List.copyOf(partitions));
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        throw new AssertionError("revoked " + partitions);
    }

    private static SubscriptionPlan plan(Reading source, String retryTopic) {
        return new SubscriptionPlan(
                "in",
                source,
                Optional.ofNullable(retryTopic),
                Optional.of("g"),
                Optional.empty(),
                StartOffset.EARLIEST,
                Optional.empty(),
                Map.of("metadata.max.age.ms", 1000L),
                Duration.ofSeconds(5),
                Duration.ofMinutes(5),
                Duration.ofSeconds(10),
                1000,
                1 << 20);
    }

    private void topic(String name, int partitions) {
        Node node = new Node(1, "localhost", 9092);
        Node[] nodes = {node};
        consumer.updatePartitions(
                name,
                IntStream.range(0, partitions)
                        .mapToObj(i -> new PartitionInfo(name, i, node, nodes, nodes))
                        .toList());
    }

    private static TopicPartition partition(String topic, int number) {
        return new TopicPartition(topic, number);
    }

    @Test
    @DisplayName("3.5, 9.1: a member subscribes to its topics and the retry topic, in one list or one pattern")
    void member() {
        topic("ab", 1);
        topic("re-try", 1);
        topic("other", 1);
        new GroupAssigner(consumer, plan(new Reading.Topics(List.of("a", "b")), "re-try"), this).begin();
        assertThat(consumer.subscription()).containsExactlyInAnyOrder("a", "b", "re-try");

        consumer.unsubscribe();
        new GroupAssigner(consumer, plan(new Reading.Matching(Pattern.compile("a.*")), "re-try"), this).begin();
        assertThat(consumer.subscription()).containsExactlyInAnyOrder("ab", "re-try");
    }

    @Test
    @DisplayName(
            "9.1, 9.3: named partitions that are missing leave the others alone, and are assigned when they appear")
    void byHand() {
        topic("a", 2);
        ManualAssigner assigner = new ManualAssigner(consumer, plan(NAMED, null), NAMED, this, time);
        assigner.begin();
        assertThat(assigner.looks()).isTrue();
        assertThat(assigner.polls()).isFalse();

        assigner.look();
        assertThat(heard).containsExactly(List.of(partition("a", 0)));
        assertThat(assigner.polls()).isTrue();
        assertThat(assigner.looks()).as("at once").isFalse();
        assertThat(assigner.untilNextLook()).isEqualTo(Duration.ofSeconds(1).toNanos());

        time.advance(Duration.ofSeconds(1));
        assertThat(assigner.looks()).isTrue();
        assigner.look();
        assertThat(heard).as("nothing new").hasSize(1);

        topic("a", 3);
        time.advance(Duration.ofSeconds(1));
        assigner.look();
        assertThat(heard).hasSize(2).last().isEqualTo(List.of(partition("a", 2)));
        assertThat(consumer.assignment()).isEqualTo(Set.of(partition("a", 0), partition("a", 2)));
        time.advance(Duration.ofHours(1));
        assertThat(assigner.looks()).as("with nothing missing").isFalse();
        assertThat(assigner.untilNextLook()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    @DisplayName("9.3: where nothing exists yet, the assignment is empty and known")
    void nothingYet() {
        ManualAssigner assigner = new ManualAssigner(consumer, plan(NAMED, null), NAMED, this, time);

        assigner.look();

        assertThat(heard).containsExactly(List.of());
        assertThat(assigner.polls()).isFalse();
        assertThat(consumer.assignment()).isEmpty();
    }

    @Test
    @DisplayName("3.5: of the retry topic, the same partitions are read by hand")
    void retryTopicByHand() {
        topic("a", 3);
        topic("re-try", 3);
        ManualAssigner assigner = new ManualAssigner(consumer, plan(NAMED, "re-try"), NAMED, this, time);

        assigner.look();

        assertThat(consumer.assignment())
                .isEqualTo(
                        Set.of(partition("a", 0), partition("a", 2), partition("re-try", 0), partition("re-try", 2)));
    }
}
