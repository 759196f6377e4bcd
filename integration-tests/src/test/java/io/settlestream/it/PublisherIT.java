package io.settlestream.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.settlestream.BatchOutcome;
import io.settlestream.ExceptionPolicy;
import io.settlestream.HandlerOutcome;
import io.settlestream.Message;
import io.settlestream.Outgoing;
import io.settlestream.PublishException;
import io.settlestream.PublishException.Reason;
import io.settlestream.PublishedRecord;
import io.settlestream.Publisher;
import io.settlestream.Reply;
import io.settlestream.RunningApp;
import io.settlestream.SettleStream;
import io.settlestream.ShutdownResult;
import io.settlestream.StartupException;
import io.settlestream.Subscriber;
import io.settlestream.embedded.EmbeddedKafka;
import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaPublish;
import io.settlestream.kafka.KafkaTopic;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Publishing sites of an application, and what a start has to say about how an application is put together. */
class PublisherIT {

    private final LiveKafka kafka = LiveKafka.shared();
    private final String group = LiveKafka.unique("publisher-group");
    private final ReportingClients clients = new ReportingClients();

    /** A value that knows its topic. */
    @Outgoing("publisher-outgoing")
    record Known(String text) {}

    @Test
    @DisplayName(
            "6.1 a scope's publisher works while the application runs: a typed error before the start and after the stop")
    void scopePublisher() throws InterruptedException {
        String out = kafka.topic("published", 1);
        AtomicReference<Publisher> site = new AtomicReference<>();
        AtomicReference<PublishedRecord> inHook = new AtomicReference<>();
        var app = SettleStream.app("publisher", "1")
                .withBroker(Services.broker(), scope -> site.set(scope.publisher(KafkaPublish.to(out))))
                .afterStartup(state -> inHook.set(site.get().publishAndWait("from the hook")));

        assertThat(refusal(site.get(), Message.of("early"))).satisfies(early -> {
            assertThat(early.reason()).isEqualTo(Reason.CLOSED);
            assertThat(early.topic()).isEqualTo(out);
            assertThat(early).hasMessageContaining("is not running");
        });
        try (RunningApp running = app.start()) {
            assertThat(inHook.get()).isEqualTo(new PublishedRecord(out, 0, 0));
            assertThat(site.get().publishAndWait("running").offset()).isEqualTo(1);
            assertThat(LiveKafka.get(site.get().publish("async").toCompletableFuture())
                            .offset())
                    .isEqualTo(2);
            assertThat(running.health().healthy()).isTrue();
        }
        assertThat(refusal(site.get(), Message.of("late")).reason()).isEqualTo(Reason.CLOSED);

        assertThat(kafka.readValues(out, 1)).containsExactly("from the hook", "running", "async");
    }

    @Test
    @DisplayName("6.1 misuse is a typed error that names the topic and holds nothing of the record")
    void typedErrors() {
        String out = kafka.topic("published", 2);
        String narrow = kafka.topic("narrow", 1, Map.of("max.message.bytes", "1000"));
        AtomicReference<Publisher> open = new AtomicReference<>();
        AtomicReference<Publisher> named = new AtomicReference<>();
        KafkaBroker broker = Services.broker().producerConfig("max.block.ms", 1_000);

        try (RunningApp app = SettleStream.app("publisher", "1")
                .withBroker(broker, scope -> {
                    open.set(scope.publisher(KafkaPublish.create()));
                    named.set(scope.publisher(KafkaPublish.to(out)));
                })
                .start()) {
            Message<String> message = Message.of("secret").key("secret");
            assertRefused(open, message.to(out).partition(2), Reason.UNKNOWN_PARTITION, out);
            assertRefused(open, message.to("no such-topic"), Reason.ILLEGAL_TOPIC, "no such-topic");
            assertRefused(open, message.to("missing-topic"), Reason.UNKNOWN_TOPIC, "missing-topic");
            assertRefused(open, Message.of("s".repeat(2_000)).to(narrow), Reason.TOO_LARGE, narrow);
            assertRefused(open, Message.of("s".repeat(2_000_000)).to(out), Reason.TOO_LARGE, out);
            assertRefused(open, Message.of("secret\ud800").to(out), Reason.NOT_ENCODABLE, out);
            assertRefused(open, message, Reason.DESTINATION, null);
            assertRefused(named, message.to(out), Reason.DESTINATION, out);
            assertRefused(named, Message.of(new Known("secret")), Reason.DESTINATION, "publisher-outgoing");
            assertRefused(open, Message.of(new Known("secret")).to(out), Reason.DESTINATION, "publisher-outgoing");
            assertThat(app.health().healthy()).isTrue();
        }

        assertThat(kafka.read(out, 2)).isEmpty();
    }

    private static void assertRefused(
            AtomicReference<Publisher> publisher, Message<?> message, Reason reason, String topic) {
        PublishException refused = refusal(publisher.get(), message);
        assertThat(refused.reason()).isEqualTo(reason);
        assertThat(refused.topic()).isEqualTo(topic);
        assertThat(refused).message().doesNotContain("secret").doesNotContain("sss");
    }

    private static PublishException refusal(Publisher publisher, Message<?> message) {
        return catchThrowableOfType(PublishException.class, () -> publisher.publishAndWait(message));
    }

    @Test
    @DisplayName("6.1 handlers of records and of batches publish through their context, which opens the producer")
    void contextPublisher() {
        String topic = kafka.topic("published-in", 1);
        String batches = kafka.topic("published-in", 1);
        String out = kafka.topic("published", 1);
        Subscriber<String, Object> subscriber = Subscriber.on(Services.tracked(topic, group), String.class)
                .handle((value, context) -> {
                    context.publisher().publishAndWait(Message.of(value).to(out));
                    return HandlerOutcome.ack();
                });
        Subscriber<String, Object> batch = Subscriber.on(Services.tracked(batches, group + "-b"), String.class)
                .handleBatch((values, context) -> {
                    for (String value : values) {
                        context.publisher().publishAndWait(Message.of(value).to(out));
                    }
                    return BatchOutcome.ackAll();
                })
                .batch(10);

        try (RunningApp app = SettleStream.app("publisher", "1")
                .withBroker(Services.broker(), scope -> {
                    scope.include(subscriber);
                    scope.include(batch);
                })
                .start(clients.environment())) {
            assertThat(clients.producers).hasValue(0);
            kafka.produce(topic, 0, "a", "b");
            kafka.produce(batches, 0, "c", "d");
            LiveKafka.eventually(
                    "all is settled",
                    () -> kafka.committed(group, topic).equals(Map.of(0, 2L))
                            && kafka.committed(group + "-b", batches).equals(Map.of(0, 2L)));
            assertThat(clients.producers).hasValue(1);
            assertThat(app.health().healthy()).isTrue();
        }

        assertThat(kafka.readValues(out, 1)).containsExactlyInAnyOrder("a", "b", "c", "d");
    }

    @Test
    @DisplayName("6.1, 7.5 a handler whose publish is refused throws, and what it throws goes to its policy")
    void contextPublisherFails() {
        String topic = kafka.topic("published-in", 1);
        Subscriber<String, Object> subscriber = Subscriber.on(Services.tracked(topic, group), String.class)
                .handle((value, context) -> {
                    context.publisher().publishAndWait(Message.of(value).to("no good"));
                    return HandlerOutcome.ack();
                });
        kafka.produce(topic, 0, "a");

        try (RunningApp app = Services.start(subscriber, mount -> mount.onException(ExceptionPolicy.DROP))) {
            LiveKafka.eventually(
                    "all is settled", () -> kafka.committed(group, topic).equals(Map.of(0, 1L)));
            assertThat(Services.counts(app).exceptions()).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("6.6 a service that only consumes opens no producer; one that replies, or has a site, opens one")
    void producersOpened() {
        String topic = kafka.topic("published-in", 1);
        String out = kafka.topic("published", 1);
        Subscriber<String, Object> consumes = Subscriber.on(Services.tracked(topic, group), String.class)
                .handle((value, context) -> HandlerOutcome.ack());
        kafka.produce(topic, 0, "a");

        try (RunningApp app = Services.start(clients.environment(), consumes, mount -> {})) {
            LiveKafka.eventually(
                    "all is settled", () -> kafka.committed(group, topic).equals(Map.of(0, 1L)));
            ShutdownResult result = Services.stopped(app);
            assertThat(result.clean()).isTrue();
        }
        assertThat(clients.producers).hasValue(0);
        assertThat(clients.consumers).hasValue(1);

        Subscriber<String, Object> replies = Subscriber.on(Services.tracked(topic, group), String.class)
                .handleReply(String.class, (value, context) -> Reply.of(value))
                .reply(KafkaPublish.to(out));
        ReportingClients others = new ReportingClients();
        try (RunningApp app = SettleStream.app("publisher", "1")
                .withBroker(Services.broker(), scope -> {
                    scope.include(replies);
                    scope.publisher(KafkaPublish.to(out));
                    scope.publisher(KafkaPublish.create());
                })
                .start(others.environment())) {
            assertThat(app.health().healthy()).isTrue();
        }
        assertThat(others.producers).hasValue(1);
    }

    @Test
    @DisplayName("6.4 isolation.level is read_committed unless set: aborted records are not delivered")
    void isolation() {
        String topic = kafka.topic("isolated", 1);
        try (KafkaProducer<byte[], byte[]> producer =
                kafka.producer(Map.of("transactional.id", LiveKafka.unique("isolation")))) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>(topic, 0, null, LiveKafka.bytes("aborted")));
            producer.flush();
            producer.abortTransaction();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>(topic, 0, null, LiveKafka.bytes("committed")));
            producer.commitTransaction();
        }

        assertThat(values(Services.tracked(topic, group))).containsExactly("committed");
        assertThat(values(Services.tracked(topic, group + "-2").config("isolation.level", "read_uncommitted")))
                .containsExactly("aborted", "committed");
    }

    private static List<String> values(KafkaTopic topic) {
        List<String> seen = new CopyOnWriteArrayList<>();
        Subscriber<String, Object> subscriber = Subscriber.on(topic, String.class)
                .handle((value, context) -> {
                    seen.add(value);
                    return HandlerOutcome.ack();
                });
        try (RunningApp app = Services.start(subscriber)) {
            LiveKafka.eventually("the last is handled", () -> seen.contains("committed"));
            assertThat(app.health().healthy()).isTrue();
        }
        return seen;
    }

    @Test
    @DisplayName("6.5 a clean stop leaves no record unflushed, without waiting for linger.ms")
    void cleanStop() {
        String out = kafka.topic("published", 1);
        AtomicReference<Publisher> site = new AtomicReference<>();
        List<CompletionStage<PublishedRecord>> published = new ArrayList<>();
        KafkaBroker broker =
                Services.broker().producerConfig("linger.ms", 100_000).producerConfig("delivery.timeout.ms", 200_000);

        ShutdownResult result;
        try (RunningApp app = SettleStream.app("publisher", "1")
                .withBroker(broker, scope -> site.set(scope.publisher(KafkaPublish.to(out))))
                .start()) {
            for (int i = 0; i < 100; i++) {
                published.add(site.get().publish(String.valueOf(i)));
            }
            result = Services.stopped(app);
        }

        assertThat(result.clean()).isTrue();
        assertThat(result.brokers())
                .singleElement()
                .satisfies(closed -> assertThat(closed.unflushedRecords()).isZero());
        assertThat(published)
                .allSatisfy(each -> assertThat(
                                LiveKafka.get(each.toCompletableFuture()).topic())
                        .isEqualTo(out));
        assertThat(kafka.readValues(out, 1))
                .containsExactlyElementsOf(
                        IntStream.range(0, 100).mapToObj(String::valueOf).toList());
    }

    @Test
    @DisplayName("6.5 with the broker gone the stop ends after flushTimeout and counts the records nobody answered for")
    void brokerGone() {
        AtomicReference<Publisher> site = new AtomicReference<>();
        try (EmbeddedKafka gone = EmbeddedKafka.start()) {
            gone.createTopic("gone", 1);
            KafkaBroker broker = KafkaBroker.of(gone.bootstrapServers())
                    .flushTimeout(Duration.ofMillis(300))
                    .producerConfig("linger.ms", 100_000)
                    .producerConfig("delivery.timeout.ms", 200_000);
            try (RunningApp app = SettleStream.app("publisher", "1")
                    .withBroker(broker, scope -> site.set(scope.publisher(KafkaPublish.to("gone"))))
                    .start()) {
                CompletionStage<PublishedRecord> first = site.get().publish("a");
                CompletionStage<PublishedRecord> second = site.get().publish("b");
                gone.node(0).stop();
                ShutdownResult result = Services.stopped(app);

                assertThat(result.clean()).isFalse();
                assertThat(result.failure()).isEmpty();
                assertThat(result.brokers())
                        .singleElement()
                        .satisfies(
                                closed -> assertThat(closed.unflushedRecords()).isEqualTo(2));
                assertThat(first.toCompletableFuture()).failsWithin(LiveKafka.PATIENCE);
                assertThat(second.toCompletableFuture()).failsWithin(LiveKafka.PATIENCE);
            }
        }
    }

    @Test
    @DisplayName(
            "6.2, 6.5 a paused broker: publishes are refused after queueTimeout, what was taken is accepted when it"
                    + " goes on; a stop counts what it never answered for")
    void brokerPaused() throws InterruptedException {
        AtomicReference<Publisher> site = new AtomicReference<>();
        try (EmbeddedKafka paused = EmbeddedKafka.builder().asProcess().start()) {
            paused.createTopic("paused", 1);
            KafkaBroker broker = KafkaBroker.of(paused.bootstrapServers())
                    .flushTimeout(Duration.ofMillis(300))
                    .producerConfig("buffer.memory", 98_304);
            KafkaPublish publish = KafkaPublish.to("paused").queueTimeout(Duration.ofMillis(50));
            try (RunningApp app = SettleStream.app("publisher", "1")
                    .withBroker(broker, scope -> site.set(scope.publisher(publish)))
                    .start()) {
                site.get().publishAndWait("first");
                paused.node(0).pause();
                List<CompletionStage<PublishedRecord>> taken = new ArrayList<>();
                PublishException refused = catchThrowableOfType(PublishException.class, () -> {
                    for (int i = 0; i < 100; i++) {
                        taken.add(site.get().publish("x".repeat(10_000)));
                    }
                });
                assertThat(refused.reason()).isEqualTo(Reason.QUEUE_FULL);
                assertThat(refused.topic()).isEqualTo("paused");
                assertThat(taken).hasSize(3);

                paused.node(0).resume();
                assertThat(taken)
                        .extracting(each ->
                                LiveKafka.get(each.toCompletableFuture()).offset())
                        .containsExactly(1L, 2L, 3L);

                paused.node(0).pause();
                CompletionStage<PublishedRecord> last = site.get().publish("last");
                ShutdownResult result = Services.stopped(app);
                assertThat(result.brokers().get(0).unflushedRecords()).isEqualTo(1);
                assertThat(last.toCompletableFuture()).failsWithin(LiveKafka.PATIENCE);
            }
        }
    }

    @Test
    @DisplayName("10.1, 6.4 one report holds all mistakes, each with its fix, and nothing is opened")
    void oneReport() {
        KafkaBroker broker = KafkaBroker.of(kafka.bootstrap()).producerConfig("acs", "all");
        Subscriber<String, Object> misspelt = Subscriber.on(
                        KafkaTopic.of("one").group(group).config("auto.comit.interval.ms", 50), String.class)
                .handle((value, context) -> HandlerOutcome.ack());
        Subscriber<String, Object> keyedBatch = Subscriber.on(
                        KafkaTopic.of("two").group(group), String.class)
                .handleBatch((values, context) -> BatchOutcome.ackAll())
                .batch(5);
        Subscriber<String, Object> twiceNamed = Subscriber.on(
                        KafkaTopic.of("three").group(group).commit(Commit.tracked()), String.class)
                .handleReply(Known.class, (value, context) -> Reply.of(new Known(value)))
                .reply(KafkaPublish.to("elsewhere"));
        Subscriber<String, Object> groupless =
                Subscriber.on(KafkaTopic.of("four"), String.class).handle((value, context) -> HandlerOutcome.ack());

        StartupException refused = catchThrowableOfType(
                StartupException.class,
                () -> SettleStream.app("mistakes", "1")
                        .withBroker(broker, scope -> {
                            scope.include(misspelt).onException(ExceptionPolicy.RETRY);
                            scope.include(keyedBatch).workersByKey(3);
                            scope.include(twiceNamed);
                            scope.include(groupless);
                            scope.publisher(KafkaPublish.to("no good"));
                        })
                        .start(clients.environment()));

        assertThat(refused.problems())
                .hasSize(7)
                .anySatisfy(problem -> assertThat(problem).contains("acs", "acks"))
                .anySatisfy(
                        problem -> assertThat(problem).contains("auto.comit.interval.ms", "auto.commit.interval.ms"))
                .anySatisfy(problem -> assertThat(problem).contains("one", "onException(RETRY)", "Commit.tracked()"))
                .anySatisfy(problem -> assertThat(problem).contains("two", "workersByKey(3)"))
                .anySatisfy(problem -> assertThat(problem).contains("three", "@Outgoing", "elsewhere"))
                .anySatisfy(problem -> assertThat(problem).contains("four", "KafkaBroker.defaultGroup"))
                .anySatisfy(problem -> assertThat(problem).contains("no?good", "publish"));
        assertThat(refused).message().contains("7 problems", "acks", "workersByKey(3)", "elsewhere");
        assertThat(clients.producers).hasValue(0);
        assertThat(clients.consumers).hasValue(0);
    }
}
