package io.settlestream.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.ExceptionPolicy;
import io.settlestream.HandlerOutcome;
import io.settlestream.Health;
import io.settlestream.Message;
import io.settlestream.Outgoing;
import io.settlestream.PublishException;
import io.settlestream.PublishException.Reason;
import io.settlestream.Reply;
import io.settlestream.RunningApp;
import io.settlestream.Subscriber;
import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaPublish;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Replies: what is published, and when their deliveries settle. */
class ReplyIT {

    private final LiveKafka kafka = LiveKafka.shared();
    private final String group = LiveKafka.unique("reply-group");
    private final ReportingClients clients = new ReportingClients();

    /** A value that knows its topic. */
    @Outgoing("reply-paid")
    record Paid(long id) {}

    /** A value that knows its topic, and may be sent elsewhere. */
    @Outgoing("reply-redirected")
    record Redirected(String value) {}

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("6.1 a reply is published with its value, key, headers and partition, and its delivery is acked")
    void replyWithEverything(String protocol) {
        String topic = kafka.topic("replies-in", 1);
        String out = kafka.topic("replies-out", 3);
        Subscriber<String, Object> subscriber = Subscriber.on(
                        Services.tracked(topic, group).config("group.protocol", protocol), String.class)
                .handleReply(
                        String.class,
                        (value, context) -> Reply.message(Message.of(value + "!")
                                .key("key")
                                .header("name", "first")
                                .header("name", "second")
                                .header("empty", (byte[]) null)
                                .partition(2)))
                .reply(KafkaPublish.to(out));
        kafka.produce(topic, 0, "a");

        try (RunningApp app = Services.start(subscriber)) {
            LiveKafka.eventually("the position moves", () -> committed(topic).equals(Map.of(0, 1L)));
            assertThat(Services.counts(app).acked()).isEqualTo(1);
            assertThat(app.health().healthy()).isTrue();
        }

        assertThat(kafka.read(out, 3)).singleElement().satisfies(record -> {
            assertThat(LiveKafka.text(record.value())).isEqualTo("a!");
            assertThat(LiveKafka.text(record.key())).isEqualTo("key");
            assertThat(record.partition()).isEqualTo(2);
            assertThat(record.headers().toArray()).hasSize(3);
            assertThat(record.headers().headers("name"))
                    .extracting(header -> LiveKafka.text(header.value()))
                    .containsExactly("first", "second");
            assertThat(record.headers().lastHeader("empty").value()).isNull();
        });
    }

    @Test
    @DisplayName("6.1 @Outgoing names the topic of a reply; without a message an outcome settles the delivery alone")
    void outgoingAndNone() {
        String topic = kafka.topic("replies-in", 1);
        String out = "reply-paid"; // named by the type, and used here alone
        kafka.create(out, 1);
        Subscriber<String, Object> subscriber = Subscriber.on(Services.tracked(topic, group), String.class)
                .handleReply(Paid.class, (value, context) -> switch (value) {
                    case "drop" -> Reply.drop();
                    case "retry" -> context.attempt() < 3 ? Reply.retry() : Reply.ack();
                    default -> Reply.of(new Paid(Long.parseLong(value)));
                })
                .reply();
        kafka.produce(topic, 0, "1", "drop", "retry", "2");

        try (RunningApp app = Services.start(subscriber)) {
            LiveKafka.eventually("the position moves", () -> committed(topic).equals(Map.of(0, 4L)));
            Health.Counts counts = Services.counts(app);
            assertThat(counts.acked()).isEqualTo(3);
            assertThat(counts.dropped()).isEqualTo(1);
            assertThat(counts.retried()).isEqualTo(2);
        }

        assertThat(kafka.readValues(out, 1)).containsExactly("{\"id\":1}", "{\"id\":2}");
    }

    @Test
    @DisplayName(
            "6.1 a transform at the mount site sees reply and delivery, and sets key, headers, partition and topic")
    void transform() {
        String topic = kafka.topic("replies-in", 1);
        String out = kafka.topic("replies-out", 2);
        String other = kafka.topic("replies-other", 1);
        Subscriber<String, Object> subscriber = Subscriber.on(Services.tracked(topic, group), String.class)
                .handleReply(String.class, (value, context) -> Reply.of(value.toUpperCase(Locale.ROOT)))
                .reply(KafkaPublish.create().transform((reply, delivery) -> {
                    Message<?> keyed = reply.key(delivery.key())
                            .header("from", delivery.topic() + "-" + delivery.partition() + "@" + delivery.offset());
                    return reply.value().equals("B")
                            ? keyed.to(other)
                            : keyed.to(out).partition(1);
                }));
        kafka.produceKeyed(topic, 0, "account", "a", "b");

        try (RunningApp app = Services.start(subscriber)) {
            LiveKafka.eventually("the position moves", () -> committed(topic).equals(Map.of(0, 2L)));
            assertThat(app.health().healthy()).isTrue();
        }

        assertThat(kafka.read(out, 2)).singleElement().satisfies(record -> {
            assertThat(record.partition()).isEqualTo(1);
            assertReply(record, "A", topic + "-0@0");
        });
        assertThat(kafka.read(other, 1)).singleElement().satisfies(record -> assertReply(record, "B", topic + "-0@1"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName("6.1 a topic that a transform sets counts more than the type's, the site's and the handler's")
    void transformRedirects(boolean namedByType) {
        String topic = kafka.topic("replies-in", 1);
        String out = kafka.topic("replies-out", 1);
        String other = kafka.topic("replies-other", 1);
        KafkaPublish.Transform redirect =
                (reply, delivery) -> delivery.offset() == 0 ? reply.to(other) : reply.header("kept", "");
        var draft = Subscriber.on(Services.tracked(topic, group), String.class);
        Subscriber<String, Object> subscriber = namedByType
                ? draft.<Redirected, Object>handleReply(
                                Redirected.class, (value, context) -> Reply.message(Message.of(new Redirected(value))))
                        .reply(KafkaPublish.create().transform(redirect))
                : draft.<String, Object>handleReply(String.class, (value, context) -> Reply.of(value))
                        .reply(KafkaPublish.to(out).transform(redirect));
        if (namedByType) {
            kafka.create("reply-redirected", 1);
        }
        kafka.produce(topic, 0, "a", "b");

        try (RunningApp app = Services.start(subscriber)) {
            LiveKafka.eventually("the position moves", () -> committed(topic).equals(Map.of(0, 2L)));
            assertThat(app.health().healthy()).isTrue();
        }

        assertThat(kafka.read(other, 1)).hasSize(1);
        assertThat(kafka.read(namedByType ? "reply-redirected" : out, 1)).hasSize(1);
    }

    @Test
    @DisplayName("6.1 a handler's own topic next to the site's stays refused, with a transform that sets none")
    void handlersTopicStaysRefused() {
        String topic = kafka.topic("replies-in", 1);
        String out = kafka.topic("replies-out", 1);
        Subscriber<String, Object> subscriber = Subscriber.on(Services.tracked(topic, group), String.class)
                .handleReply(
                        String.class,
                        (value, context) -> Reply.message(Message.of(value).to(out)))
                .reply(KafkaPublish.to(out).transform((reply, delivery) -> reply.header("a", "b")));
        kafka.produce(topic, 0, "a");

        try (RunningApp app = Services.start(subscriber, mount -> mount.onException(ExceptionPolicy.DROP))) {
            LiveKafka.eventually("the position moves", () -> committed(topic).equals(Map.of(0, 1L)));
            assertThat(Services.counts(app).failedReplies()).isEqualTo(1);
        }

        assertThat(kafka.read(out, 1)).isEmpty();
    }

    private static void assertReply(ConsumerRecord<byte[], byte[]> record, String value, String from) {
        assertThat(LiveKafka.text(record.value())).isEqualTo(value);
        assertThat(LiveKafka.text(record.key())).isEqualTo("account");
        assertThat(LiveKafka.text(record.headers().lastHeader("from").value())).isEqualTo(from);
    }

    @Test
    @DisplayName("6.1 a transform that throws, or gives nothing, is the handler's failure")
    void brokenTransform() {
        String topic = kafka.topic("replies-in", 1);
        String out = kafka.topic("replies-out", 1);
        Subscriber<String, Object> subscriber = Subscriber.on(Services.tracked(topic, group), String.class)
                .handleReply(String.class, (value, context) -> Reply.of(value))
                .reply(KafkaPublish.to(out)
                        .transform((reply, delivery) -> switch (reply.value().toString()) {
                            case "throws" -> throw new IllegalStateException("no");
                            case "null" -> null;
                            default -> reply;
                        }));
        kafka.produce(topic, 0, "a", "throws", "null", "b");

        try (RunningApp app = Services.start(subscriber, mount -> mount.onException(ExceptionPolicy.DROP))) {
            LiveKafka.eventually("the position moves", () -> committed(topic).equals(Map.of(0, 4L)));
            assertThat(Services.counts(app).exceptions()).isEqualTo(2);
            assertThat(Services.counts(app).dropped()).isEqualTo(2);
        }

        assertThat(kafka.readValues(out, 1)).containsExactly("a", "b");
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("6.3 publish, then ack: the position does not move before Kafka has accepted the reply;"
            + " lanes do not stand still meanwhile")
    void publishThenAck(String protocol) {
        String topic = kafka.topic("replies-in", 2);
        String out = kafka.topic("replies-out", 1);
        List<String> seen = new CopyOnWriteArrayList<>();
        Subscriber<String, Object> subscriber = Subscriber.on(
                        Services.tracked(topic, group).config("group.protocol", protocol), String.class)
                .handleReply(String.class, (value, context) -> {
                    seen.add(value);
                    return value.startsWith("none") ? Reply.none(HandlerOutcome.ack()) : Reply.of(value);
                })
                .reply(KafkaPublish.to(out));
        clients.hold();

        try (RunningApp app = Services.start(clients.environment(), subscriber, mount -> {})) {
            kafka.produce(topic, 0, "a", "b", "c");
            LiveKafka.eventually("three replies are on their way", () -> clients.held() == 3);
            kafka.produce(topic, 1, "none");
            LiveKafka.eventually(
                    "another partition is committed", () -> committed(topic).equals(Map.of(0, 0L, 1, 1L)));
            clients.releaseOne();
            LiveKafka.eventually("one is accepted", () -> committed(topic).equals(Map.of(0, 1L, 1, 1L)));
            clients.release();
            LiveKafka.eventually("all are accepted", () -> committed(topic).equals(Map.of(0, 3L, 1, 1L)));
            assertThat(app.health().healthy()).isTrue();
        }

        assertThat(seen).containsExactly("a", "b", "c", "none");
        assertThat(kafka.readValues(out, 1)).containsExactly("a", "b", "c");
    }

    @Test
    @DisplayName("6.3 awaitReport: the lane takes its next delivery when the report on the one before has come")
    void awaitReport() {
        String topic = kafka.topic("replies-in", 1);
        String out = kafka.topic("replies-out", 1);
        List<Integer> reportedBefore = new CopyOnWriteArrayList<>();
        Subscriber<String, Object> subscriber = Subscriber.on(Services.tracked(topic, group), String.class)
                .handleReplyAsync(String.class, (value, context) -> {
                    reportedBefore.add(clients.reported.get());
                    return CompletableFuture.completedFuture(Reply.of(value));
                })
                .reply(KafkaPublish.to(out).awaitReport());
        kafka.produce(topic, 0, "a", "b", "c");
        clients.hold();

        try (RunningApp app = Services.start(clients.environment(), subscriber, mount -> {})) {
            for (int i = 0; i < 3; i++) {
                LiveKafka.eventually("a reply is on its way", () -> clients.held() == 1);
                clients.releaseOne();
            }
            LiveKafka.eventually("all are accepted", () -> committed(topic).equals(Map.of(0, 3L)));
            assertThat(app.health().healthy()).isTrue();
        }

        assertThat(reportedBefore).containsExactly(0, 1, 2);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName(
            "6.3 a reply that fails and can heal is a retry under Tracked; with awaitReport order holds all the same")
    void failedReplyRetried(boolean awaitReport) {
        String topic = kafka.topic("replies-in", 1);
        String out = kafka.topic("replies-out", 1);
        List<String> seen = new CopyOnWriteArrayList<>();
        KafkaPublish publish = awaitReport ? KafkaPublish.to(out).awaitReport() : KafkaPublish.to(out);
        Subscriber<String, Object> subscriber = Subscriber.on(Services.tracked(topic, group), String.class)
                .handleReply(String.class, (value, context) -> {
                    seen.add(value + "#" + context.attempt());
                    return Reply.of(value);
                })
                .reply(publish);
        clients.fail(2, new NotEnoughReplicasException("one is missing"));
        kafka.produce(topic, 0, "a", "b", "c", "d");

        try (RunningApp app = Services.start(clients.environment(), subscriber, mount -> {})) {
            LiveKafka.eventually("all are accepted", () -> committed(topic).equals(Map.of(0, 4L)));
            assertThat(Services.counts(app).failedReplies()).isEqualTo(1);
            assertThat(Services.counts(app).retried()).isEqualTo(1);
            assertThat(Services.counts(app).acked()).isEqualTo(4);
            assertThat(app.health().healthy()).isTrue();
        }

        assertThat(seen).containsExactlyInAnyOrder("a#1", "b#1", "b#2", "c#1", "d#1");
        assertThat(kafka.readValues(out, 1)).containsExactlyInAnyOrder("a", "b", "c", "d");
        if (awaitReport) {
            assertThat(seen).containsExactly("a#1", "b#1", "b#2", "c#1", "d#1");
            assertThat(kafka.readValues(out, 1)).containsExactly("a", "b", "c", "d");
        }
    }

    @Test
    @DisplayName("6.3 a reply that fails holds its position back, and comes back, while those behind it are accepted")
    void failedReplyHoldsPosition() {
        String topic = kafka.topic("replies-in", 2);
        String out = kafka.topic("replies-out", 1);
        AtomicInteger attempts = new AtomicInteger();
        Subscriber<String, Object> subscriber = Subscriber.on(Services.tracked(topic, group), String.class)
                .handleReply(String.class, (value, context) -> {
                    attempts.accumulateAndGet(context.attempt(), Math::max);
                    return Reply.of(value);
                })
                .reply(KafkaPublish.to(out));
        for (int send = 1; send <= 4; send++) {
            clients.fail(send, new NotEnoughReplicasException("one is missing"));
        }
        kafka.produce(topic, 0, "a");

        try (RunningApp app = Services.start(clients.environment(), subscriber, mount -> {})) {
            LiveKafka.eventually("all are accepted", () -> committed(topic).equals(Map.of(0, 1L, 1, 0L)));
            assertThat(Services.counts(app).failedReplies()).isEqualTo(4);
        }

        assertThat(attempts).hasValue(5);
        assertThat(kafka.readValues(out, 1)).containsExactly("a");
    }

    @Test
    @DisplayName("2.2 a reply that fails is reported and lost under Auto")
    void failedReplyLost() {
        String topic = kafka.topic("replies-in", 1);
        String out = kafka.topic("replies-out", 1);
        Subscriber<String, Object> subscriber = Subscriber.on(
                        Services.topic(topic, group, BatchIT.Mode.AUTO.commit), String.class)
                .handleReply(String.class, (value, context) -> Reply.of(value))
                .reply(KafkaPublish.to(out));
        clients.fail(2, new NotEnoughReplicasException("one is missing"));
        kafka.produce(topic, 0, "a", "b", "c");

        try (RunningApp app = Services.start(clients.environment(), subscriber, mount -> {})) {
            LiveKafka.eventually(
                    "all is handled",
                    () -> committed(topic).equals(Map.of(0, 3L))
                            && Services.counts(app).acked() == 2);
            assertThat(Services.counts(app).failedReplies()).isEqualTo(1);
            assertThat(Services.open(app)).isZero();
            assertThat(app.health().healthy()).isTrue();
        }

        assertThat(kafka.readValues(out, 1)).containsExactly("a", "c");
    }

    /** Where a reply is found to be too large. */
    enum TooLarge {
        FOR_THE_PRODUCER,
        FOR_THE_TOPIC
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("6.3 a reply that is too large cannot heal and goes to the exception policy: DROP settles it")
    void tooLargeDropped(TooLarge where) {
        String topic = kafka.topic("replies-in", 1);
        String out = kafka.topic("replies-out", 1, Map.of("max.message.bytes", "5000"));
        List<String> seen = new CopyOnWriteArrayList<>();
        Subscriber<String, Object> subscriber = tooLarge(where, Commit.tracked(), topic, out, seen);
        kafka.produce(topic, 0, "a", "large", "b");

        try (RunningApp app = Services.start(subscriber, mount -> mount.onException(ExceptionPolicy.DROP))) {
            LiveKafka.eventually("all is settled", () -> committed(topic).equals(Map.of(0, 3L)));
            assertThat(Services.counts(app).failedReplies()).isEqualTo(1);
            assertThat(Services.counts(app).exceptions()).isZero();
            assertThat(Services.counts(app).dropped()).isEqualTo(1);
            assertThat(Services.counts(app).retried()).isZero();
            assertThat(app.health().healthy()).isTrue();
        }

        assertThat(seen).containsExactly("a", "large", "b");
        assertThat(kafka.readValues(out, 1)).extracting(String::strip).containsExactly("a", "b");
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("2.2 under Auto a reply that cannot heal is reported and lost like any other, whatever the policy")
    void tooLargeLost(TooLarge where) {
        String topic = kafka.topic("replies-in", 1);
        String out = kafka.topic("replies-out", 1, Map.of("max.message.bytes", "5000"));
        Subscriber<String, Object> subscriber =
                tooLarge(where, Commit.auto(), topic, out, new CopyOnWriteArrayList<>());
        kafka.produce(topic, 0, "a", "large", "b");

        try (RunningApp app = Services.start(subscriber, mount -> mount.onException(ExceptionPolicy.FAIL_FAST))) {
            LiveKafka.eventually(
                    "all is handled",
                    () -> committed(topic).equals(Map.of(0, 3L))
                            && Services.counts(app).acked() == 2);
            assertThat(Services.counts(app).failedReplies()).isEqualTo(1);
            assertThat(Services.counts(app).exceptions()).isZero();
            assertThat(app.health().healthy()).isTrue();
        }

        assertThat(kafka.readValues(out, 1)).extracting(String::strip).containsExactly("a", "b");
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("6.3, 7.5 a reply that is too large under FAIL_FAST: the record stays open and the service stops")
    void tooLargeFails(TooLarge where) {
        String topic = kafka.topic("replies-in", 1);
        String out = kafka.topic("replies-out", 1, Map.of("max.message.bytes", "5000"));
        Subscriber<String, Object> subscriber =
                tooLarge(where, Commit.tracked(), topic, out, new CopyOnWriteArrayList<>());
        kafka.produce(topic, 0, "a", "large", "b");

        try (RunningApp app = Services.start(subscriber)) {
            LiveKafka.eventually("the service stops", () -> app.stopping().isDone());
            assertThat(Services.stopped(app).failure())
                    .hasValueSatisfying(failure -> assertThat(failure)
                            .hasMessageContaining(
                                    "the reply to " + topic + "-0@1 cannot be published: TOO_LARGE, topic " + out)
                            .cause()
                            .isInstanceOfSatisfying(PublishException.class, publish -> {
                                assertThat(publish.reason()).isEqualTo(Reason.TOO_LARGE);
                                assertThat(publish.topic()).isEqualTo(out);
                            }));
        }

        assertThat(committed(topic)).isEqualTo(Map.of(0, 1L));
    }

    private Subscriber<String, Object> tooLarge(
            TooLarge where, Commit commit, String topic, String out, List<String> seen) {
        int size = where == TooLarge.FOR_THE_PRODUCER ? 2_000_000 : 6_000;
        return Subscriber.on(Services.topic(topic, group, commit), String.class)
                .handleReply(String.class, (value, context) -> {
                    seen.add(value);
                    // As large as records are. With tiny ones in front of a large one Kafka's producer splits its batch
                    // in vain.
                    return Reply.of(value.equals("large") ? "x".repeat(size) : value + " ".repeat(500));
                })
                .reply(KafkaPublish.to(out));
    }

    @Test
    @DisplayName("6.2 queueTimeout: no room in front of the producer fails the reply, which comes back until there is")
    void queueTimeout() {
        String topic = kafka.topic("replies-in", 1);
        String out = kafka.topic("replies-out", 1);
        Subscriber<String, Object> subscriber = Subscriber.on(Services.tracked(topic, group), String.class)
                .handleReply(String.class, (value, context) -> Reply.of(value + "x".repeat(10_000)))
                .reply(KafkaPublish.to(out).queueTimeout(Duration.ofMillis(20)));
        clients.hold();
        kafka.produce(topic, 0, "a", "b", "c", "d", "e", "f");

        try (RunningApp app = Services.start(
                clients.environment(),
                Services.broker().producerConfig("buffer.memory", 98_304),
                subscriber,
                mount -> mount.retryBackoff(Duration.ofMillis(5), Duration.ofMillis(5)))) {
            LiveKafka.eventually(
                    "publishes fail for want of room",
                    () -> Services.counts(app).failedReplies() >= 3);
            assertThat(clients.sent).hasValue(3);
            clients.release();
            LiveKafka.eventually("all are accepted", () -> committed(topic).equals(Map.of(0, 6L)));
            assertThat(app.health().healthy()).isTrue();
        }

        assertThat(kafka.readValues(out, 1))
                .extracting(value -> value.substring(0, 1))
                .containsExactly("a", "b", "c", "d", "e", "f");
    }

    @Test
    @DisplayName("6.2 without queueTimeout a publish waits for room, which holds up its lane and no other")
    void waitsForRoom() {
        String topic = kafka.topic("replies-in", 2);
        String out = kafka.topic("replies-out", 1);
        List<String> seen = new CopyOnWriteArrayList<>();
        Subscriber<String, Object> subscriber = Subscriber.on(Services.tracked(topic, group), String.class)
                .handleReply(String.class, (value, context) -> {
                    seen.add(value);
                    return value.startsWith("none")
                            ? Reply.none(HandlerOutcome.ack())
                            : Reply.of(value + "x".repeat(10_000));
                })
                .reply(KafkaPublish.to(out));
        clients.hold();
        kafka.produce(topic, 0, "a", "b", "c", "d", "e", "f");

        try (RunningApp app = Services.start(
                clients.environment(),
                Services.broker().producerConfig("buffer.memory", 98_304),
                subscriber,
                mount -> mount.workersByKey(2))) {
            LiveKafka.eventually("the fourth waits", () -> seen.size() == 4);
            kafka.produce(topic, 1, "none", "none", "none");
            LiveKafka.eventually(
                    "the other lane goes on", () -> committed(topic).getOrDefault(1, 0L) == 3);
            assertThat(clients.sent).hasValue(3);
            assertThat(seen).containsExactly("a", "b", "c", "d", "none", "none", "none");
            clients.release();
            LiveKafka.eventually("all are accepted", () -> committed(topic).equals(Map.of(0, 6L, 1, 3L)));
            assertThat(Services.counts(app).failedReplies()).isZero();
        }

        assertThat(kafka.readValues(out, 1))
                .extracting(value -> value.substring(0, 1))
                .containsExactly("a", "b", "c", "d", "e", "f");
    }

    @Test
    @DisplayName("6.3 the order of replies is the order of their inputs in a lane, with reports on their way")
    void orderOfReplies() {
        String topic = kafka.topic("replies-in", 1);
        String out = kafka.topic("replies-out", 1);
        int records = 2_000;
        Subscriber<String, Object> subscriber = Subscriber.on(Services.tracked(topic, group), String.class)
                .handleReply(String.class, (value, context) -> Reply.of(value))
                .reply(KafkaPublish.to(out));
        List<String> values =
                IntStream.range(0, records).mapToObj(String::valueOf).toList();
        kafka.produce(topic, 0, values.toArray(String[]::new));

        try (RunningApp app = Services.start(subscriber)) {
            LiveKafka.eventually("all are accepted", () -> committed(topic).equals(Map.of(0, (long) records)));
            assertThat(app.health().healthy()).isTrue();
        }

        assertThat(kafka.readValues(out, 1)).containsExactlyElementsOf(values);
    }

    @Test
    @DisplayName("10.3, 6.3 a stop waits for the reports of replies: a clean stop repeats nothing")
    void stopWaitsForReports() {
        String topic = kafka.topic("replies-in", 1);
        String out = kafka.topic("replies-out", 1);
        Subscriber<String, Object> subscriber = Subscriber.on(Services.tracked(topic, group), String.class)
                .handleReply(String.class, (value, context) -> Reply.of(value))
                .reply(KafkaPublish.to(out));
        clients.hold();
        kafka.produce(topic, 0, "a", "b");

        try (RunningApp app = Services.start(clients.environment(), subscriber, mount -> {})) {
            LiveKafka.eventually("two replies are on their way", () -> clients.held() == 2);
            var stopped = app.shutdown();
            LiveKafka.get(app.stopping());
            clients.releaseOne();
            assertThat(stopped).isNotDone();
            clients.release();
            assertThat(LiveKafka.get(stopped).clean()).isTrue();
        }

        assertThat(committed(topic)).isEqualTo(Map.of(0, 2L));
    }

    private Map<Integer, Long> committed(String topic) {
        return kafka.committed(group, topic);
    }
}
