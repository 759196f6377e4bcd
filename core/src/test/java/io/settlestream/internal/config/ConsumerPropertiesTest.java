package io.settlestream.internal.config;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.kafka.StartOffset;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConsumerPropertiesTest {

    private final KafkaBroker broker = KafkaBroker.of("localhost:9092");
    private final KafkaTopic topic = KafkaTopic.of("payouts");
    private final List<String> problems = new ArrayList<>();

    @Test
    @DisplayName("6.4 a subscription without properties gets the framework's defaults")
    void defaults() {
        ConsumerSettings settings = settings(broker, topic, Commit.tracked());

        assertThat(problems).isEmpty();
        assertThat(settings.properties())
                .containsOnly(
                        entry("bootstrap.servers", List.of("localhost:9092")),
                        entry("group.id", "bank"),
                        entry("client.id", "app-1"),
                        entry("isolation.level", "read_committed"),
                        entry("metadata.max.age.ms", 30_000L),
                        entry("enable.auto.commit", false),
                        entry("auto.offset.reset", "none"),
                        entry("allow.auto.create.topics", false),
                        entry("key.deserializer", ByteArrayDeserializer.class),
                        entry("value.deserializer", ByteArrayDeserializer.class));
        assertThat(settings.autoCommitInterval()).isEqualTo(Duration.ofSeconds(5));
        assertThat(settings.maxPollInterval()).isEqualTo(Duration.ofMinutes(5));
        assertThat(settings.maxPollRecords()).isEqualTo(500);
    }

    @Test
    @DisplayName("6.4 Kafka's consumer can be made with the result")
    void kafkaTakesTheResult() {
        ConsumerSettings settings = settings(
                broker.config("metrics.num.samples", 3),
                topic.config("partition.assignment.strategy", List.of(RangeAssignor.class)),
                Commit.tracked());

        assertThat(problems).isEmpty();
        // Making a consumer starts no conversation: it connects with its first poll.
        new KafkaConsumer<>(settings.properties()).close();
    }

    @Test
    @DisplayName("6.4 the topic's property wins over the broker's, and both over the framework's default")
    void precedence() {
        ConsumerSettings settings = settings(
                broker.config("max.poll.records", 10)
                        .config("isolation.level", "read_uncommitted")
                        .config("metadata.max.age.ms", 1_000)
                        .config("client.id", "mine")
                        .config("auto.commit.interval.ms", 100),
                topic.config("max.poll.records", 20).config("max.poll.interval.ms", "60000"),
                Commit.auto());

        assertThat(problems).isEmpty();
        assertThat(settings.properties())
                .contains(
                        entry("max.poll.records", 20),
                        entry("isolation.level", "read_uncommitted"),
                        entry("metadata.max.age.ms", 1_000L),
                        entry("client.id", "mine"));
        assertThat(settings.maxPollRecords()).isEqualTo(20);
        assertThat(settings.autoCommitInterval()).isEqualTo(Duration.ofMillis(100));
        assertThat(settings.maxPollInterval()).isEqualTo(Duration.ofMinutes(1));
    }

    @Test
    @DisplayName("6.4 a property of the broker reaches the clients that know it and no other")
    void brokerPropertyReachesWhoKnowsIt() {
        ConsumerSettings settings =
                settings(broker.config("linger.ms", 20).config("security.protocol", "SSL"), topic, Commit.auto());

        assertThat(problems).isEmpty();
        assertThat(settings.properties())
                .containsEntry("security.protocol", "SSL")
                .doesNotContainKey("linger.ms");
    }

    @Test
    @DisplayName("6.4 values may be text, numbers, booleans, classes and lists")
    void valueTypes() {
        ConsumerSettings settings = settings(
                broker,
                topic.config("fetch.min.bytes", 10L)
                        .config("fetch.max.wait.ms", " 200 ")
                        .config("check.crcs", false)
                        .config("exclude.internal.topics", "true")
                        .config("client.rack", 7)
                        .config("partition.assignment.strategy", CooperativeStickyAssignor.class)
                        .config("ssl.cipher.suites", List.of("A", "B"))
                        .config("sasl.login.class", "java.lang.Object"),
                Commit.auto());

        assertThat(problems).isEmpty();
        assertThat(settings.properties())
                .contains(
                        entry("fetch.min.bytes", 10),
                        entry("fetch.max.wait.ms", 200),
                        entry("check.crcs", false),
                        entry("exclude.internal.topics", true),
                        entry("client.rack", "7"),
                        entry("partition.assignment.strategy", List.of(CooperativeStickyAssignor.class)),
                        entry("ssl.cipher.suites", List.of("A", "B")),
                        entry("sasl.login.class", Object.class));
    }

    @ParameterizedTest
    @EnumSource(StartOffset.class)
    @DisplayName("3.10 the client has no reset policy of its own, whatever the start offset")
    void startOffset(StartOffset startOffset) {
        ConsumerSettings settings = settings(broker, topic.startOffset(startOffset), Commit.auto());

        assertThat(settings.properties()).containsEntry("auto.offset.reset", "none");
    }

    @ParameterizedTest
    @CsvSource({
        "max.poll.record,      max.poll.records",
        "max.pol.records,      max.poll.records",
        "maxPollRecords,       max.poll.records",
        "FETCH_MIN_BYTES,      fetch.min.bytes",
        "fetch.max.wiat.ms,    fetch.max.wait.ms",
        "sesion.timeout.ms,    session.timeout.ms",
        "isolation.levle,      isolation.level"
    })
    @DisplayName("6.4 an unknown name is refused with the nearest known one")
    void unknownName(String given, String nearest) {
        settings(broker, topic.config(given, "any"), Commit.auto());

        assertThat(problems)
                .containsExactly("subscription payouts: KafkaTopic.config sets " + given
                        + ". Kafka's consumer does not know it. Did you mean " + nearest + "?");
    }

    @Test
    @DisplayName("6.4 the nearest name's owner is named at once")
    void nearestNameIsOwned() {
        settings(broker, topic.config("grup.id", "any"), Commit.auto());

        assertThat(problems).singleElement().asString().contains("Did you mean group.id?", "KafkaTopic.group");
    }

    @Test
    @DisplayName("6.4 an unknown name that is near to none is refused, with the way for plug-ins")
    void unknownNameNearToNone() {
        settings(broker.config("my.interceptor.url", "http://x"), topic, Commit.auto());

        assertThat(problems)
                .containsExactly(
                        "broker [localhost:9092]: KafkaBroker.config sets my.interceptor.url. Kafka's consumer or"
                                + " producer or admin client does not know it: correct the name, or use pluginConfig if an"
                                + " interceptor, reporter or other plug-in reads it.");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "fetch.queue.backoff.ms | max.poll.records and fetch.max.bytes say how much it fetches",
                "queue.buffering.max.messages | buffer.memory",
                "metadata.broker.list | KafkaBroker.of",
                "sasl.mechanisms | sasl.mechanism",
                "enable.auto.offset.store | KafkaTopic.commit",
                "fetch.wait.max.ms | fetch.max.wait.ms"
            })
    @DisplayName("6.4 a name of librdkafka is recognised as one")
    void librdkafkaName(String given, String advice) {
        settings(broker, topic.config(given, "10"), Commit.auto());

        assertThat(problems)
                .singleElement()
                .asString()
                .contains(given, "a property of librdkafka, which Kafka's Java client does not know", advice);
    }

    @Test
    @DisplayName("6.4 a property of another client is refused with its place")
    void propertyOfAnotherClient() {
        settings(broker, topic.config("linger.ms", 5), Commit.auto());

        assertThat(problems)
                .containsExactly(
                        "subscription payouts: KafkaTopic.config sets linger.ms. It is a property of the producer,"
                                + " not of the consumer: set it with KafkaBroker.producerConfig.");
    }

    @Test
    @DisplayName("6.4 a bad value is refused with Kafka's reason")
    void badValue() {
        settings(
                broker.config("linger.ms", "soon"),
                topic.config("max.poll.records", 0)
                        .config("fetch.min.bytes", "many")
                        .config("isolation.level", "some")
                        .config("fetch.max.bytes", 1L << 40)
                        .config("check.crcs", Duration.ZERO),
                Commit.auto());

        assertThat(problems).hasSize(6);
        assertThat(problems.get(1))
                .isEqualTo(
                        "subscription payouts: KafkaTopic.config sets max.poll.records to a value that the consumer does"
                                + " not take: Invalid value 0 for configuration max.poll.records: Value must be at least 1."
                                + " Correct it, or leave it out.");
        assertThat(problems)
                .anyMatch(problem -> problem.contains("broker [localhost:9092]: KafkaBroker.config sets linger.ms")
                        && problem.contains("Not a number of type LONG"))
                .anyMatch(problem -> problem.contains("fetch.min.bytes: Not a number of type INT"))
                .anyMatch(problem -> problem.contains("fetch.max.bytes: Not a number of type INT"))
                .anyMatch(problem -> problem.contains("must be one of: read_committed, read_uncommitted"))
                .anyMatch(problem -> problem.contains("check.crcs: Expected value to be either true or false"));
    }

    @Test
    @DisplayName("6.4 a class that is not there is refused")
    void missingClass() {
        settings(
                broker,
                topic.config("partition.assignment.strategy", "range, org.apache.kafka.clients.consumer.RangeAssignor")
                        .config("sasl.login.class", "no.such.Login"),
                Commit.auto());

        assertThat(problems).hasSize(2);
        assertThat(problems.getFirst())
                .contains("partition.assignment.strategy", "class range is not on the class path");
        assertThat(problems.getLast()).contains("sasl.login.class", "no.such.Login", "could not be found");
    }

    @ParameterizedTest
    @CsvSource({
        "bootstrap.servers,          x:1,      KafkaBroker.of",
        "group.id,                   x,        KafkaTopic.group or KafkaBroker.defaultGroup",
        "key.deserializer,           x,        Codec",
        "value.deserializer,         x,        Codec",
        "auto.offset.reset,          earliest, KafkaTopic.startOffset",
        "allow.auto.create.topics,   true,     never creates its topic",
        "share.acquire.mode,         x,        share groups"
    })
    @DisplayName("6.4 a property that the framework owns is refused with what to use instead")
    void ownedProperty(String property, String value, String instead) {
        settings(broker, topic.config(property, value), Commit.auto());
        settings(broker.config(property, value), topic, Commit.auto());

        assertThat(problems).hasSize(2);
        assertThat(problems.getFirst())
                .startsWith("subscription payouts: KafkaTopic.config sets " + property + ". ")
                .contains(instead);
        assertThat(problems.getLast())
                .startsWith("broker [localhost:9092]: KafkaBroker.config sets " + property + ". ")
                .contains(instead);
    }

    @Test
    @DisplayName("6.4 what the framework does anyway may be said")
    void ownedPropertyAsItIs() {
        settings(broker, topic.config("allow.auto.create.topics", false), Commit.auto());

        assertThat(problems).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"true", "false", "maybe"})
    @DisplayName("3.9 enable.auto.commit is refused under Tracked, naming both, wherever it is set")
    void enableAutoCommitUnderTracked(String value) {
        settings(broker, topic.config("enable.auto.commit", value), Commit.tracked());
        settings(broker.config("enable.auto.commit", Boolean.valueOf(value)), topic, Commit.tracked());

        assertThat(problems)
                .hasSize(2)
                .allSatisfy(problem -> assertThat(problem)
                        .startsWith("subscription payouts: ")
                        .contains("enable.auto.commit", "Commit.tracked()", "leave it out, or use Commit.auto()"));
    }

    @Test
    @DisplayName("3.9 under Auto enable.auto.commit may be true, and the client's own timer is off all the same")
    void enableAutoCommitUnderAuto() {
        ConsumerSettings settings = settings(broker, topic.config("enable.auto.commit", "true"), Commit.auto());

        assertThat(problems).isEmpty();
        assertThat(settings.properties()).containsEntry("enable.auto.commit", false);
    }

    @Test
    @DisplayName("3.9 under Auto enable.auto.commit=false is refused with the mode that is meant")
    void noAutoCommitUnderAuto() {
        settings(broker, topic.config("enable.auto.commit", false), Commit.auto());

        assertThat(problems)
                .singleElement()
                .asString()
                .contains("enable.auto.commit", "Commit.auto()", "use Commit.tracked()");
    }

    @Test
    @DisplayName("6.4 under the consumer protocol the classic protocol's properties are refused")
    void consumerProtocol() {
        settings(
                broker.config("session.timeout.ms", 10_000),
                topic.config("group.protocol", "Consumer")
                        .config("heartbeat.interval.ms", 1_000)
                        .config("partition.assignment.strategy", RangeAssignor.class),
                Commit.tracked());

        assertThat(problems)
                .hasSize(3)
                .allSatisfy(problem -> assertThat(problem)
                        .startsWith("subscription payouts: ")
                        .contains("group.protocol=consumer", "Leave it out"));
        assertThat(problems.get(0)).contains("session.timeout.ms");
        assertThat(problems.get(1)).contains("heartbeat.interval.ms");
        assertThat(problems.get(2)).contains("partition.assignment.strategy");
    }

    @Test
    @DisplayName("6.4 the consumer protocol alone is fine, and its own property is refused without it")
    void remoteAssignor() {
        settings(
                broker,
                topic.config("group.protocol", "consumer").config("group.remote.assignor", "uniform"),
                Commit.tracked());
        assertThat(problems).isEmpty();

        settings(broker, topic.config("group.remote.assignor", "uniform"), Commit.tracked());
        assertThat(problems).singleElement().asString().contains("group.remote.assignor", "group.protocol=consumer");
    }

    @Test
    @DisplayName("6.4 properties that do not fit together are refused")
    void misfit() {
        settings(broker, topic.config("session.timeout.ms", 3_000), Commit.tracked());
        settings(broker.config("security.protocol", "SASL_SSL").config("sasl.mechanism", ""), topic, Commit.tracked());

        assertThat(problems).hasSize(2);
        assertThat(problems.getFirst()).contains("heartbeat.interval.ms, 3000, is not below session.timeout.ms, 3000");
        assertThat(problems.getLast()).contains("do not fit together", "sasl.mechanism", "non-empty");
    }

    @Test
    @DisplayName("6.4 a static member's name is held to Kafka's rule")
    void instanceId() {
        settings(broker, topic.config("group.instance.id", "pod 1"), Commit.tracked());

        assertThat(problems).singleElement().asString().contains("group.instance.id", "index 3");
    }

    @Test
    @DisplayName("6.4 properties for plug-ins are passed on unseen, except for those that Kafka's clients know")
    void pluginProperties() {
        Object anything = new Object();
        ConsumerSettings settings = settings(
                broker.pluginConfig("tracer.url", "http://x").pluginConfig("group.id", "sly"),
                topic.pluginConfig("tracer.object", anything).pluginConfig("enable.auto.commit", true),
                Commit.tracked());

        assertThat(settings.properties())
                .contains(entry("tracer.url", "http://x"), entry("tracer.object", anything))
                .contains(entry("group.id", "bank"), entry("enable.auto.commit", false));
        assertThat(problems)
                .containsExactly(
                        "broker [localhost:9092]: KafkaBroker.pluginConfig sets group.id. Kafka's own clients know it: set"
                                + " it with KafkaBroker.config, where it is checked.",
                        "subscription payouts: KafkaTopic.pluginConfig sets enable.auto.commit. Kafka's own clients know"
                                + " it: set it with KafkaTopic.config, where it is checked.");
    }

    @Test
    @DisplayName("6.4 with a config provider placeholders are left to the client, except where the framework reads")
    void configProviders() {
        KafkaBroker provided = broker.config("config.providers", "env")
                .pluginConfig(
                        "config.providers.env.class", "org.apache.kafka.common.config.provider.EnvVarConfigProvider")
                .config("ssl.key.password", "${env:KEY_PASSWORD}");
        ConsumerSettings settings = settings(provided, topic.config("fetch.min.bytes", "${env:MIN}"), Commit.auto());
        assertThat(problems).isEmpty();
        assertThat(settings.properties())
                .contains(entry("fetch.min.bytes", "${env:MIN}"), entry("ssl.key.password", "${env:KEY_PASSWORD}"));

        settings(provided, topic.config("max.poll.records", "${env:RECORDS}"), Commit.auto());
        assertThat(problems).singleElement().asString().contains("max.poll.records", "give the value itself");

        problems.clear();
        settings(broker.config("config.providers.env.class", "x"), topic, Commit.auto());
        assertThat(problems).singleElement().asString().contains("goes into pluginConfig");
    }

    @Test
    @DisplayName("10.1 a broker's mistake is reported once, however many clients meet it")
    void reportedOnce() {
        KafkaBroker wrong = broker.config("fetch.min.byte", 1).bootstrapServers("nowhere");

        settings(wrong, topic, Commit.auto());
        settings(wrong, KafkaTopic.of("refunds"), Commit.auto());
        ClientProperties.producer(wrong, "p", problems);

        assertThat(problems).hasSize(2);
    }

    @Test
    @DisplayName("10.1 all mistakes are reported together, and the rest goes on with defaults")
    void allTogether() {
        ConsumerSettings settings = settings(
                KafkaBroker.of(),
                KafkaTopic.of("pay outs").config("max.poll.records", "x").config("nonsense", 1),
                Commit.auto(),
                "");

        assertThat(problems).hasSize(5);
        assertThat(settings.maxPollRecords()).isEqualTo(500);
    }

    @Test
    @DisplayName("9.1 an illegal topic name is refused")
    void topicName() {
        settings(broker, KafkaTopic.of("pay outs"), Commit.auto());

        assertThat(problems)
                .containsExactly("subscription payouts: the topic name 'pay outs' has a character other than a-z, A-Z,"
                        + " 0-9, '.', '_' and '-' at index 3. Name a topic that Kafka can have.");
    }

    @Test
    @DisplayName("9.2 an unusable group name is refused")
    void groupName() {
        settings(broker, topic, Commit.auto(), " ");
        settings(broker, topic, Commit.auto(), "bank ");

        assertThat(problems)
                .containsExactly(
                        "subscription payouts: the group name ' ' is empty. Name one with KafkaTopic.group or"
                                + " KafkaBroker.defaultGroup.",
                        "subscription payouts: the group name 'bank ' begins or ends with white space. Name one with"
                                + " KafkaTopic.group or KafkaBroker.defaultGroup.");
    }

    private ConsumerSettings settings(KafkaBroker broker, KafkaTopic topic, Commit commit) {
        return settings(broker, topic, commit, "bank");
    }

    private ConsumerSettings settings(KafkaBroker broker, KafkaTopic topic, Commit commit, String group) {
        return ClientProperties.consumer(broker, topic, commit, Optional.of(group), "app-1", "payouts", problems);
    }
}
