package io.settlestream.conformance.rules;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.settlestream.App;
import io.settlestream.HandlerOutcome;
import io.settlestream.NoState;
import io.settlestream.Subscriber;
import io.settlestream.codec.Codec;
import io.settlestream.kafka.RecordCopy;
import io.settlestream.testing.TestApp;
import io.settlestream.testing.TestRecord;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;

/** Rules 7.1 to 7.4 of copies on a retry topic, and rule 12.2. */
final class RetryCopyRules {

    private static final String NO_ACCIDENTS = "an accident that a broker does not have on request";

    private RetryCopyRules() {}

    static List<Scenario> scenarios() {
        return List.of(twentyRounds(), givenUpInTheEnd(), missing(), crash(), holdsWhatIsBehind(), hostile());
    }

    private static Scenario twentyRounds() {
        return Scenario.of(
                        "after twenty rounds a record is what it was, from its dead letter, too, and retention has not"
                                + " counted from its own timestamp",
                        "7.3",
                        "7.1")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.topic("later", 1);
                            stage.topic("dead", 1);
                            Headers headers = new RecordHeaders();
                            headers.add("twice", new byte[] {1});
                            headers.add("null", null);
                            headers.add("twice", new byte[] {2});
                            long longAgo = 86_400_000;
                            write(stage, "orders", longAgo, new byte[] {0, -1}, null, headers);
                            TestApp<NoState> app = stage.start(
                                    Subscriber.on(stage.tracked("orders"), new Shown())
                                            .handle((value, context) ->
                                                    HandlerOutcome.retryAfter(Duration.ofMillis(1))),
                                    mount -> mount.retryTopic(stage.name("later"))
                                            .deadLetter(stage.name("dead"))
                                            .maxAttempts(21));
                            stage.eventually(
                                    "it is given up", () -> Stage.counts(app).deadLettered() == 1);
                            stage.settle();
                            stage.note(
                                    "values",
                                    app.subscription("in").values().stream()
                                            .distinct()
                                            .toList());
                            List<Integer> attempts = app.subscription("in").attempts();
                            stage.note("attempts", attempts.size() + " up to " + attempts.get(attempts.size() - 1));
                            stage.note("copies", stage.published("later").size());
                            stage.note(
                                    "of today",
                                    stage.published("later").stream()
                                            .allMatch(copy -> copy.timestamp()
                                                    .isAfter(stage.now().minus(Duration.ofMinutes(10)))));
                            TestRecord letter = stage.published("dead").get(0);
                            RecordCopy copy =
                                    RecordCopy.of(Copies.headers(letter)).orElseThrow();
                            stage.note("key", Arrays.toString(letter.key()));
                            stage.note("value", Arrays.toString(letter.value()));
                            stage.note("headers", Copies.own(letter));
                            stage.note(
                                    "added",
                                    letter.headers().size() - Copies.own(letter).size());
                            stage.note(
                                    "origin",
                                    RetryTopicRules.plain(stage, copy.topic()) + "-" + copy.partition() + "@"
                                            + copy.offset());
                            stage.note("timestamp", copy.timestamp().toEpochMilli());
                            stage.note("attempts", copy.attempts());
                            stage.note("committed", stage.committed("orders") + " " + stage.committed("later"));
                        },
                        """
                        values: [null]
                        attempts: 21 up to 21
                        copies: 20
                        of today: true
                        key: [0, -1]
                        value: null
                        headers: [twice=[1], null=null, twice=[2]]
                        added: 8
                        origin: orders-0@0
                        timestamp: 86400000
                        attempts: 21
                        committed: 0@1 0@20
                        """);
    }

    private static Scenario givenUpInTheEnd() {
        return Scenario.of("delays on the retry topic and retries in place count towards one cap", "7.1", "7.4", "3.5")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.topic("later", 1);
                            stage.topic("dead", 1);
                            stage.write("orders", 0, "bad", "a");
                            TestApp<NoState> app = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> {
                                        if (value.equals("a")) {
                                            return HandlerOutcome.ack();
                                        }
                                        return context.attempt() % 2 == 1
                                                ? HandlerOutcome.retry()
                                                : HandlerOutcome.retryAfter(Duration.ofMillis(50));
                                    }),
                                    mount -> mount.retryTopic(stage.name("later"))
                                            .deadLetter(stage.name("dead"))
                                            .maxAttempts(5));
                            stage.eventually(
                                    "it is given up", () -> Stage.counts(app).deadLettered() == 1);
                            stage.settle();
                            stage.note("handled", Seen.sorted(app));
                            stage.note("dead", Copies.copies(stage, "dead"));
                            stage.note("copies", stage.published("later").size());
                            stage.note("committed", stage.committed("orders") + " " + stage.committed("later"));
                        },
                        """
                        handled: a#1 ack, bad#1 retry, bad#2 retry after PT0.05S, bad#3 retry, bad#4 retry after PT0.05S, bad#5 retry
                        dead: bad of orders-0@0 after 5: the handler asked for a retry
                        copies: 2
                        committed: 0@2 0@2
                        """);
    }

    private static Scenario missing() {
        return Scenario.of(
                        "a retry topic that is missing holds its records open, says so, and has them when it appears",
                        "7.2",
                        "3.5")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.missingTopic("later");
                            stage.write("orders", 0, "a", "b");
                            App<NoState> service = stage.app(
                                    stage.broker()
                                            .producerConfig("max.block.ms", 300)
                                            .producerConfig("linger.ms", 0)
                                            .producerConfig("request.timeout.ms", 300)
                                            .producerConfig("delivery.timeout.ms", 300),
                                    scope -> RetryTopicRules.retryTopic(stage)
                                            .accept(scope.include(stage.handled(
                                                            stage.tracked("orders"),
                                                            (value, context) -> value.equals("a")
                                                                            && context.attempt() == 1
                                                                    ? HandlerOutcome.retryAfter(Duration.ofMillis(10))
                                                                    : HandlerOutcome.ack()))
                                                    .name("in")));
                            TestApp<NoState> app = stage.start(service);
                            stage.eventually(
                                    "writes fail",
                                    () -> Stage.counts(app).failedCopies() >= 2
                                            && Stage.counts(app).acked() == 1);
                            stage.note("open", Stage.open(app));
                            stage.note("committed", stage.committed("orders"));
                            stage.note(
                                    "says so",
                                    Stage.health(app).problems().stream()
                                            .anyMatch(problem -> problem.contains("has not accepted 1 retry copy")));
                            stage.appears("later");
                            stage.eventuallyCommitted("orders", "0@2");
                            stage.eventuallyCommitted("later", "0@1");
                            stage.note("handled", Seen.calls(app));
                            stage.note("healthy", app.health().healthy());
                        },
                        """
                        open: 1
                        committed: 0@0
                        says so: true
                        handled: a#1 retry after PT0.01S, b#1 ack, a#2 ack
                        healthy: true
                        """);
    }

    private static Scenario crash() {
        return Scenario.of("a crash inside a delay on the retry topic, or around its copy, loses nothing", "3.5", "7.2")
                .inProcessOnly(NO_ACCIDENTS)
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.topic("later", 1);
                            stage.inProcess().faults().produce("later").nth(2).delay(Duration.ofSeconds(8));
                            TestApp<NoState> app = stage.start(
                                    stage.handled(
                                            stage.tracked("orders"),
                                            (value, context) -> context.origin().isEmpty()
                                                    ? HandlerOutcome.retryAfter(Duration.ofMinutes(10))
                                                    : HandlerOutcome.ack()),
                                    RetryTopicRules.retryTopic(stage));
                            stage.write("orders", 0, "a");
                            stage.pass(Duration.ofSeconds(2));
                            stage.write("orders", 0, "b");
                            stage.pass(Duration.ofSeconds(2));
                            stage.note("committed", stage.committed("orders"));
                            stage.note("waiting", stage.publishedValues("later"));
                            app.crash();
                            app.restart();
                            stage.pass(Duration.ofMinutes(12));
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            stage.note("committed", stage.committed("orders") + " " + stage.committed("later"));
                        },
                        """
                        committed: 0@1
                        waiting: [a, b]
                        handled: a#1 retry after PT10M, b#1 retry after PT10M, b#2 retry after PT10M, a#2 ack, b#2 ack, b#3 ack
                        committed: 0@2 0@3
                        """);
    }

    private static Scenario holdsWhatIsBehind() {
        return Scenario.of(
                        "a copy that waits holds what is committed of the retry topic: after a restart those behind it run again",
                        "3.5",
                        "3.1")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.topic("later", 1);
                            stage.write("orders", 0, "long", "short");
                            TestApp<NoState> app = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> {
                                        if (context.origin().isPresent()) {
                                            return HandlerOutcome.ack();
                                        }
                                        return HandlerOutcome.retryAfter(
                                                value.equals("long") ? Duration.ofHours(1) : Duration.ofMillis(100));
                                    }),
                                    RetryTopicRules.retryTopic(stage));
                            stage.eventually(
                                    "the short one has run",
                                    () -> Stage.counts(app).acked() == 1);
                            app.stop();
                            stage.note("committed", stage.committed("orders") + " " + stage.committed("later"));
                            app.restart();
                            stage.eventually(
                                    "it has run again", () -> Stage.counts(app).acked() == 1);
                            stage.note("handled", Seen.calls(app));
                            stage.note(
                                    "waiting",
                                    Stage.health(app).partitions().stream()
                                            .mapToLong(partition -> partition.delayedRecords())
                                            .sum());
                        },
                        """
                        committed: 0@2 0@0
                        handled: long#1 retry after PT1H, short#1 retry after PT0.1S, short#2 ack, short#2 ack
                        waiting: 1
                        """);
    }

    private static Scenario hostile() {
        return Scenario.of(
                        "what somebody else writes to the retry topic, with whatever headers, fails at most itself",
                        "12.2",
                        "3.5")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.topic("later", 1);
                            stage.topic("dead", 1);
                            stage.write("later", null, "bare".getBytes(UTF_8), new RecordHeaders());
                            stage.write(
                                    "later",
                                    null,
                                    "words".getBytes(UTF_8),
                                    RetryTopicRules.copyHeaders(stage, "many", "soon"));
                            stage.write(
                                    "later",
                                    null,
                                    "claims".getBytes(UTF_8),
                                    RetryTopicRules.copyHeaders(stage, "2147483647", "-9223372036854775808"));
                            Headers huge = RetryTopicRules.copyHeaders(stage, "1", "99999999999999999999");
                            huge.add(RecordCopy.ORIGIN_PARTITION, new byte[20_000]);
                            huge.add(RecordCopy.GROUP, new byte[] {-1, -2});
                            stage.write("later", new byte[] {-1}, "huge".getBytes(UTF_8), huge);
                            Headers others = RetryTopicRules.copyHeaders(stage, "1", null);
                            others.add(RecordCopy.GROUP, "of somebody else".getBytes(UTF_8));
                            stage.write("later", null, "foreign".getBytes(UTF_8), others);
                            stage.write(
                                    "later",
                                    null,
                                    "good".getBytes(UTF_8),
                                    RetryTopicRules.copyHeaders(stage, "1", "1"));
                            TestApp<NoState> app = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> HandlerOutcome.ack()),
                                    mount -> mount.retryTopic(stage.name("later"))
                                            .deadLetter(stage.name("dead"))
                                            .maxAttempts(5));
                            stage.eventuallyCommitted("later", "0@6");
                            stage.settle();
                            stage.note("handled", Seen.sorted(app));
                            stage.note("dead", stage.publishedValues("dead"));
                            stage.note("healthy", app.health().healthy());
                        },
                        """
                        handled: bare#1 ack, good#2 ack, huge#1 ack, words#1 ack
                        dead: [claims]
                        healthy: true
                        """);
    }

    private static void write(
            Stage stage,
            String topic,
            @Nullable Long timestamp,
            byte @Nullable [] key,
            byte @Nullable [] value,
            Headers headers)
            throws Exception {
        try (Producer<byte[], byte[]> producer = stage.clients().producer(Map.of())) {
            producer.send(new ProducerRecord<>(stage.name(topic), 0, timestamp, key, value, headers))
                    .get();
        }
    }

    /** Bytes as text that shows them; none are a value, too. */
    private static final class Shown implements Codec<String> {

        @Override
        public String decode(byte @Nullable [] data) {
            return Arrays.toString(data);
        }

        @Override
        public byte[] encode(String value) {
            return value.getBytes(UTF_8);
        }
    }
}
