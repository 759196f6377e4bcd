package io.settlestream.conformance.rules;

import io.settlestream.App;
import io.settlestream.HandlerOutcome;
import io.settlestream.NoState;
import io.settlestream.SettleStream;
import io.settlestream.Subscriber;
import io.settlestream.testing.TestApp;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.apache.kafka.common.errors.PolicyViolationException;

/** Rule 7.2: publish, then settle, when the write of a dead letter fails or is cut short. */
final class FailingCopyRules {

    private static final String NO_ACCIDENTS = "an accident that a broker does not have on request";

    private FailingCopyRules() {}

    static List<Scenario> scenarios() {
        return List.of(
                fiftyRefusals(),
                missing(),
                crash("Tracked", true),
                crash("Auto", false),
                autoWaits(),
                stopWhileItFails(),
                revokedWhileItFails());
    }

    private static Scenario fiftyRefusals() {
        return Scenario.of(
                        "a dead-letter topic that refuses fifty times and then accepts has the record once, and meanwhile"
                                + " nothing is lost, spins, or is silent",
                        "7.2")
                .inProcessOnly("it takes minutes")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.topic("dead", 1);
                            stage.inProcess()
                                    .faults()
                                    .produce("dead")
                                    .times(50)
                                    .fail(new PolicyViolationException("on request"));
                            stage.write("orders", 0, "bad", "a");
                            Instant begin = stage.now();
                            TestApp<NoState> app = stage.start(
                                    stage.handled(
                                            stage.tracked("orders"),
                                            (value, context) -> value.equals("bad")
                                                    ? HandlerOutcome.deadLetter("bad")
                                                    : HandlerOutcome.ack()),
                                    mount -> mount.deadLetter("dead"));
                            stage.eventually(
                                    "it is refused ten times",
                                    () -> Stage.counts(app).failedCopies() == 10);
                            stage.note("problem", Stage.health(app).problems().size());
                            stage.note(
                                    "says",
                                    Stage.health(app).problems().stream()
                                            .map(problem -> problem.substring(0, problem.indexOf(" for ")))
                                            .toList());
                            stage.pass(Duration.ofMinutes(4));
                            stage.settle();
                            stage.note("refused", Stage.counts(app).failedCopies());
                            stage.note(
                                    "without spinning",
                                    Duration.between(begin, stage.now()).compareTo(Duration.ofMinutes(3)) > 0);
                            stage.note("handled", Seen.calls(app));
                            stage.note("dead", Copies.copies(stage, "dead"));
                            stage.note("healthy", app.health().healthy());
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        problem: 1
                        says: [topic dead has not accepted 1 dead letter, that of orders-0@0]
                        refused: 50
                        without spinning: true
                        handled: bad#1 dead letter, a#1 ack
                        dead: bad of orders-0@0 after 1: bad
                        healthy: true
                        committed: 0@2
                        """);
    }

    private static Scenario missing() {
        return Scenario.of(
                        "a dead-letter topic that is missing holds its records open, says so, and has them when it appears",
                        "7.2")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.missingTopic("dead");
                            stage.write("orders", 0, "bad1", "bad2", "a");
                            App<NoState> service = stage.app(
                                    stage.broker()
                                            .producerConfig("max.block.ms", 300)
                                            .producerConfig("linger.ms", 0)
                                            .producerConfig("request.timeout.ms", 300)
                                            .producerConfig("delivery.timeout.ms", 300),
                                    scope -> scope.include(stage.handled(
                                                    stage.tracked("orders"),
                                                    (value, context) -> value.startsWith("bad")
                                                            ? HandlerOutcome.deadLetter("bad")
                                                            : HandlerOutcome.ack()))
                                            .name("in")
                                            .deadLetter(stage.name("dead")));
                            TestApp<NoState> app = stage.start(service);
                            stage.eventually(
                                    "writes fail", () -> Stage.counts(app).failedCopies() >= 2);
                            stage.note("acked", Stage.counts(app).acked());
                            stage.note("open", Stage.open(app));
                            stage.note("committed", stage.committed("orders"));
                            stage.note(
                                    "says so",
                                    Stage.health(app).problems().stream()
                                            .anyMatch(problem -> problem.contains(stage.name("dead"))));
                            stage.appears("dead");
                            stage.eventuallyCommitted("orders", "0@3");
                            stage.settle();
                            stage.note("dead", Copies.copies(stage, "dead"));
                            stage.note("healthy", app.health().healthy());
                        },
                        """
                        acked: 1
                        open: 2
                        committed: 0@0
                        says so: true
                        dead: bad1 of orders-0@0 after 1: bad; bad2 of orders-0@1 after 1: bad
                        healthy: true
                        """);
    }

    private static Scenario crash(String mode, boolean tracked) {
        return Scenario.of(
                        mode
                                + ": a crash between a copy and the settlement of its record leaves the copy twice, not never",
                        "7.2",
                        "2.1")
                .inProcessOnly(NO_ACCIDENTS)
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.topic("dead", 1);
                            stage.inProcess().faults().produce("dead").delay(Duration.ofSeconds(5));
                            stage.write("orders", 0, "a", "bad", "b");
                            TestApp<NoState> app = stage.start(
                                    stage.handled(
                                            DeadLetterRules.source(stage, tracked),
                                            (value, context) -> value.equals("bad")
                                                    ? HandlerOutcome.deadLetter("bad")
                                                    : HandlerOutcome.ack()),
                                    mount -> mount.deadLetter("dead"));
                            stage.pass(Duration.ofSeconds(2));
                            stage.note("dead", Copies.copies(stage, "dead"));
                            stage.note("committed", stage.committed("orders"));
                            app.crash();
                            app.restart();
                            stage.settle();
                            stage.note("dead", Copies.copies(stage, "dead"));
                            stage.note("handled", Seen.calls(app));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        dead: bad of orders-0@1 after 1: bad
                        committed: 0@1
                        dead: bad of orders-0@1 after 1: bad; bad of orders-0@1 after 1: bad
                        handled: a#1 ack, bad#1 dead letter, b#1 ack, bad#1 dead letter, b#1 ack
                        committed: 0@3
                        """);
    }

    private static Scenario autoWaits() {
        return Scenario.of(
                        "under Auto the position waits for a dead letter, and a stop leaves it for the next start",
                        "2.1",
                        "7.2",
                        "10.3")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.refusingTopic("dead");
                            stage.write("orders", 0, "1", "two", "3");
                            TestApp<NoState> app = stage.start(
                                    Subscriber.on(stage.auto("orders"), new Numbers())
                                            .handle((value, context) -> HandlerOutcome.ack()),
                                    mount -> mount.deadLetter(stage.name("dead")));
                            stage.eventually(
                                    "it is refused", () -> Stage.counts(app).failedCopies() >= 2);
                            stage.eventuallyCommitted("orders", "0@1");
                            stage.pass(Duration.ofMillis(3 * Stage.COMMIT_INTERVAL_MS));
                            stage.note("committed", stage.committed("orders"));
                            app.stop();
                            stage.note("committed", stage.committed("orders"));
                            stage.acceptWrites("dead");
                            app.restart();
                            stage.eventuallyCommitted("orders", "0@3");
                            stage.note("dead", stage.publishedValues("dead"));
                            stage.note("handled", Seen.calls(app));
                        },
                        """
                        committed: 0@1
                        committed: 0@1
                        dead: [two]
                        handled: 1#1 ack, 3#1 ack, 3#1 ack
                        """);
    }

    private static Scenario stopWhileItFails() {
        return Scenario.of(
                        "a stop does not wait for a dead letter that fails; the next start makes it again",
                        "7.2",
                        "10.3")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.refusingTopic("dead");
                            stage.write("orders", 0, "a", "bad", "b");
                            App<NoState> service = SettleStream.app("service", "1")
                                    .shutdownTimeout(Duration.ofSeconds(60))
                                    .withBroker(
                                            stage.broker(),
                                            scope -> scope.include(stage.handled(
                                                            stage.tracked("orders"),
                                                            (value, context) -> value.equals("bad")
                                                                    ? HandlerOutcome.deadLetter("bad")
                                                                    : HandlerOutcome.ack()))
                                                    .name("in")
                                                    .deadLetter(stage.name("dead")));
                            TestApp<NoState> app = stage.start(service);
                            stage.eventually(
                                    "it is refused", () -> Stage.counts(app).failedCopies() >= 2);
                            Instant begin = stage.now();
                            app.stop();
                            stage.note(
                                    "at once",
                                    Duration.between(begin, stage.now()).compareTo(Duration.ofSeconds(30)) < 0);
                            stage.note("committed", stage.committed("orders"));
                            stage.acceptWrites("dead");
                            app.restart();
                            stage.eventuallyCommitted("orders", "0@3");
                            stage.note("dead", Copies.copies(stage, "dead"));
                        },
                        """
                        at once: true
                        committed: 0@1
                        dead: bad of orders-0@1 after 1: bad
                        """);
    }

    private static Scenario revokedWhileItFails() {
        return Scenario.of(
                        "a partition that leaves while a dead letter of it fails takes the record along, to whoever is next",
                        "7.2",
                        "3.8")
                .withEveryProtocol()
                .play(
                        stage -> {
                            stage.topic("orders", 2);
                            stage.refusingTopic("dead");
                            stage.write("orders", 0, "bad0", "a");
                            stage.write("orders", 1, "bad1", "b");
                            Subscriber<String, Object> subscriber = stage.handled(
                                    stage.tracked("orders"),
                                    (value, context) -> value.startsWith("bad")
                                            ? HandlerOutcome.deadLetter("bad")
                                            : HandlerOutcome.ack());
                            TestApp<NoState> first =
                                    stage.start(subscriber, mount -> mount.deadLetter(stage.name("dead")));
                            stage.eventually(
                                    "both are refused",
                                    () -> Stage.counts(first).failedCopies() >= 3);
                            TestApp<NoState> second =
                                    stage.start(subscriber, mount -> mount.deadLetter(stage.name("dead")));
                            stage.eventually(
                                    "they share, and each is refused",
                                    () -> Stage.health(first).partitions().size() == 1
                                            && Stage.counts(second).failedCopies() >= 1);
                            stage.note("committed", stage.committed("orders"));
                            stage.acceptWrites("dead");
                            stage.eventuallyCommitted("orders", "0@2 1@2");
                            stage.settle();
                            stage.note("dead", Copies.copies(stage, "dead"));
                            stage.note("by the second", Stage.counts(second).deadLettered());
                            stage.note(
                                    "healthy",
                                    first.health().healthy() && second.health().healthy());
                        },
                        """
                        committed: 0@0 1@0
                        dead: bad0 of orders-0@0 after 1: bad; bad1 of orders-1@0 after 1: bad
                        by the second: 1
                        healthy: true
                        """);
    }
}
