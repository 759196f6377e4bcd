package io.settlestream.conformance.rules;

import io.settlestream.ExceptionPolicy;
import io.settlestream.HandlerOutcome;
import io.settlestream.Health;
import io.settlestream.NoState;
import io.settlestream.Subscriber;
import io.settlestream.testing.TestApp;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** Section 1: what a handler answers, and what counts. */
final class SettlementRules {

    private SettlementRules() {}

    static List<Scenario> scenarios() {
        return List.of(outcomes(), lateOutcome(), redeliveryWaits(), stages(), failedStage());
    }

    private static Scenario outcomes() {
        return Scenario.of("ack and drop settle a record, retry brings it back", "1.1", "1.4", "3.2")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            TestApp<NoState> app = stage.start(stage.handled(
                                    stage.tracked("orders"), (value, context) -> switch (value) {
                                        case "dropped" -> HandlerOutcome.drop();
                                        case "retried" ->
                                            context.attempt() < 3 ? HandlerOutcome.retry() : HandlerOutcome.ack();
                                        default -> HandlerOutcome.ack();
                                    }));
                            stage.write("orders", 0, "acked", "dropped", "retried");
                            stage.settle();

                            stage.note("handled", Seen.calls(app));
                            stage.note("committed", stage.committed("orders"));
                            Health.Counts counts = Stage.counts(app);
                            stage.note("acked", counts.acked());
                            stage.note("dropped", counts.dropped());
                            stage.note("retried", counts.retried());
                        },
                        """
                        handled: acked#1 ack, dropped#1 drop, retried#1 retry, retried#2 retry, retried#3 ack
                        committed: 0@3
                        acked: 2
                        dropped: 1
                        retried: 2
                        """);
    }

    private static Scenario lateOutcome() {
        return Scenario.of("the answer of a handler whose delivery was given up changes nothing", "1.2", "1.3", "3.8")
                .play(
                        stage -> {
                            stage.topic("orders", 2);
                            stage.write("orders", 0, "a");
                            stage.write("orders", 1, "b");
                            Gate gate = stage.gate();
                            AtomicInteger cancelled = new AtomicInteger();
                            TestApp<NoState> first = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> {
                                        passDeaf(gate);
                                        if (context.cancelled()) {
                                            cancelled.incrementAndGet();
                                        }
                                        return HandlerOutcome.ack();
                                    }),
                                    mount -> mount.workersByKey(2).drainTimeout(Duration.ofMillis(200)));
                            stage.eventually(
                                    "both are in hand",
                                    () -> first.subscription("in").calls().size() == 2);
                            TestApp<NoState> second = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> HandlerOutcome.ack()));
                            stage.eventually(
                                    "one has moved",
                                    () -> second.subscription("in").calls().size() == 1);
                            stage.note(
                                    "stuck", Stage.health(first).stuckHandlers().size());

                            gate.open();
                            stage.eventually(
                                    "the late answer is counted",
                                    () -> Stage.counts(first).stale() == 1);
                            stage.settle();
                            stage.note("cancelled", cancelled.get());
                            stage.note(
                                    "stuck", Stage.health(first).stuckHandlers().size());
                            stage.note("acked by the first", Stage.counts(first).acked());
                            stage.note(
                                    "acked by the second", Stage.counts(second).acked());
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        stuck: 1
                        cancelled: 1
                        stuck: 0
                        acked by the first: 1
                        acked by the second: 1
                        committed: 0@1 1@1
                        """);
    }

    private static Scenario redeliveryWaits() {
        return Scenario.of("a record that comes back waits for the handler that still has it", "1.3", "3.8")
                .inProcessOnly("a broker does not take partitions from a member that lives, to give them back")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a", "b");
                            Gate gate = stage.gate();
                            Map<String, AtomicInteger> inHand = new ConcurrentHashMap<>();
                            List<Integer> most = new CopyOnWriteArrayList<>();
                            TestApp<NoState> app = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> {
                                        AtomicInteger now = inHand.computeIfAbsent(value, none -> new AtomicInteger());
                                        most.add(now.incrementAndGet());
                                        passDeaf(gate);
                                        now.decrementAndGet();
                                        return HandlerOutcome.ack();
                                    }),
                                    mount -> mount.workers(4).drainTimeout(Duration.ofSeconds(5)));
                            stage.eventually(
                                    "both are in hand",
                                    () -> app.subscription("in").calls().size() == 2);
                            app.lose(stage.name("orders"));
                            stage.eventually(
                                    "they are stuck",
                                    () -> Stage.health(app).stuckHandlers().size() == 2);
                            stage.pass(Duration.ofSeconds(1));
                            stage.note(
                                    "calls while they run",
                                    app.subscription("in").calls().size());

                            gate.open();
                            stage.settle();
                            stage.note(
                                    "calls in the end",
                                    app.subscription("in").calls().size());
                            stage.note(
                                    "at a time",
                                    most.stream().mapToInt(each -> each).max().getAsInt());
                            stage.note("stale", Stage.counts(app).stale());
                            stage.note("acked", Stage.counts(app).acked());
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        calls while they run: 2
                        calls in the end: 4
                        at a time: 1
                        stale: 2
                        acked: 2
                        committed: 0@2
                        """);
    }

    /** A handler that does not listen. */
    private static void passDeaf(Gate gate) {
        boolean passed = false;
        while (!passed) {
            try {
                gate.pass();
                passed = true;
            } catch (InterruptedException e) {
                // It goes on waiting: that is the point.
            }
        }
    }

    private static Scenario stages() {
        return Scenario.of("a handler may answer with a stage, and stages settle in any order", "1.4", "3.1", "5.1")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a", "b", "c", "d");
                            Map<String, CompletableFuture<HandlerOutcome>> answers = new ConcurrentHashMap<>();
                            TestApp<NoState> app = stage.start(
                                    Subscriber.on(stage.tracked("orders"), String.class)
                                            .handleAsync((value, context) ->
                                                    answers.computeIfAbsent(value, none -> new CompletableFuture<>())),
                                    mount -> mount.workers(3));
                            stage.eventually("three are on their way", () -> answers.size() == 3);
                            answers.get("b").complete(HandlerOutcome.ack());
                            answers.get("c").complete(HandlerOutcome.drop());
                            stage.eventually("the fourth begins", () -> answers.size() == 4);
                            stage.eventually("two are open", () -> Stage.open(app) == 2);
                            stage.note("committed", stage.committed("orders"));

                            answers.get("a").complete(HandlerOutcome.ack());
                            stage.eventuallyCommitted("orders", "0@3");
                            answers.get("d").complete(HandlerOutcome.ack());
                            stage.settle();
                            stage.note("handled", Seen.sorted(app));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        committed: 0@0
                        handled: a#1 ack, b#1 ack, c#1 drop, d#1 ack
                        committed: 0@4
                        """);
    }

    private static Scenario failedStage() {
        return Scenario.of("a stage that fails goes to the exception policy, as one that never was", "1.4", "1.5")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "fails", "null", "later null", "fine");
                            TestApp<NoState> app = stage.start(
                                    Subscriber.on(stage.tracked("orders"), String.class)
                                            .handleAsync((value, context) -> switch (value) {
                                                case "fails" ->
                                                    CompletableFuture.failedFuture(new IllegalStateException("no"));
                                                case "null" -> null;
                                                case "later null" -> CompletableFuture.completedFuture(null);
                                                default -> CompletableFuture.completedFuture(HandlerOutcome.ack());
                                            }),
                                    mount -> mount.onException(ExceptionPolicy.DROP));
                            stage.settle();
                            stage.note("exceptions", Stage.counts(app).exceptions());
                            stage.note("dropped", Stage.counts(app).dropped());
                            stage.note("acked", Stage.counts(app).acked());
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        exceptions: 3
                        dropped: 3
                        acked: 1
                        committed: 0@4
                        """);
    }
}
