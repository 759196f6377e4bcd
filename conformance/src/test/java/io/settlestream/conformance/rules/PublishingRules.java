package io.settlestream.conformance.rules;

import io.settlestream.App;
import io.settlestream.ExceptionPolicy;
import io.settlestream.HandlerOutcome;
import io.settlestream.Message;
import io.settlestream.NoState;
import io.settlestream.PublishException;
import io.settlestream.Publisher;
import io.settlestream.ShutdownResult;
import io.settlestream.StartupException;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaPublish;
import io.settlestream.testing.TestApp;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** Section 6: what is published, and what is refused. */
final class PublishingRules {

    private PublishingRules() {}

    static List<Scenario> scenarios() {
        return List.of(
                partitions(), misuse(), refusedPublish(), queueTimeout(), properties(), cleanStop(), opensNoProducer());
    }

    private static void topics(Stage stage) {
        stage.topic("orders", 1);
        stage.topic("replies", 3);
    }

    private static Scenario partitions() {
        return Scenario.of(
                        "an explicit partition counts more than a key, which chooses as Kafka's partitioner does",
                        "6.1")
                .play(
                        stage -> {
                            topics(stage);
                            for (String key : List.of("alpha", "beta", "gamma", "delta")) {
                                stage.write("replies", Message.of("by key").key(key));
                            }
                            stage.write(
                                    "replies",
                                    Message.of("explicit").key("alpha").partition(0));
                            stage.write(
                                    "replies",
                                    Message.of("explicit").key("alpha").partition(1));
                            stage.published("replies").forEach(record -> stage.note("published", Seen.record(record)));
                        },
                        """
                        published: 0 key alpha explicit
                        published: 1 key alpha by key
                        published: 1 key gamma by key
                        published: 1 key alpha explicit
                        published: 2 key beta by key
                        published: 2 key delta by key
                        """);
    }

    private static Scenario misuse() {
        return Scenario.of("misuse of a publisher is a typed error that names the topic", "6.1")
                .play(
                        stage -> {
                            topics(stage);
                            stage.topic("small", 1, Map.of("max.message.bytes", "1000"));
                            stage.write("orders", 0, "go");
                            List<String> seen = new CopyOnWriteArrayList<>();
                            stage.start(stage.app(
                                    stage.broker().producerConfig("max.block.ms", 1_000),
                                    scope -> scope.include(stage.handled(stage.tracked("orders"), (value, context) -> {
                                                Publisher publisher = context.publisher();
                                                String replies = stage.name("replies");
                                                tryTo(seen, publisher, Message.of("x"), replies);
                                                tryTo(
                                                        seen,
                                                        publisher,
                                                        Message.of("x").to("not a name"),
                                                        "not a name");
                                                tryTo(
                                                        seen,
                                                        publisher,
                                                        Message.of("x")
                                                                .to(replies)
                                                                .partition(3),
                                                        replies);
                                                tryTo(
                                                        seen,
                                                        publisher,
                                                        Message.of("x".repeat(2_000_000))
                                                                .to(replies),
                                                        replies);
                                                String small = stage.name("small");
                                                tryTo(
                                                        seen,
                                                        publisher,
                                                        Message.of("x".repeat(2_000))
                                                                .to(small),
                                                        small);
                                                tryTo(
                                                        seen,
                                                        publisher,
                                                        Message.of("fine").to(replies),
                                                        replies);
                                                return HandlerOutcome.ack();
                                            }))
                                            .name("in")));
                            stage.settle();
                            seen.forEach(line -> stage.note("publish", line));
                            stage.note("published", stage.publishedValues("replies"));
                        },
                        """
                        publish: DESTINATION, names the topic: false
                        publish: ILLEGAL_TOPIC, names the topic: true
                        publish: UNKNOWN_PARTITION, names the topic: true
                        publish: TOO_LARGE, names the topic: true
                        publish: TOO_LARGE, names the topic: true
                        publish: accepted
                        published: [fine]
                        """);
    }

    private static void tryTo(List<String> seen, Publisher publisher, Message<?> message, String topic)
            throws InterruptedException {
        try {
            publisher.publishAndWait(message);
            seen.add("accepted");
        } catch (PublishException e) {
            seen.add(e.reason() + ", names the topic: " + topic.equals(e.topic()));
        }
    }

    private static Scenario refusedPublish() {
        return Scenario.of("a handler whose publish is refused throws, which goes to its policy", "6.1", "1.5")
                .play(
                        stage -> {
                            topics(stage);
                            stage.write("orders", 0, "a", "b");
                            TestApp<NoState> app = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> {
                                        context.publisher()
                                                .publishAndWait(Message.of(value)
                                                        .to(stage.name("replies"))
                                                        .partition(value.equals("a") ? 7 : 0));
                                        return HandlerOutcome.ack();
                                    }),
                                    mount -> mount.onException(ExceptionPolicy.DROP));
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            stage.note("published", stage.publishedValues("replies"));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        handled: a#1 threw PublishException, b#1 ack
                        published: [b]
                        committed: 0@2
                        """);
    }

    private static Scenario queueTimeout() {
        return Scenario.of("queueTimeout bounds the wait for room in front of the producer", "6.2")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.topic("replies", 1);
                            stage.write("orders", 0, "go");
                            List<String> seen = new CopyOnWriteArrayList<>();
                            String large = "x".repeat(40_000);
                            App<NoState> built = stage.app(
                                    stage.broker()
                                            .producerConfig("linger.ms", 60_000)
                                            .producerConfig("delivery.timeout.ms", 120_000)
                                            .producerConfig("batch.size", 100_000)
                                            .producerConfig("buffer.memory", 100_000),
                                    scope -> {
                                        Publisher publisher = scope.publisher(KafkaPublish.to(stage.name("replies"))
                                                .queueTimeout(Duration.ofMillis(100)));
                                        scope.include(stage.handled(stage.tracked("orders"), (value, context) -> {
                                                    for (int i = 0; i < 4; i++) {
                                                        try {
                                                            var unused = publisher.publish(Message.of(large));
                                                        } catch (PublishException e) {
                                                            seen.add(e.reason().name());
                                                            break;
                                                        }
                                                    }
                                                    return HandlerOutcome.ack();
                                                }))
                                                .name("in");
                                    });
                            stage.start(built);
                            stage.eventuallyCommitted("orders", "0@1");
                            stage.note("refused", seen);
                        },
                        """
                        refused: [QUEUE_FULL]
                        """);
    }

    private static Scenario properties() {
        return Scenario.of(
                        "an unknown property or a bad value is refused at startup, with the nearest known name", "6.4")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            try {
                                stage.start(stage.app(stage.broker().producerConfig("linger.msec", 5), scope -> {
                                    scope.include(stage.handled(
                                            stage.tracked("orders").config("max.poll.record", 5),
                                            (value, context) -> HandlerOutcome.ack()));
                                    scope.publisher(KafkaPublish.create());
                                }));
                            } catch (StartupException e) {
                                stage.note("problems", e.problems().size());
                                String all = String.join("; ", e.problems());
                                stage.note("suggests linger.ms", all.contains("linger.ms"));
                                stage.note("suggests max.poll.records", all.contains("max.poll.records"));
                            }
                        },
                        """
                        problems: 2
                        suggests linger.ms: true
                        suggests max.poll.records: true
                        """);
    }

    private static Scenario cleanStop() {
        return Scenario.of("a clean stop leaves no record unflushed and waits for no linger.ms", "6.5")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.topic("replies", 1);
                            stage.write("orders", 0, "a", "b", "c");
                            TestApp<NoState> app = stage.start(stage.app(
                                    stage.broker()
                                            .producerConfig("linger.ms", 60_000)
                                            .producerConfig("delivery.timeout.ms", 120_000),
                                    scope -> scope.include(
                                                    ReplyRules.echo(stage, KafkaPublish.to(stage.name("replies"))))
                                            .name("in")));
                            stage.eventually(
                                    "all are handed over",
                                    () -> app.subscription("in").calls().size() == 3);
                            ShutdownResult result = app.stop();
                            stage.note("unflushed", result.brokers().get(0).unflushedRecords());
                            stage.note("clean", result.clean());
                            stage.note("published", stage.publishedValues("replies"));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        unflushed: 0
                        clean: true
                        published: [a, b, c]
                        committed: 0@3
                        """);
    }

    private static Scenario opensNoProducer() {
        return Scenario.of("a service that only consumes opens no producer; one that replies opens one", "6.6")
                .play(
                        stage -> {
                            topics(stage);
                            stage.write("orders", 0, "a");
                            AtomicInteger opened = new AtomicInteger();
                            KafkaBroker broker = OpenedProducers.counted(stage.broker(), opened);
                            TestApp<NoState> consuming = stage.start(stage.app(
                                    broker,
                                    scope -> scope.include(stage.handled(
                                                    stage.tracked("orders"), (value, context) -> HandlerOutcome.ack()))
                                            .name("in")));
                            stage.settle();
                            stage.note("opened", opened);
                            stage.stop(consuming);
                            stage.start(stage.app(
                                    broker,
                                    scope -> scope.include(
                                                    ReplyRules.echo(stage, KafkaPublish.to(stage.name("replies"))))
                                            .name("in")));
                            stage.write("orders", 0, "b");
                            stage.settle();
                            stage.note("opened", opened);
                            stage.note("published", stage.publishedValues("replies"));
                        },
                        """
                        opened: 0
                        opened: 1
                        published: [b]
                        """);
    }
}
