package io.settlestream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaPartitions;
import io.settlestream.kafka.KafkaPosition;
import io.settlestream.kafka.KafkaSource;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.kafka.KafkaTopics;
import io.settlestream.kafka.StartOffset;
import io.settlestream.spi.AppEnvironment;
import io.settlestream.spi.KafkaClients;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.producer.Producer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What a start says to sources that cannot be read, before there is a cluster to ask. */
class SourcesTest {

    /** The only thing that stops a start whose sources have no mistake. */
    private static final class NoCluster extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    private static Arguments mistake(String what, KafkaSource<?> source, String... words) {
        return Arguments.of(Named.of(what, source), List.of(words));
    }

    static Stream<Arguments> mistakes() {
        KafkaPartitions groupless = KafkaPartitions.of("in", 0);
        return Stream.of(
                mistake("an empty list", KafkaTopics.of().group("g"), "names no topic", "KafkaTopics.matching"),
                mistake(
                        "a topic named twice",
                        KafkaTopics.of("a", "b", "a").group("g"),
                        "topic a more than once",
                        "once"),
                mistake(
                        "an illegal name in a list",
                        KafkaTopics.of("a", "b c").group("g"),
                        "the topic name 'b c'",
                        "Name a topic"),
                mistake(
                        "an empty pattern",
                        KafkaTopics.matching(Pattern.compile("")).group("g"),
                        "pattern",
                        "is empty",
                        "whole names"),
                mistake(
                        "a list without a group",
                        KafkaTopics.of("a", "b"),
                        "no consumer group",
                        "KafkaTopics.group",
                        "KafkaBroker.defaultGroup"),
                mistake(
                        "a pattern without a group",
                        KafkaTopics.matching(Pattern.compile("a.*")),
                        "no consumer group",
                        "KafkaTopics.group",
                        "KafkaBroker.defaultGroup"),
                mistake(
                        "no partition",
                        KafkaPartitions.of("in").group("g"),
                        "names no partition of topic in",
                        "KafkaTopic.of"),
                mistake(
                        "a negative partition",
                        KafkaPartitions.of("in", 0, -1).group("g"),
                        "partition -1 of topic in",
                        "numbered from 0"),
                mistake(
                        "a partition named twice",
                        KafkaPartitions.of("in", 2, 1, 2).group("g"),
                        "partition 2 of topic in more than once",
                        "Name it once"),
                mistake(
                        "an illegal name of partitions' topic",
                        KafkaPartitions.of("..", 0).group("g"),
                        "the topic name '..'",
                        "Name a topic"),
                mistake(
                        "partitions with neither a group nor a start",
                        groupless,
                        "neither a group",
                        "KafkaPartitions.startOffset",
                        "startAt",
                        "KafkaPartitions.group",
                        "defaultGroup(...) does not apply"),
                mistake(
                        "COMMITTED where nothing is committed",
                        groupless.startOffset(StartOffset.COMMITTED).startAt(KafkaPosition.earliest()),
                        "StartOffset.COMMITTED without a group",
                        "KafkaPartitions.group",
                        "EARLIEST or LATEST"),
                mistake(
                        "a bad property of a list",
                        KafkaTopics.of("a", "b").group("g").config("max.poll.records", "many"),
                        "KafkaTopics.config",
                        "max.poll.records"),
                mistake(
                        "a bad group of partitions",
                        KafkaPartitions.of("in", 0).group(" g"),
                        "the group name ' g'",
                        "KafkaPartitions.group"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("mistakes")
    @DisplayName("9.1, 9.2, 10.1: a source that cannot be read is refused, with what is wrong and the way out")
    void refused(KafkaSource<?> source, List<String> words) {
        assertThat(problems(KafkaBroker.of("127.0.0.1:1"), source))
                .singleElement()
                .satisfies(problem ->
                        assertThat(problem).startsWith("subscription ").contains(words));
    }

    static Stream<Arguments> clashes() {
        KafkaTopic a = KafkaTopic.of("a");
        KafkaTopics pattern = KafkaTopics.matching(Pattern.compile("a.*"));
        KafkaPartitions partitions = KafkaPartitions.of("p", 0, 1).group("group");
        return Stream.of(
                clash("a topic and a list that has it", a, KafkaTopics.of("b", "a"), "topic a", "in group group"),
                clash("two lists", KafkaTopics.of("a", "b"), KafkaTopics.of("c", "b"), "topic b", "workers(n)"),
                clash("a topic and a pattern that matches it", a, pattern, "topic a", "part of the records"),
                clash("a pattern and a list of which it matches one", pattern, KafkaTopics.of("b", "aa"), "topic aa"),
                clash("a pattern twice", pattern, KafkaTopics.matching(Pattern.compile("a.*")), "pattern a.*"),
                clash(
                        "a member and partitions",
                        a,
                        partitions,
                        "cannot share group group",
                        "a is a member of it",
                        "KafkaPartitions.group"),
                clash(
                        "partitions and a member",
                        partitions,
                        a,
                        "cannot share group group",
                        "p commits to it",
                        "KafkaPartitions.group"),
                clash(
                        "a partition twice",
                        partitions,
                        KafkaPartitions.of("p", 2, 1).group("group"),
                        "partition p-1",
                        "overwrite",
                        "KafkaPartitions.group"));
    }

    private static Arguments clash(String what, KafkaSource<?> first, KafkaSource<?> second, String... words) {
        return Arguments.of(Named.of(what, first), second, List.of(words));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("clashes")
    @DisplayName("9.2: two subscriptions of one group that would take records or commits from each other are refused")
    void clashing(KafkaSource<?> first, KafkaSource<?> second, List<String> words) {
        assertThat(problems(KafkaBroker.of("127.0.0.1:1").defaultGroup("group"), first, second))
                .singleElement()
                .satisfies(problem -> assertThat(problem).contains(words));
    }

    @Test
    @DisplayName("9.1, 9.2: what can be read together starts, and subscriptions are called by what they read")
    void together() {
        KafkaBroker broker = KafkaBroker.of("127.0.0.1:1").defaultGroup("group");
        String longName = "long".repeat(20);
        App<NoState> app = app(
                broker,
                KafkaTopic.of("a").startOffset(StartOffset.COMMITTED).startAt(KafkaPosition.latest()),
                KafkaTopics.of("b", "c"),
                KafkaTopics.of("d", longName, "e", "f"),
                KafkaTopics.matching(Pattern.compile("x\\..*")),
                KafkaTopics.matching(Pattern.compile("X\\..*", Pattern.CASE_INSENSITIVE)),
                KafkaTopics.matching(Pattern.compile("b.*")).group("other"),
                KafkaTopic.of("p"),
                KafkaPartitions.of("p", 0, 1).group("by hand"),
                KafkaPartitions.of("p", 2).group("by hand"),
                KafkaPartitions.of("p", 0, 1).startOffset(StartOffset.LATEST),
                KafkaPartitions.of("p", 0, 1).startAt(KafkaPosition.offset(7)));
        List<String> clients = new ArrayList<>();

        StartupException noCluster =
                catchThrowableOfType(StartupException.class, () -> app.start(environment(clients)));

        assertThat(noCluster).hasCauseInstanceOf(NoCluster.class);
        assertThat(clients)
                .contains("app-a", "app-b+c", "app-d+" + longName + "+e+f", "app-x\\..*", "app-b.*")
                .contains("app-p", "app-p-2", "app-p-3", "app-p-4", "app-p-5");
        assertThat(app.topicsRead(broker)).containsExactly("a", "b", "c", "d", longName, "e", "f", "p");
        assertThat(app.sources(broker)).hasSize(11).first().hasToString("KafkaTopic[a]");
    }

    @Test
    @DisplayName("9.1: a source keeps what was set on it, and is not changed by what is set later")
    void immutable() {
        KafkaPartitions plain = KafkaPartitions.of("p", 1);
        KafkaPartitions set = plain.group("g")
                .startOffset(StartOffset.EARLIEST)
                .startAt(KafkaPosition.latest())
                .config("max.poll.records", 5);

        assertThat(plain.group()).isEmpty();
        assertThat(plain.startOffset()).isEmpty();
        assertThat(plain.startAt()).isEmpty();
        assertThat(plain.config()).isEmpty();
        assertThat(set.group()).contains("g");
        assertThat(set.startOffset()).contains(StartOffset.EARLIEST);
        assertThat(set.startAt()).contains(KafkaPosition.latest());
        assertThat(set.config()).containsEntry("max.poll.records", 5);
        assertThat(set.partitions()).containsExactly(1);
    }

    private static List<String> problems(KafkaBroker broker, KafkaSource<?>... sources) {
        return catchThrowableOfType(
                        StartupException.class, () -> app(broker, sources).start(environment(new ArrayList<>())))
                .problems();
    }

    private static App<NoState> app(KafkaBroker broker, KafkaSource<?>... sources) {
        return SettleStream.app("app", "1").withBroker(broker, scope -> {
            for (KafkaSource<?> source : sources) {
                scope.include(Subscriber.on(source, String.class).handle((value, context) -> HandlerOutcome.ack()));
            }
        });
    }

    private static AppEnvironment environment(List<String> clients) {
        return new AppEnvironment(
                new KafkaClients() {
                    @Override
                    public Consumer<byte[], byte[]> consumer(Map<String, Object> properties) {
                        synchronized (clients) {
                            clients.add(String.valueOf(properties.get("client.id")));
                        }
                        throw new NoCluster();
                    }

                    @Override
                    public Producer<byte[], byte[]> producer(Map<String, Object> properties) {
                        throw new NoCluster();
                    }
                },
                AppEnvironment.system().scheduler());
    }
}
