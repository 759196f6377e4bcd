package io.settlestream.internal.publish;

import static io.settlestream.internal.publish.Publishing.refusal;
import static io.settlestream.internal.publish.Publishing.small;
import static io.settlestream.internal.publish.Publishing.texts;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.settlestream.EncodeException;
import io.settlestream.Message;
import io.settlestream.Outgoing;
import io.settlestream.PublishException;
import io.settlestream.PublishException.Reason;
import io.settlestream.codec.CodecProvider;
import io.settlestream.internal.codec.Codecs;
import io.settlestream.internal.codec.TestCodecs;
import io.settlestream.internal.publish.Publishing.NoCodec;
import io.settlestream.internal.publish.Publishing.Plain;
import io.settlestream.internal.publish.Publishing.Texts;
import io.settlestream.kafka.KafkaPublish;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** From a message to a record: its topic, its codec, and what is refused before the producer sees it. */
class PublishSiteTest {

    private final Publishing publishing = new Publishing();
    private final ManualTime time = publishing.time;
    private final FakeProducer producer = publishing.producer;
    private final BrokerPublisher broker = publishing.broker;
    private final PublishSite site = broker.site(KafkaPublish.create());
    private final PublishSite payouts = publishing.payouts;

    @Outgoing("payouts.done")
    record Paid(long id) {}

    @Outgoing("events")
    sealed interface Event permits Opened, Closed, Audited {}

    record Opened(long id) implements Event {}

    @Outgoing("events.closed")
    record Closed(long id) implements Event {}

    @Outgoing("audit")
    interface Audit {}

    record Audited(long id) implements Event, Audit {}

    interface Shape {}

    record Circle(int radius) implements Shape {}

    // ---- 6.1 what a message becomes

    @Test
    @DisplayName("6.1: key, value, headers, partition and topic of a message are the record's")
    void messageBecomesRecord() throws InterruptedException {
        time.advance(Duration.ofMillis(1234));

        site.send(
                Message.of(new Plain("hi"))
                        .to("payouts")
                        .key("k")
                        .partition(2)
                        .header("a", "1")
                        .header("a", (byte[]) null),
                new Reports());

        ProducerRecord<byte[], byte[]> record = producer.taken.remove().record();
        assertThat(record.topic()).isEqualTo("payouts");
        assertThat(record.key()).asString(UTF_8).isEqualTo("k");
        assertThat(record.value()).asString(UTF_8).isEqualTo("Plain[text=hi]");
        assertThat(record.partition()).isEqualTo(2);
        assertThat(record.timestamp()).isEqualTo(1234);
        assertThat(record.headers().headers("a"))
                .extracting(header -> header.value() == null ? null : new String(header.value(), UTF_8))
                .containsExactly("1", null);
    }

    @Test
    @DisplayName("6.1: without a partition the choice is left to Kafka's partitioner")
    void partitionerChooses() throws InterruptedException {
        payouts.send(Message.of(new Plain("hi")).key("k"), new Reports());

        assertThat(producer.taken.remove().record().partition()).isNull();
    }

    static Stream<Arguments> destinations() {
        return Stream.of(
                Arguments.of(null, Message.of(new Paid(1)), "payouts.done"),
                Arguments.of("site", small(), "site"),
                Arguments.of(null, small().to("message"), "message"),
                Arguments.of(null, Message.of(new Opened(1)), "events"),
                Arguments.of(null, Message.of(new Closed(1)), "events.closed"));
    }

    @ParameterizedTest(name = "site {0}, {1}")
    @MethodSource("destinations")
    @DisplayName("6.1: the type, a supertype, the site or the message names the topic")
    void destination(String siteTopic, Message<?> message, String expected) throws InterruptedException {
        siteTo(siteTopic).send(message, new Reports());

        assertThat(producer.taken.remove().record().topic()).isEqualTo(expected);
    }

    static Stream<Arguments> badDestinations() {
        return Stream.of(
                Arguments.of(null, small(), List.of("Plain", "@Outgoing", "KafkaPublish.to")),
                Arguments.of("site", Message.of(new Paid(1)), List.of("payouts.done", "site")),
                Arguments.of(null, Message.of(new Paid(1)).to("message"), List.of("payouts.done", "message")),
                Arguments.of("site", small().to("message"), List.of("site", "message")),
                Arguments.of("same", small().to("same"), List.of("same")),
                Arguments.of(null, Message.of(new Audited(1)), List.of("events", "audit", "annotate the type itself")));
    }

    @ParameterizedTest(name = "site {0}, {1}")
    @MethodSource("badDestinations")
    @DisplayName("6.1: no name for the topic, or more than one, is refused naming them")
    void badDestination(String siteTopic, Message<?> message, List<String> named) {
        PublishException refused = refusal(siteTo(siteTopic), message);

        assertThat(refused.reason()).isEqualTo(Reason.DESTINATION);
        assertThat(refused).message().contains(named.toArray(String[]::new));
        assertThat(producer.taken).isEmpty();
    }

    @Test
    @DisplayName("6.1: the type that names the topic also has the codec")
    void codecOfTheAnnotatedType() throws InterruptedException {
        Codecs codecs = TestCodecs.of(texts(Event.class, event -> "an event"), new Texts());
        PublishSite bound = publishing.broker(codecs).site(KafkaPublish.create());

        bound.send(Message.of(new Opened(1)), new Reports());

        assertThat(producer.taken.remove().record().value()).asString(UTF_8).isEqualTo("an event");
    }

    @Test
    @DisplayName("6.1: a codec bound to a supertype serves, if there is none for the class")
    void codecOfASupertype() throws InterruptedException {
        Codecs codecs = TestCodecs.of(texts(Shape.class, shape -> "a shape"));
        PublishSite bound = publishing.broker(codecs).site(KafkaPublish.to("all"));

        bound.send(Message.of(new Circle(1)), new Reports());

        assertThat(producer.taken.remove().record().value()).asString(UTF_8).isEqualTo("a shape");
    }

    // ---- 6.1 what startup can tell

    @Test
    @DisplayName("6.1: startup finds two names, illegal names and missing codecs, all of them")
    void startupProblems() {
        List<String> problems = new ArrayList<>();
        Codecs codecs = TestCodecs.of(new Texts());

        PublishSite.check("a", Paid.class, KafkaPublish.to("other"), codecs, problems);
        PublishSite.check("b", Plain.class, KafkaPublish.to("no good"), codecs, problems);
        PublishSite.check("c", NoCodec.class, KafkaPublish.to("fine"), codecs, problems);
        PublishSite.check("d", Audited.class, KafkaPublish.create(), codecs, problems);

        assertThat(problems).hasSize(4);
        assertThat(problems.get(0)).startsWith("a: ").contains("payouts.done", "other");
        assertThat(problems.get(1)).startsWith("b: ").contains("no?good");
        assertThat(problems.get(2)).startsWith("c: ").contains("NoCodec", "codec");
        assertThat(problems.get(3)).startsWith("d: ").contains("events", "audit");
    }

    @Test
    @DisplayName("6.1: startup has nothing against one name, or none yet")
    void startupFine() {
        List<String> problems = new ArrayList<>();
        Codecs codecs = TestCodecs.of(new Texts());

        PublishSite.check("a", Paid.class, KafkaPublish.create(), codecs, problems);
        PublishSite.check("b", Plain.class, KafkaPublish.to("fine"), codecs, problems);
        PublishSite.check("c", Plain.class, KafkaPublish.create(), codecs, problems);

        assertThat(problems).isEmpty();
    }

    // ---- 6.1 misuse is a typed error, before the producer waits for anything

    @Test
    @DisplayName("6.1: an illegal topic name is refused before the producer hears of it")
    void illegalTopic() {
        PublishException refused = refusal(site, small().to("no\ngood"));

        assertThat(refused.reason()).isEqualTo(Reason.ILLEGAL_TOPIC);
        assertThat(refused.topic()).isEqualTo("no\ngood");
        assertThat(refused).message().contains("no?good");
        assertThat(producer.metadataCalls).hasValue(0);
    }

    @Test
    @DisplayName("6.1: an unknown partition is refused after one more look")
    void unknownPartition() {
        PublishException refused = refusal(payouts, small().partition(3));

        assertThat(refused.reason()).isEqualTo(Reason.UNKNOWN_PARTITION);
        assertThat(refused).message().contains("payouts", "partition 3", "has 3");
        assertThat(producer.metadataCalls).hasValue(2);
        assertThat(producer.taken).isEmpty();
    }

    @Test
    @DisplayName("6.1: a partition that was added since is found")
    void topicHasGrown() throws InterruptedException {
        payouts.send(small().partition(2), new Reports());
        producer.partitions = 4;

        payouts.send(small().partition(3), new Reports());
        payouts.send(small().partition(3), new Reports());

        assertThat(producer.taken).hasSize(3);
        assertThat(producer.metadataCalls).hasValue(2);
    }

    static Stream<Arguments> metadataFailures() {
        return Stream.of(
                Arguments.of(new TimeoutException("not present in metadata"), Reason.UNKNOWN_TOPIC),
                Arguments.of(new TopicAuthorizationException("payouts"), Reason.NOT_AUTHORIZED),
                Arguments.of(new InvalidTopicException("payouts"), Reason.ILLEGAL_TOPIC),
                Arguments.of(new KafkaException("something"), Reason.NOT_ACCEPTED));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("metadataFailures")
    @DisplayName("6.1: what the look for the topic brings up is a typed error")
    void metadataFails(RuntimeException failure, Reason expected) {
        producer.metadataFailure = failure;

        PublishException refused = refusal(payouts, small());

        assertThat(refused.reason()).isEqualTo(expected);
        assertThat(refused.topic()).isEqualTo("payouts");
        assertThat(refused).hasCause(failure);
        assertThat(broker.unreported()).isZero();
    }

    @Test
    @DisplayName("6.1: a topic that was unknown once is looked for again")
    void unknownTopicHeals() throws InterruptedException {
        producer.metadataFailure = new TimeoutException("not present in metadata");
        refusal(payouts, small());
        producer.metadataFailure = null;

        payouts.send(small(), new Reports());

        assertThat(producer.taken).hasSize(1);
    }

    @Test
    @DisplayName("6.1: a record larger than max.request.size is refused with both sizes")
    void tooLarge() {
        PublishException refused = refusal(payouts, Message.of(new Plain("x".repeat(Publishing.MAX_REQUEST))));

        assertThat(refused.reason()).isEqualTo(Reason.TOO_LARGE);
        assertThat(refused)
                .message()
                .contains("payouts", "2000", "max.request.size")
                .doesNotContain("xxx");
    }

    @Test
    @DisplayName(
            "6.1: a value without a codec, and one its codec refuses, are not encodable; 12.1: the value stays out")
    void notEncodable() {
        CodecProvider refusing = texts(Plain.class, plain -> {
            throw new EncodeException("text must not be empty", new IllegalStateException("secret"));
        });
        CodecProvider broken = texts(Paid.class, paid -> {
            throw new IllegalStateException("secret " + paid, new IllegalArgumentException("secret"));
        });
        BrokerPublisher other = publishing.broker(TestCodecs.of(refusing, broken));

        PublishException none = refusal(other.site(KafkaPublish.to("t")), Message.of(new NoCodec()));
        PublishException refused = refusal(other.site(KafkaPublish.to("t")), small());
        PublishException threw = refusal(other.site(KafkaPublish.create()), Message.of(new Paid(815)));

        assertThat(List.of(none, refused, threw))
                .extracting(PublishException::reason)
                .containsOnly(Reason.NOT_ENCODABLE);
        assertThat(none).message().contains("NoCodec");
        assertThat(refused).message().contains("text must not be empty");
        assertThat(threw)
                .message()
                .contains("payouts.done", "IllegalStateException")
                .doesNotContain("secret", "815");
        assertThat(threw).hasStackTraceContaining("IllegalArgumentException");
        assertThat(List.of(refused, threw)).allSatisfy(failure -> {
            StringWriter trace = new StringWriter();
            failure.printStackTrace(new PrintWriter(trace));
            assertThat(trace.toString()).doesNotContain("secret", "815");
        });
    }

    @Test
    @DisplayName("6.1: a topic that a transform has set counts more than that of the type, the site and the message")
    void redirected() throws InterruptedException {
        siteTo("site").sendTo("elsewhere", Message.of(new Paid(1)).to("message"), new Reports());

        assertThat(producer.taken.remove().record().topic()).isEqualTo("elsewhere");
    }

    @Test
    @DisplayName("6.1: a redirected message needs a legal topic as well")
    void redirectedToNowhere() {
        PublishException refused = catchThrowableOfType(
                PublishException.class, () -> site.sendTo("no good", Message.of(new Paid(1)), new Reports()));

        assertThat(refused.reason()).isEqualTo(Reason.ILLEGAL_TOPIC);
    }

    private PublishSite siteTo(String topic) {
        return topic == null ? site : broker.site(KafkaPublish.to(topic));
    }
}
