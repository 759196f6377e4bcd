package io.settlestream.conformance.rules;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.settlestream.ExceptionPolicy;
import io.settlestream.HandlerOutcome;
import io.settlestream.Health;
import io.settlestream.NoState;
import io.settlestream.StartupException;
import io.settlestream.Subscriber;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.kafka.RecordCopy;
import io.settlestream.testing.TestApp;
import io.settlestream.testing.TestRecord;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;

/** Rules 7.3 and 7.5: records that go to another topic instead of being handled. */
final class DeadLetterRules {

    private DeadLetterRules() {}

    static List<Scenario> scenarios() {
        return List.of(
                byTheHandler("Tracked", true),
                byTheHandler("Auto", false),
                undecodable("Tracked", true),
                undecodable("Auto", false),
                faithful(),
                byPolicy(),
                fewerPartitions(),
                nowhereToGo(),
                refused());
    }

    /** The topic that is read, under one mode or the other. */
    static KafkaTopic source(Stage stage, boolean tracked) {
        return tracked ? stage.tracked("orders") : stage.auto("orders");
    }

    private static Scenario byTheHandler(String mode, boolean tracked) {
        return Scenario.of(
                        mode
                                + ": a record that the handler gives up goes to the dead letters at once, with what it said",
                        "7.1",
                        "7.3",
                        "2.3")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.topic("dead", 1);
                            stage.write("orders", 0, "a", "bad", "b");
                            TestApp<NoState> app = stage.start(
                                    stage.handled(
                                            source(stage, tracked),
                                            (value, context) -> value.equals("bad")
                                                    ? HandlerOutcome.deadLetter("no such customer")
                                                    : HandlerOutcome.ack()),
                                    mount -> mount.deadLetter(stage.name("dead")));
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            stage.note("dead", Copies.copies(stage, "dead"));
                            TestRecord letter = stage.published("dead").get(0);
                            RecordCopy copy =
                                    RecordCopy.of(Copies.headers(letter)).orElseThrow();
                            stage.note("group", copy.group().equals(Optional.of(stage.group())));
                            stage.note("its own timestamp", !letter.timestamp().isBefore(copy.timestamp()));
                            stage.note("copied at", copy.copiedAt().equals(Optional.of(letter.timestamp())));
                            stage.note("due", copy.due().isPresent());
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        handled: a#1 ack, bad#1 dead letter, b#1 ack
                        dead: bad of orders-0@1 after 1: no such customer
                        group: true
                        its own timestamp: true
                        copied at: true
                        due: false
                        committed: 0@3
                        """);
    }

    private static Scenario undecodable(String mode, boolean tracked) {
        return Scenario.of(
                        mode + ": with a dead-letter topic a record that cannot be decoded goes there, byte for byte",
                        "7.5",
                        "7.3",
                        "2.3",
                        "2.1")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.topic("dead", 1);
                            stage.write("orders", 0, "1");
                            byte[] bytes = {-1, 0, 'x', -128};
                            stage.write("orders", new byte[] {0, -2}, bytes, new RecordHeaders());
                            stage.write("orders", 0, "3");
                            TestApp<NoState> app = stage.start(
                                    Subscriber.on(source(stage, tracked), new Numbers())
                                            .handle((value, context) -> HandlerOutcome.ack()),
                                    mount -> mount.deadLetter(stage.name("dead")));
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            TestRecord letter = stage.published("dead").get(0);
                            stage.note("key", Arrays.toString(letter.key()));
                            stage.note("value", Arrays.toString(letter.value()));
                            stage.note("of", letter.header(RecordCopy.FAILURE).orElseThrow());
                            stage.note("undecodable", Stage.counts(app).undecodable());
                            stage.note("dead letters", Stage.counts(app).deadLettered());
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        handled: 1#1 ack, 3#1 ack
                        key: [0, -2]
                        value: [-1, 0, 120, -128]
                        of: io.settlestream.DecodeException
                        undecodable: 1
                        dead letters: 1
                        committed: 0@3
                        """);
    }

    private static Scenario faithful() {
        return Scenario.of(
                        "a copy has the key, the value and the headers of its record, and none of an earlier copy's",
                        "7.3")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.topic("dead", 1);
                            Headers headers = new RecordHeaders();
                            headers.add("twice", new byte[] {1});
                            headers.add(RecordCopy.ORIGIN_TOPIC, "elsewhere".getBytes(UTF_8));
                            headers.add(RecordCopy.ORIGIN_OFFSET, "99".getBytes(UTF_8));
                            headers.add("null", null);
                            headers.add(RecordCopy.DUE, "1".getBytes(UTF_8));
                            headers.add("twice", new byte[] {2});
                            stage.write("orders", new byte[] {1, -2}, null, headers);
                            stage.write("orders", null, new byte[0], new RecordHeaders());
                            stage.start(
                                    Subscriber.on(stage.tracked("orders"), new Numbers())
                                            .handle((value, context) -> HandlerOutcome.ack()),
                                    mount -> mount.deadLetter(stage.name("dead")));
                            stage.settle();
                            for (TestRecord letter : stage.published("dead")) {
                                stage.note("key", Arrays.toString(letter.key()));
                                stage.note("value", Arrays.toString(letter.value()));
                                stage.note("headers", Copies.own(letter));
                                stage.note(
                                        "added once each",
                                        letter.headers().stream()
                                                        .map(header -> header.key())
                                                        .filter(RecordCopy::isAdded)
                                                        .distinct()
                                                        .count()
                                                == letter.headers().size()
                                                        - Copies.own(letter).size());
                                RecordCopy copy =
                                        RecordCopy.of(Copies.headers(letter)).orElseThrow();
                                stage.note("origin", copy.partition() + "@" + copy.offset());
                                stage.note("due", copy.due().isPresent());
                            }
                        },
                        """
                        key: [1, -2]
                        value: null
                        headers: [twice=[1], null=null, twice=[2]]
                        added once each: true
                        origin: 0@0
                        due: false
                        key: null
                        value: []
                        headers: []
                        added once each: true
                        origin: 0@1
                        due: false
                        """);
    }

    private static Scenario byPolicy() {
        return Scenario.of("a policy that looks at the cause sends one record there and another away", "7.5")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.topic("dead", 1);
                            stage.write("orders", 0, "dead", "again", "drop", "fine");
                            TestApp<NoState> app = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> {
                                        switch (value) {
                                            case "dead" -> throw new IllegalArgumentException("bad");
                                            case "drop" -> throw new UnsupportedOperationException("none of ours");
                                            case "again" -> {
                                                if (context.attempt() == 1) {
                                                    throw new IllegalStateException("not now");
                                                }
                                            }
                                            default -> {}
                                        }
                                        return HandlerOutcome.ack();
                                    }),
                                    mount -> mount.deadLetter(stage.name("dead"))
                                            .onException(ExceptionPolicy.byCause(cause -> switch (cause) {
                                                case IllegalArgumentException bad -> ExceptionPolicy.DEAD_LETTER;
                                                case IllegalStateException soon -> ExceptionPolicy.RETRY;
                                                default -> ExceptionPolicy.DROP;
                                            })));
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            stage.note("dead", Copies.copies(stage, "dead"));
                            stage.note("dropped", Stage.counts(app).dropped());
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        handled: dead#1 threw IllegalArgumentException, again#1 threw IllegalStateException, again#2 ack, drop#1 threw UnsupportedOperationException, fine#1 ack
                        dead: dead of orders-0@0 after 1: IllegalArgumentException bad
                        dropped: 1
                        committed: 0@4
                        """);
    }

    private static Scenario fewerPartitions() {
        return Scenario.of("a dead-letter topic with fewer partitions than the source takes the records of all", "7.2")
                .play(
                        stage -> {
                            stage.topic("orders", 4);
                            stage.topic("dead", 1);
                            for (int partition = 0; partition < 4; partition++) {
                                stage.write("orders", partition, "bad" + partition);
                            }
                            TestApp<NoState> app = stage.start(
                                    stage.handled(
                                            stage.tracked("orders"),
                                            (value, context) -> HandlerOutcome.deadLetter("bad")),
                                    mount -> mount.deadLetter(stage.name("dead")));
                            stage.settle();
                            stage.note("dead", Copies.copies(stage, "dead"));
                            stage.note("failed writes", Stage.counts(app).failedCopies());
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        dead: bad0 of orders-0@0 after 1: bad; bad1 of orders-1@0 after 1: bad; bad2 of orders-2@0 after 1: bad; bad3 of orders-3@0 after 1: bad
                        failed writes: 0
                        committed: 0@1 1@1 2@1 3@1
                        """);
    }

    private static Scenario nowhereToGo() {
        return Scenario.of("a dead letter with no topic for it is an exception that says so", "7.1", "7.5")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a", "bad", "b");
                            TestApp<NoState> app = stage.start(stage.handled(
                                    stage.tracked("orders"),
                                    (value, context) -> value.equals("bad")
                                            ? HandlerOutcome.deadLetter("bad")
                                            : HandlerOutcome.ack()));
                            stage.eventually("it has failed", () -> app.health().status() == Health.Status.FAILED);
                            Throwable cause = app.health().failure().orElseThrow();
                            while (cause.getCause() != null) {
                                cause = cause.getCause();
                            }
                            stage.note("failed of", cause.getMessage());
                            app.stop();
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        failed of: the handler answered with a dead letter, but subscription in has no dead-letter topic: name one with deadLetter(...) where the subscriber is included
                        committed: 0@1
                        """);
    }

    private static Scenario refused() {
        return Scenario.of("what brings records back is refused under Auto, a dead-letter topic is not", "2.3")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.topic("dead", 1);
                            AtomicInteger handled = new AtomicInteger();
                            Subscriber<String, Object> subscriber =
                                    stage.handled(stage.auto("orders"), (value, context) -> {
                                        handled.incrementAndGet();
                                        return HandlerOutcome.ack();
                                    });
                            try {
                                stage.start(
                                        subscriber,
                                        mount -> mount.maxAttempts(3)
                                                .retryTopic(stage.name("later"))
                                                .onException(ExceptionPolicy.retryAfter(Duration.ofSeconds(1))));
                            } catch (StartupException e) {
                                e.problems()
                                        .forEach(problem -> stage.note(
                                                "refused",
                                                problem.substring(0, problem.indexOf('('))
                                                        .replace("subscription in: ", "")));
                            }
                            TestApp<NoState> app =
                                    stage.start(subscriber, mount -> mount.deadLetter(stage.name("dead")));
                            stage.note("status", app.health().status());
                        },
                        """
                        refused: maxAttempts
                        refused: retryTopic
                        refused: onException
                        status: RUNNING
                        """);
    }
}
