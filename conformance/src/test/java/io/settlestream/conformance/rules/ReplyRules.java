package io.settlestream.conformance.rules;

import io.settlestream.ExceptionPolicy;
import io.settlestream.Health;
import io.settlestream.Message;
import io.settlestream.NoState;
import io.settlestream.Reply;
import io.settlestream.Subscriber;
import io.settlestream.kafka.KafkaPublish;
import io.settlestream.testing.TestApp;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Section 6, where handlers reply. */
final class ReplyRules {

    private ReplyRules() {}

    static List<Scenario> scenarios() {
        return List.of(
                wholeReply(),
                noReply(),
                transform(),
                inOrder(),
                healingReply(),
                awaitedReply(),
                lostReply(),
                tooLarge(ExceptionPolicy.DROP, """
                        handled: a#1 ack, large#1 threw PublishException, b#1 ack
                        failed replies: 1
                        status: RUNNING
                        published: [a, b]
                        committed: 0@3
                        """),
                tooLarge(ExceptionPolicy.FAIL_FAST, """
                        failed replies: 1
                        status: FAILED
                        committed: 0@1
                        """));
    }

    /** Replies to {@code orders} with the same value. */
    static Subscriber<String, Object> echo(Stage stage, KafkaPublish publish) {
        return Subscriber.on(stage.tracked("orders"), String.class)
                .<String, Object>handleReply(String.class, (value, context) -> Reply.of(value))
                .reply(publish);
    }

    private static void topics(Stage stage) {
        stage.topic("orders", 1);
        stage.topic("replies", 3);
    }

    private static Scenario wholeReply() {
        return Scenario.of(
                        "a reply is published with key, headers and partition, and its delivery is acked", "6.1", "6.3")
                .play(
                        stage -> {
                            topics(stage);
                            stage.write("orders", 0, "a");
                            TestApp<NoState> app = stage.start(Subscriber.on(stage.tracked("orders"), String.class)
                                    .<String, Object>handleReply(
                                            String.class,
                                            (value, context) -> Reply.message(Message.of(value + "!")
                                                    .key("key")
                                                    .header("name", "first")
                                                    .header("name", "second")
                                                    .header("empty", (byte[]) null)
                                                    .partition(2)))
                                    .reply(KafkaPublish.to(stage.name("replies"))));
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            stage.published("replies").forEach(record -> stage.note("published", Seen.record(record)));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        handled: a#1 ack
                        published: 2 key key name=first name=second empty=null a!
                        committed: 0@1
                        """);
    }

    private static Scenario noReply() {
        return Scenario.of("without a message an outcome settles the delivery alone", "6.1", "1.1")
                .play(
                        stage -> {
                            topics(stage);
                            stage.write("orders", 0, "1", "drop", "retry", "2");
                            TestApp<NoState> app = stage.start(Subscriber.on(stage.tracked("orders"), String.class)
                                    .<String, Object>handleReply(String.class, (value, context) -> switch (value) {
                                        case "drop" -> Reply.drop();
                                        case "retry" -> context.attempt() < 3 ? Reply.retry() : Reply.ack();
                                        default -> Reply.of(value);
                                    })
                                    .reply(KafkaPublish.to(stage.name("replies"))));
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            stage.note(
                                    "published",
                                    stage.publishedValues("replies").stream()
                                            .sorted()
                                            .toList());
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        handled: 1#1 ack, drop#1 drop, retry#1 retry, retry#2 retry, retry#3 ack, 2#1 ack
                        published: [1, 2]
                        committed: 0@4
                        """);
    }

    private static Scenario transform() {
        return Scenario.of("a transform sees reply and delivery, and sets key, headers, partition and topic", "6.1")
                .play(
                        stage -> {
                            topics(stage);
                            stage.topic("other", 1);
                            stage.writeKeyed("orders", "account", "a", "b");
                            stage.start(Subscriber.on(stage.tracked("orders"), String.class)
                                    .<String, Object>handleReply(
                                            String.class, (value, context) -> Reply.of(value.toUpperCase(Locale.ROOT)))
                                    .reply(KafkaPublish.create().transform((reply, delivery) -> {
                                        Message<?> keyed = reply.key(delivery.key())
                                                .header("from", delivery.partition() + "@" + delivery.offset());
                                        return reply.value().equals("B")
                                                ? keyed.to(stage.name("other"))
                                                : keyed.to(stage.name("replies"))
                                                        .partition(1);
                                    })));
                            stage.settle();
                            stage.published("replies").forEach(record -> stage.note("published", Seen.record(record)));
                            stage.published("other").forEach(record -> stage.note("elsewhere", Seen.record(record)));
                        },
                        """
                        published: 1 key account from=0@0 A
                        elsewhere: 0 key account from=0@1 B
                        """);
    }

    private static Scenario inOrder() {
        return Scenario.of("the order of replies is the order of their inputs, with reports on their way", "6.3")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.topic("replies", 1);
                            List<String> values = new ArrayList<>();
                            for (int i = 0; i < 40; i++) {
                                values.add("v" + i);
                            }
                            stage.write("orders", 0, values.toArray(String[]::new));
                            stage.start(echo(stage, KafkaPublish.to(stage.name("replies"))));
                            stage.settle();
                            stage.note(
                                    "in order", stage.publishedValues("replies").equals(values));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        in order: true
                        committed: 0@40
                        """);
    }

    private static Scenario healingReply() {
        return Scenario.of(
                        "a reply that fails is retried; its position stays until Kafka has accepted it",
                        "6.3",
                        "3.1",
                        "3.4")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.refusingTopic("replies");
                            stage.write("orders", 0, "a");
                            TestApp<NoState> app = stage.start(stage.app(
                                    scope -> scope.include(echo(stage, KafkaPublish.to(stage.name("replies"))))
                                            .name("in")));
                            stage.eventually(
                                    "it has failed twice",
                                    () -> Stage.counts(app).failedReplies() >= 2);
                            stage.note("status", app.health().status());
                            stage.note("committed", stage.committed("orders"));
                            stage.acceptWrites("replies");
                            stage.settle();
                            stage.note(
                                    "retried",
                                    Stage.counts(app).retried()
                                            == Stage.counts(app).failedReplies());
                            stage.note("published", stage.publishedValues("replies"));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        status: RUNNING
                        committed: 0@0
                        retried: true
                        published: [a]
                        committed: 0@1
                        """);
    }

    private static Scenario awaitedReply() {
        return Scenario.of("with awaitReport the lane waits for each report, so order holds even when one fails", "6.3")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.refusingTopic("replies");
                            stage.write("orders", 0, "a", "b", "c");
                            TestApp<NoState> app = stage.start(stage.app(scope -> scope.include(echo(
                                            stage,
                                            KafkaPublish.to(stage.name("replies"))
                                                    .awaitReport()))
                                    .name("in")));
                            stage.eventually(
                                    "the first has failed",
                                    () -> Stage.counts(app).failedReplies() >= 1);
                            stage.note(
                                    "only the first was handed over",
                                    app.subscription("in").values().stream()
                                            .distinct()
                                            .toList());
                            stage.acceptWrites("replies");
                            stage.settle();
                            stage.note("published", stage.publishedValues("replies"));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        only the first was handed over: [a]
                        published: [a, b, c]
                        committed: 0@3
                        """);
    }

    private static Scenario lostReply() {
        return Scenario.of("under Auto a reply that fails is reported and lost", "2.2", "6.3")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            // Takes no record without a key, nor another that comes with it in one batch.
                            stage.topic("replies", 1, Map.of("cleanup.policy", "compact"));
                            stage.write("orders", 0, "a", "b");
                            TestApp<NoState> app = stage.start(Subscriber.on(stage.auto("orders"), String.class)
                                    .<String, Object>handleReply(
                                            String.class,
                                            (value, context) -> value.equals("a")
                                                    ? Reply.of(value)
                                                    : Reply.message(
                                                            Message.of(value).key("key")))
                                    .reply(KafkaPublish.to(stage.name("replies"))
                                            .awaitReport()));
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            stage.note("failed replies", Stage.counts(app).failedReplies());
                            stage.note("status", app.health().status());
                            stage.note("published", stage.publishedValues("replies"));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        handled: a#1 threw PublishException, b#1 ack
                        failed replies: 1
                        status: RUNNING
                        published: [b]
                        committed: 0@2
                        """);
    }

    private static Scenario tooLarge(ExceptionPolicy policy, String trace) {
        return Scenario.of(
                        "a reply that is too large cannot heal and goes to the exception policy, here " + policy, "6.3")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.topic("replies", 1, Map.of("max.message.bytes", "1000"));
                            stage.write("orders", 0, "a", "large", "b");
                            TestApp<NoState> app = stage.start(
                                    Subscriber.on(stage.tracked("orders"), String.class)
                                            .<String, Object>handleReply(
                                                    String.class,
                                                    (value, context) -> Reply.of(
                                                            value.equals("large") ? value.repeat(1_000) : value))
                                            .reply(KafkaPublish.to(stage.name("replies"))
                                                    .awaitReport()),
                                    mount -> mount.onException(policy));
                            if (ExceptionPolicy.FAIL_FAST.equals(policy)) {
                                stage.eventually(
                                        "it has failed", () -> app.health().status() == Health.Status.FAILED);
                                app.stop();
                            } else {
                                stage.settle();
                                stage.note("handled", Seen.calls(app));
                            }
                            stage.note("failed replies", Stage.counts(app).failedReplies());
                            stage.note("status", app.health().status());
                            if (ExceptionPolicy.DROP.equals(policy)) {
                                stage.note("published", stage.publishedValues("replies"));
                            }
                            stage.note("committed", stage.committed("orders"));
                        },
                        trace);
    }
}
