package io.settlestream.conformance.rules;

import io.settlestream.ControlException;
import io.settlestream.HandlerOutcome;
import io.settlestream.NoState;
import io.settlestream.Subscriber;
import io.settlestream.kafka.KafkaPosition;
import io.settlestream.testing.TestApp;
import io.settlestream.testing.TestSubscription;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/** Rule 9.4: positions that users and handlers move. */
final class SeekRules {

    private SeekRules() {}

    static List<Scenario> scenarios() {
        return List.of(
                everyKind(),
                outOfTheLog(),
                backwards(),
                ownPosition(),
                awayFromABlockedBatch(),
                blockedHandler(),
                laterWins(),
                thisMember(),
                auto(),
                retryTopic(),
                refused());
    }

    private static Scenario everyKind() {
        return Scenario.of("a running subscription goes on at each kind of position, ahead and back", "9.4")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a", "b");
                            stage.pass(Duration.ofMillis(20));
                            stage.write("orders", 0, "c", "d");
                            TestApp<NoState> app = stage.start(acking(stage));
                            stage.settle();
                            Instant c = stage.published("orders").get(2).timestamp();
                            goTo(stage, app, "earliest", KafkaPosition.earliest());
                            goTo(stage, app, "an offset", KafkaPosition.offset(3));
                            goTo(stage, app, "a moment", KafkaPosition.timestamp(c));
                            goTo(stage, app, "one just before", KafkaPosition.timestamp(c.minusMillis(1)));
                            goTo(stage, app, "one to come", KafkaPosition.timestamp(c.plusSeconds(3600)));
                            goTo(stage, app, "latest", KafkaPosition.latest());
                            stage.write("orders", 0, "e");
                            stage.settle();
                            stage.note("what came then", Seen.calls(app));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        earliest: a#1 ack, b#1 ack, c#1 ack, d#1 ack
                        an offset: d#1 ack
                        a moment: c#1 ack, d#1 ack
                        one just before: c#1 ack, d#1 ack
                        one to come:\s
                        latest:\s
                        what came then: e#1 ack
                        committed: 0@5
                        """);
    }

    private static void goTo(Stage stage, TestApp<NoState> app, String what, KafkaPosition position) {
        TestSubscription in = app.subscription("in").forget().seek(position);
        stage.settle();
        stage.note(what, Seen.calls(in));
        in.forget();
    }

    private static Scenario outOfTheLog() {
        return Scenario.of("an offset that is not in the log counts as the nearest that is", "9.4", "3.10", "3.1")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a", "b", "c", "d");
                            TestApp<NoState> app = stage.start(acking(stage));
                            stage.settle();
                            stage.trim("orders", 0, 2);
                            goTo(stage, app, "below", KafkaPosition.offset(0));
                            goTo(stage, app, "above", KafkaPosition.offset(100));
                            stage.note("committed", stage.committed("orders"));
                            stage.note("not in the log", Stage.counts(app).trimmed());
                        },
                        """
                        below: c#1 ack, d#1 ack
                        above:\s
                        committed: 0@4
                        not in the log: 2
                        """);
    }

    private static Scenario backwards() {
        return Scenario.of("a seek commits nothing itself, and the next commit goes back with it", "9.4", "3.3")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a", "b", "c");
                            Gate gate = stage.gate();
                            AtomicBoolean again = new AtomicBoolean();
                            TestApp<NoState> app =
                                    stage.start(stage.handled(stage.tracked("orders"), (value, context) -> {
                                        if (again.get()) {
                                            gate.pass();
                                        }
                                        return HandlerOutcome.ack();
                                    }));
                            stage.settle();
                            stage.note("committed", stage.committed("orders"));
                            again.set(true);
                            app.subscription("in").seek(KafkaPosition.offset(1));
                            stage.eventuallyCommitted("orders", "0@1");
                            stage.note("committed while b is open again", stage.committed("orders"));
                            gate.open();
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        committed: 0@3
                        committed while b is open again: 0@1
                        handled: a#1 ack, b#1 ack, c#1 ack, b#1 ack, c#1 ack
                        committed: 0@3
                        """);
    }

    private static Scenario ownPosition() {
        return Scenario.of(
                        "a handler that seeks to its own record is not interrupted, and the record comes back when it ends",
                        "9.4",
                        "1.2",
                        "1.3")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a", "b", "c");
                            AtomicInteger times = new AtomicInteger();
                            TestApp<NoState> app =
                                    stage.start(stage.handled(stage.tracked("orders"), (value, context) -> {
                                        if (value.equals("b") && times.incrementAndGet() == 1) {
                                            context.seek(context.position());
                                            while (!context.cancelled()) {
                                                stage.busy(Duration.ofMillis(5));
                                            }
                                            stage.busy(Duration.ofMillis(50));
                                            stage.note(
                                                    "interrupted",
                                                    Thread.currentThread().isInterrupted());
                                        }
                                        return HandlerOutcome.ack();
                                    }));
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            stage.note("stale", Stage.counts(app).stale());
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        interrupted: false
                        handled: a#1 ack, b#1 ack, b#1 ack, c#1 ack
                        stale: 1
                        committed: 0@3
                        """);
    }

    private static Scenario awayFromABlockedBatch() {
        return Scenario.of("a batch handler seeks to the position of one of its elements", "9.4", "4.1")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a", "b", "c");
                            AtomicInteger times = new AtomicInteger();
                            TestApp<NoState> app =
                                    stage.start(stage.handledInBatches(stage.tracked("orders"), 10, (values, batch) -> {
                                        if (times.incrementAndGet() == 1) {
                                            batch.element(0)
                                                    .seek(batch.element(values.size() - 1)
                                                            .position());
                                            while (!batch.cancelled()) {
                                                stage.busy(Duration.ofMillis(5));
                                            }
                                        }
                                        return HandlerOutcome.ack();
                                    }));
                            stage.settle();
                            stage.note("last", values(app).get(values(app).size() - 1));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        last: c
                        committed: 0@3
                        """);
    }

    private static List<Object> values(TestApp<NoState> app) {
        return app.subscription("in").values();
    }

    private static Scenario blockedHandler() {
        return Scenario.of(
                        "a handler that blocks is interrupted by a seek, and what was queued is forgotten",
                        "9.4",
                        "1.3")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a", "blocks", "queued", "d");
                            AtomicReference<String> seen = new AtomicReference<>("");
                            Gate gate = stage.gate();
                            TestApp<NoState> app =
                                    stage.start(stage.handled(stage.tracked("orders"), (value, context) -> {
                                        if (value.equals("blocks")) {
                                            seen.set("begun");
                                            try {
                                                gate.pass();
                                            } catch (InterruptedException e) {
                                                seen.set("cancelled " + context.cancelled());
                                            }
                                        }
                                        return HandlerOutcome.ack();
                                    }));
                            stage.eventually("it blocks", () -> seen.get().equals("begun"));
                            app.subscription("in").seek(stage.name("orders"), 0, KafkaPosition.offset(3));
                            stage.settle();
                            stage.note("blocked", seen.get());
                            stage.note("handled", Seen.calls(app));
                            stage.note("stale", Stage.counts(app).stale());
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        blocked: cancelled true
                        handled: a#1 ack, blocks#1 ack, d#1 ack
                        stale: 1
                        committed: 0@4
                        """);
    }

    private static Scenario laterWins() {
        return Scenario.of("of two seeks the later wins", "9.4")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a", "b", "c");
                            AtomicInteger times = new AtomicInteger();
                            TestApp<NoState> app =
                                    stage.start(stage.handled(stage.tracked("orders"), (value, context) -> {
                                        if (value.equals("c") && times.incrementAndGet() == 1) {
                                            context.seek(KafkaPosition.earliest());
                                            context.seek(KafkaPosition.offset(1));
                                            while (!context.cancelled()) {
                                                stage.busy(Duration.ofMillis(5));
                                            }
                                        }
                                        return HandlerOutcome.ack();
                                    }));
                            stage.settle();
                            List<Object> values = values(app);
                            stage.note("last", values.subList(values.size() - 2, values.size()));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        last: [b, c]
                        committed: 0@3
                        """);
    }

    private static Scenario thisMember() {
        return Scenario.of("a seek moves the partitions of this member, and refuses those of others", "9.4")
                .withEveryProtocol()
                .play(
                        stage -> {
                            stage.topic("orders", 2);
                            stage.write("orders", 0, "a0", "b0");
                            stage.write("orders", 1, "a1", "b1");
                            TestApp<NoState> first = stage.start(acking(stage));
                            stage.eventuallyCommitted("orders", "0@2 1@2");
                            TestApp<NoState> second = stage.start(acking(stage));
                            stage.eventually(
                                    "they share",
                                    () -> Stage.health(first).partitions().size() == 1
                                            && Stage.health(second).partitions().size() == 1);
                            first.subscription("in").forget();
                            TestSubscription in = second.subscription("in").forget();
                            in.seek(KafkaPosition.offset(1));
                            stage.settle();
                            int own = Stage.health(second).partitions().get(0).partition();
                            stage.note("handled by the first", Seen.calls(first));
                            stage.note(
                                    "handled by the second", Seen.calls(second).replace("b" + own, "b of its own"));
                            stage.note(
                                    "of the other's",
                                    reason(() -> second.subscription("in")
                                            .seek(stage.name("orders"), 1 - own, KafkaPosition.earliest())));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        handled by the first:\s
                        handled by the second: b of its own#1 ack
                        of the other's: NOT_ASSIGNED
                        committed: 0@2 1@2
                        """);
    }

    private static Scenario auto() {
        return Scenario.of("under Auto, too, a seek moves the position, and the commit with it", "9.4", "2.1")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a", "b", "c");
                            TestApp<NoState> app = stage.start(
                                    stage.handled(stage.auto("orders"), (value, context) -> HandlerOutcome.ack()));
                            stage.settle();
                            app.subscription("in").pause().seek(KafkaPosition.offset(1));
                            stage.eventuallyCommitted("orders", "0@1");
                            stage.note("paused there", stage.committed("orders"));
                            app.subscription("in").resume();
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        paused there: 0@1
                        handled: a#1 ack, b#1 ack, c#1 ack, b#1 ack, c#1 ack
                        committed: 0@3
                        """);
    }

    private static Scenario retryTopic() {
        return Scenario.of(
                        "a seek moves what the subscription reads, and not what waits in its retry topic", "9.4", "3.5")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.topic("later", 1);
                            stage.write("orders", 0, "a", "busy");
                            TestApp<NoState> app = stage.start(
                                    stage.handled(
                                            stage.tracked("orders"),
                                            (value, context) -> value.equals("busy") && context.attempt() == 1
                                                    ? HandlerOutcome.retryAfter(Duration.ofMillis(50))
                                                    : HandlerOutcome.ack()),
                                    mount -> mount.retryTopic(stage.name("later")));
                            stage.eventuallyCommitted("later", "0@1");
                            stage.settle();
                            TestSubscription in = app.subscription("in");
                            stage.note("handled", Seen.calls(in));
                            in.forget().seek(KafkaPosition.earliest());
                            stage.eventuallyCommitted("later", "0@2");
                            stage.settle();
                            stage.note("handled", Seen.calls(in));
                            stage.note(
                                    "of the retry topic",
                                    reason(() -> in.seek(stage.name("later"), 0, KafkaPosition.earliest())));
                        },
                        """
                        handled: a#1 ack, busy#1 retry after PT0.05S, busy#2 ack
                        handled: a#1 ack, busy#1 retry after PT0.05S, busy#2 ack
                        of the retry topic: NOT_ASSIGNED
                        """);
    }

    private static Scenario refused() {
        return Scenario.of("what cannot be sought or paused is refused by name", "9.4", "9.5")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            TestApp<NoState> app = stage.start(acking(stage));
                            TestSubscription in = app.subscription("in");
                            String orders = stage.name("orders");
                            stage.note("no such partition", reason(() -> in.seek(orders, 7, KafkaPosition.latest())));
                            stage.note("to pause", reason(() -> in.pause(orders, 7)));
                            stage.note("to resume", reason(() -> in.resume(orders, 7)));
                            stage.note("another topic", reason(() -> in.seek("other", 0, KafkaPosition.latest())));
                            app.stop();
                            stage.note("after the stop", reason(() -> in.seek(KafkaPosition.latest())));
                            stage.note("to pause", reason(in::pause));
                        },
                        """
                        no such partition: NOT_ASSIGNED
                        to pause: NOT_ASSIGNED
                        to resume: NOT_ASSIGNED
                        another topic: NOT_ASSIGNED
                        after the stop: STOPPING
                        to pause: STOPPING
                        """);
    }

    private static Object reason(Runnable control) {
        try {
            control.run();
            return "none";
        } catch (ControlException e) {
            return e.reason();
        }
    }

    private static Subscriber<String, Object> acking(Stage stage) {
        return stage.handled(stage.tracked("orders"), (value, context) -> HandlerOutcome.ack());
    }
}
