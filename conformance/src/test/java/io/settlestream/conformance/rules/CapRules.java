package io.settlestream.conformance.rules;

import io.settlestream.BatchOutcome;
import io.settlestream.ExceptionPolicy;
import io.settlestream.HandlerOutcome;
import io.settlestream.Mount;
import io.settlestream.NoState;
import io.settlestream.testing.TestApp;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/** Rules 7.1, 7.4 and 7.6: how often a record is tried, and what becomes of it then. */
final class CapRules {

    /** So that a record meets its cap soon. */
    private static final Duration QUICK = Duration.ofMillis(5);

    private CapRules() {}

    static List<Scenario> scenarios() {
        return List.of(
                twoOfOnePartition(),
                besideAHealthyStream(),
                droppedAtTheCap(),
                thrown(),
                perRecord(),
                inBatches(),
                dropIsFinal(),
                theLastMayBeAsked(),
                endsTheProcess());
    }

    private static Consumer<Mount> cap(Stage stage, int attempts) {
        return mount ->
                mount.maxAttempts(attempts).deadLetter(stage.name("dead")).retryBackoff(QUICK, QUICK);
    }

    private static Scenario twoOfOnePartition() {
        return Scenario.of(
                        "two records of one partition fail, of eight workers: each is tried as often as the cap says, and the"
                                + " position passes them when their dead letters are accepted",
                        "7.1",
                        "7.2",
                        "7.4",
                        "3.1")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.refusingTopic("dead");
                            stage.write("orders", 0, "a", "bad1", "b", "bad2", "c", "d", "e", "f", "g", "h");
                            TestApp<NoState> app = stage.start(
                                    stage.handled(
                                            stage.tracked("orders"),
                                            (value, context) -> value.startsWith("bad")
                                                    ? HandlerOutcome.retry()
                                                    : HandlerOutcome.ack()),
                                    cap(stage, 3).andThen(mount -> mount.workers(8)));
                            stage.eventually(
                                    "the others are acked, and no dead letter is accepted",
                                    () -> Stage.counts(app).acked() == 8
                                            && Stage.counts(app).failedCopies() >= 4);
                            stage.eventuallyCommitted("orders", "0@1");
                            stage.pass(Duration.ofMillis(3 * Stage.COMMIT_INTERVAL_MS));
                            stage.note("committed", stage.committed("orders"));
                            stage.note("open", Stage.open(app));
                            stage.note("healthy", app.health().healthy());
                            stage.acceptWrites("dead");
                            stage.eventuallyCommitted("orders", "0@10");
                            stage.settle();
                            stage.note("handled", Seen.sorted(app));
                            stage.note(
                                    "dead",
                                    stage.publishedValues("dead").stream()
                                            .sorted()
                                            .toList());
                            stage.note("dead letters", Stage.counts(app).deadLettered());
                            stage.note("healthy", app.health().healthy());
                        },
                        """
                        committed: 0@1
                        open: 2
                        healthy: false
                        handled: a#1 ack, b#1 ack, bad1#1 retry, bad1#2 retry, bad1#3 retry, bad2#1 retry, bad2#2 retry, bad2#3 retry, c#1 ack, d#1 ack, e#1 ack, f#1 ack, g#1 ack, h#1 ack
                        dead: [bad1, bad2]
                        dead letters: 2
                        healthy: true
                        """);
    }

    private static Scenario besideAHealthyStream() {
        return Scenario.of("a record that always fails is given up, and its lane goes on in order", "7.1", "3.6")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.topic("dead", 1);
                            stage.write("orders", 0, "a", "bad", "b", "c");
                            TestApp<NoState> app = stage.start(
                                    stage.handled(
                                            stage.tracked("orders"),
                                            (value, context) -> value.equals("bad")
                                                    ? HandlerOutcome.retry()
                                                    : HandlerOutcome.ack()),
                                    cap(stage, 4));
                            stage.settle();
                            stage.write("orders", 0, "d");
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            stage.note("dead", stage.publishedValues("dead"));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        handled: a#1 ack, bad#1 retry, bad#2 retry, bad#3 retry, bad#4 retry, b#1 ack, c#1 ack, d#1 ack
                        dead: [bad]
                        committed: 0@5
                        """);
    }

    private static Scenario droppedAtTheCap() {
        return Scenario.of("with no dead-letter topic a record at its cap is dropped, and counted", "7.1")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "bad", "a");
                            TestApp<NoState> app = stage.start(
                                    stage.handled(
                                            stage.tracked("orders"),
                                            (value, context) -> value.equals("bad")
                                                    ? HandlerOutcome.retry()
                                                    : HandlerOutcome.ack()),
                                    mount -> mount.maxAttempts(2));
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            stage.note("given up", Stage.counts(app).exhausted());
                            stage.note("dropped", Stage.counts(app).dropped());
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        handled: bad#1 retry, bad#2 retry, a#1 ack
                        given up: 1
                        dropped: 0
                        committed: 0@2
                        """);
    }

    private static Scenario thrown() {
        return Scenario.of("with a cap a handler that throws has its record back, until the cap", "7.5", "7.1", "7.3")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.topic("dead", 1);
                            stage.write("orders", 0, "bad", "a");
                            TestApp<NoState> app = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> {
                                        if (value.equals("bad")) {
                                            throw new IllegalStateException("attempt " + context.attempt());
                                        }
                                        return HandlerOutcome.ack();
                                    }),
                                    cap(stage, 3));
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            stage.note("dead", Copies.copies(stage, "dead"));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        handled: bad#1 threw IllegalStateException, bad#2 threw IllegalStateException, bad#3 threw IllegalStateException, a#1 ack
                        dead: bad of orders-0@0 after 3: IllegalStateException attempt 3
                        committed: 0@2
                        """);
    }

    private static Scenario perRecord() {
        return Scenario.of(
                        "attempts are counted per record: others, of its partition or not, bring none nearer to the cap",
                        "7.4")
                .play(
                        stage -> {
                            stage.topic("orders", 2);
                            stage.topic("dead", 1);
                            stage.write("orders", 0, "a", "b", "c", "d");
                            stage.write("orders", 1, "v", "w", "x", "y");
                            TestApp<NoState> app = stage.start(
                                    stage.handled(
                                            stage.tracked("orders"),
                                            (value, context) -> context.attempt() < 3
                                                    ? HandlerOutcome.retry()
                                                    : HandlerOutcome.ack()),
                                    cap(stage, 3).andThen(mount -> mount.workers(3)));
                            stage.settle();
                            stage.note("acked", Stage.counts(app).acked());
                            stage.note("retried", Stage.counts(app).retried());
                            stage.note("dead", stage.publishedValues("dead"));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        acked: 8
                        retried: 16
                        dead: []
                        committed: 0@4 1@4
                        """);
    }

    private static Scenario inBatches() {
        return Scenario.of(
                        "elements of a batch that ask for a retry, of several partitions, meet the cap one by one",
                        "7.4",
                        "4.3",
                        "7.1")
                .play(
                        stage -> {
                            stage.topic("orders", 2);
                            stage.topic("dead", 1);
                            stage.write("orders", 0, "a", "bad0", "b");
                            stage.write("orders", 1, "v", "bad1", "w");
                            TestApp<NoState> app = stage.start(
                                    stage.handledInBatches(
                                            stage.tracked("orders"),
                                            10,
                                            (values, context) -> BatchOutcome.each(values.stream()
                                                    .map(value -> value.startsWith("bad")
                                                            ? HandlerOutcome.retry()
                                                            : HandlerOutcome.ack())
                                                    .toList())),
                                    cap(stage, 3));
                            stage.settle();
                            stage.note("handled", Seen.sorted(app));
                            stage.note(
                                    "dead",
                                    stage.publishedValues("dead").stream()
                                            .sorted()
                                            .toList());
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        handled: a#1 ack, b#1 ack, bad0#1 retry, bad0#2 retry, bad0#3 retry, bad1#1 retry, bad1#2 retry, bad1#3 retry, v#1 ack, w#1 ack
                        dead: [bad0, bad1]
                        committed: 0@3 1@3
                        """);
    }

    private static Scenario dropIsFinal() {
        return Scenario.of("a drop is final: it never makes a dead letter, on whatever attempt", "7.6", "7.5")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.topic("dead", 1);
                            stage.write("orders", 0, "a", "b", "c");
                            TestApp<NoState> app = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> {
                                        if (value.equals("c")) {
                                            throw new IllegalStateException("dropped by the policy");
                                        }
                                        return value.equals("b") && context.attempt() == 1
                                                ? HandlerOutcome.retry()
                                                : HandlerOutcome.drop();
                                    }),
                                    cap(stage, 2).andThen(mount -> mount.onException(ExceptionPolicy.DROP)));
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            stage.note("dropped", Stage.counts(app).dropped());
                            stage.note("dead", stage.publishedValues("dead"));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        handled: a#1 drop, b#1 retry, b#2 drop, c#1 threw IllegalStateException
                        dropped: 3
                        dead: []
                        committed: 0@3
                        """);
    }

    private static Scenario theLastMayBeAsked() {
        return Scenario.of("the last attempt is handled like any other: what it acks is no dead letter", "7.1")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.topic("dead", 1);
                            stage.write("orders", 0, "late");
                            TestApp<NoState> app = stage.start(
                                    stage.handled(
                                            stage.tracked("orders"),
                                            (value, context) -> context.attempt() < 3
                                                    ? HandlerOutcome.retryAfter(QUICK)
                                                    : HandlerOutcome.ack()),
                                    cap(stage, 3));
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            stage.note("dead", stage.publishedValues("dead"));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        handled: late#1 retry after PT0.005S, late#2 retry after PT0.005S, late#3 ack
                        dead: []
                        committed: 0@1
                        """);
    }

    private static Scenario endsTheProcess() {
        return Scenario.of(
                        "a record that ends the process meets its cap after some restarts, and those behind it are handled",
                        "7.4",
                        "7.1")
                .inProcessOnly("a process that ends at once")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.topic("dead", 1);
                            stage.write("orders", 0, "a", "b", "bad", "c", "d");
                            Gate gate = stage.gate();
                            TestApp<NoState> app = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> {
                                        if (value.equals("bad")) {
                                            gate.pass();
                                        }
                                        return HandlerOutcome.ack();
                                    }),
                                    cap(stage, 3).andThen(mount -> mount.workers(2)));
                            stage.eventuallyCommitted("orders", "0@2");
                            for (int life = 1; life < 10 && Stage.counts(app).deadLettered() == 0; life++) {
                                int attempts = life;
                                stage.eventually(
                                        "it is in hand again, or given up",
                                        () -> attemptsAt("bad", app).size() == attempts
                                                || Stage.counts(app).deadLettered() == 1);
                                if (Stage.counts(app).deadLettered() == 0) {
                                    app.crash();
                                    app.restart();
                                }
                            }
                            stage.settle();
                            stage.note("dead", Copies.copies(stage, "dead"));
                            stage.note("attempts at it", attemptsAt("bad", app));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        dead: bad of orders-0@2 after 3: its last attempt ended the process or the service that made it
                        attempts at it: [1, 1, 2, 3]
                        committed: 0@5
                        """);
    }

    private static List<Integer> attemptsAt(String value, TestApp<?> app) {
        return app.subscription("in").calls().stream()
                .flatMap(call -> call.elements().stream())
                .filter(element -> element.value().equals(value))
                .map(element -> element.attempt())
                .toList();
    }
}
