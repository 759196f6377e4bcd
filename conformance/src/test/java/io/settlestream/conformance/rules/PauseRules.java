package io.settlestream.conformance.rules;

import static java.util.stream.Collectors.joining;

import io.settlestream.HandlerOutcome;
import io.settlestream.Health;
import io.settlestream.LaneKey;
import io.settlestream.Mount;
import io.settlestream.NoState;
import io.settlestream.Subscriber;
import io.settlestream.testing.TestApp;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** Rule 9.5: subscriptions and partitions that the user pauses. */
final class PauseRules {

    private static final Duration LONG = Duration.ofMillis(500);

    private PauseRules() {}

    static List<Scenario> scenarios() {
        return List.of(
                whatIsPublished(),
                whatIsQueued("on one lane", mount -> {}),
                whatIsQueued("with keyed workers", mount -> mount.workersByKey(3, LaneKey.RECORD_KEY)),
                whatIsQueued("with workers by partition", mount -> mount.workersByKey(2, LaneKey.PARTITION)),
                batches(),
                retry(),
                onePartition(),
                backPressure(),
                newMember(),
                comesBack(),
                stop(),
                idle());
    }

    private static Scenario whatIsPublished() {
        return Scenario.of("a paused subscription handles nothing that is published, and all of it when resumed", "9.5")
                .play(
                        stage -> {
                            stage.topic("orders", 2);
                            TestApp<NoState> app = stage.start(acking(stage));
                            app.subscription("in").pause();
                            stage.write("orders", 0, "a", "b", "c");
                            stage.write("orders", 1, "d");
                            stage.pass(LONG);
                            stage.note("handled", Seen.calls(app));
                            stage.note("in flight", Stage.open(app));
                            stage.note("paused", paused(app));
                            app.subscription("in").resume();
                            stage.settle();
                            stage.note("handled", Seen.sorted(app));
                            stage.note("committed", stage.committed("orders"));
                            stage.note("paused", paused(app));
                        },
                        """
                        handled:\s
                        in flight: 0
                        paused: 0 true 1 true
                        handled: a#1 ack, b#1 ack, c#1 ack, d#1 ack
                        committed: 0@3 1@1
                        paused: 0 false 1 false
                        """);
    }

    private static Scenario whatIsQueued(String how, Consumer<Mount> options) {
        return Scenario.of(
                        how + ": what is queued when a pause begins waits for the resume, in order; what runs ends",
                        "9.5",
                        "3.2")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.writeKeyed("orders", "key", "running", "b", "c", "d");
                            Gate gate = stage.gate();
                            AtomicBoolean begun = new AtomicBoolean();
                            TestApp<NoState> app = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> {
                                        if (value.equals("running")) {
                                            begun.set(true);
                                            gate.pass();
                                        }
                                        return HandlerOutcome.ack();
                                    }),
                                    options);
                            stage.eventually("it runs", begun::get);
                            app.subscription("in").pause();
                            stage.writeKeyed("orders", "key", "e");
                            gate.open();
                            stage.eventuallyCommitted("orders", "0@1");
                            stage.pass(LONG);
                            stage.note("handled", Seen.calls(app));
                            app.subscription("in").resume();
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        handled: running#1 ack
                        handled: running#1 ack, b#1 ack, c#1 ack, d#1 ack, e#1 ack
                        committed: 0@5
                        """);
    }

    private static Scenario batches() {
        return Scenario.of("batches wait for the resume, and keep their order", "9.5", "4.1")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "running", "b", "c");
                            Gate gate = stage.gate();
                            AtomicBoolean begun = new AtomicBoolean();
                            TestApp<NoState> app =
                                    stage.start(stage.handledInBatches(stage.tracked("orders"), 1, (values, batch) -> {
                                        if (values.contains("running")) {
                                            begun.set(true);
                                            gate.pass();
                                        }
                                        return HandlerOutcome.ack();
                                    }));
                            stage.eventually("it runs", begun::get);
                            app.subscription("in").pause();
                            gate.open();
                            stage.eventuallyCommitted("orders", "0@1");
                            stage.pass(LONG);
                            stage.note("handled", Seen.calls(app));
                            app.subscription("in").resume();
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                        },
                        """
                        handled: running#1 ack
                        handled: running#1 ack, b#1 ack, c#1 ack
                        """);
    }

    private static Scenario retry() {
        return Scenario.of("a retry waits for the resume, too, and comes first then", "9.5", "3.4")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a", "b");
                            Gate gate = stage.gate();
                            AtomicBoolean begun = new AtomicBoolean();
                            TestApp<NoState> app =
                                    stage.start(stage.handled(stage.tracked("orders"), (value, context) -> {
                                        if (value.equals("a") && context.attempt() == 1) {
                                            begun.set(true);
                                            gate.pass();
                                            return HandlerOutcome.retry();
                                        }
                                        return HandlerOutcome.ack();
                                    }));
                            stage.eventually("it runs", begun::get);
                            app.subscription("in").pause();
                            gate.open();
                            stage.eventually("it asked", () -> Stage.counts(app).retried() == 1);
                            stage.pass(LONG);
                            stage.note("handled", Seen.calls(app));
                            stage.note("committed", stage.committed("orders"));
                            app.subscription("in").resume();
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        handled: a#1 retry
                        committed: 0@0
                        handled: a#1 retry, a#2 ack, b#1 ack
                        committed: 0@2
                        """);
    }

    private static Scenario onePartition() {
        return Scenario.of("one partition is paused by itself, and stays so when the subscription is resumed", "9.5")
                .play(
                        stage -> {
                            stage.topic("orders", 2);
                            TestApp<NoState> app = stage.start(acking(stage));
                            String orders = stage.name("orders");
                            stage.eventually(
                                    "both are assigned",
                                    () -> Stage.health(app).partitions().size() == 2);
                            app.subscription("in").pause(orders, 0).pause().resume();
                            stage.write("orders", 0, "held");
                            stage.write("orders", 1, "flows");
                            stage.eventually(
                                    "the other flows", () -> Stage.counts(app).acked() == 1);
                            stage.pass(LONG);
                            stage.note("handled", Seen.calls(app));
                            stage.note("paused", paused(app));
                            app.subscription("in").pause().resume(orders, 0);
                            stage.note("paused", paused(app));
                            app.subscription("in").resume();
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        handled: flows#1 ack
                        paused: 0 true 1 false
                        paused: 0 true 1 true
                        handled: flows#1 ack, held#1 ack
                        committed: 0@1 1@1
                        """);
    }

    private static Scenario backPressure() {
        return Scenario.of("room for more does not end a pause, and a resume does not end back-pressure", "9.5", "5.2")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            for (int i = 0; i < 60; i++) {
                                stage.write("orders", 0, "r" + i);
                            }
                            Gate gate = stage.gate();
                            AtomicInteger begun = new AtomicInteger();
                            TestApp<NoState> app = stage.start(
                                    stage.handled(
                                            stage.tracked("orders").config("max.poll.records", 5), (value, context) -> {
                                                begun.incrementAndGet();
                                                gate.pass();
                                                return HandlerOutcome.ack();
                                            }),
                                    mount -> mount.workers(20).inFlightLimit(20, 1 << 20));
                            stage.eventually(
                                    "its share is full", () -> partition(app).paused());
                            app.subscription("in").pause();
                            stage.note("for want of room", partition(app).paused());
                            long open = Stage.open(app);
                            gate.open();
                            stage.eventually(
                                    "what runs has ended",
                                    () -> Stage.counts(app).acked() == begun.get());
                            stage.pass(LONG);
                            stage.note("more was fetched", Stage.counts(app).acked() + Stage.open(app) > open);
                            app.subscription("in").resume();
                            stage.settle();
                            stage.note("acked", Stage.counts(app).acked());
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        for want of room: false
                        more was fetched: false
                        acked: 60
                        committed: 0@60
                        """);
    }

    private static Scenario newMember() {
        return Scenario.of(
                        "a pause is this member's: who takes a partition over goes on, and what comes back is held",
                        "9.5")
                .withEveryProtocol()
                .play(
                        stage -> {
                            stage.topic("orders", 2);
                            TestApp<NoState> first = stage.start(acking(stage));
                            first.subscription("in").pause();
                            stage.write("orders", 0, "a0");
                            stage.write("orders", 1, "a1");
                            TestApp<NoState> second = stage.start(acking(stage));
                            stage.eventually(
                                    "they share",
                                    () -> Stage.health(first).partitions().size() == 1);
                            stage.eventually(
                                    "the second goes on",
                                    () -> Stage.counts(second).acked() == 1);
                            second.stop();
                            stage.eventually(
                                    "all is back",
                                    () -> Stage.health(first).partitions().size() == 2);
                            stage.write("orders", 0, "b0");
                            stage.write("orders", 1, "b1");
                            stage.pass(LONG);
                            stage.note("handled by the first", Seen.calls(first));
                            stage.note("paused", paused(first));
                            first.subscription("in").resume();
                            stage.settle();
                            stage.note("handled", Seen.sorted(first, second));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        handled by the first:\s
                        paused: 0 true 1 true
                        handled: a0#1 ack, a1#1 ack, b0#1 ack, b1#1 ack
                        committed: 0@2 1@2
                        """);
    }

    private static Scenario comesBack() {
        return Scenario.of("a partition's own pause is remembered while the partition is elsewhere", "9.5", "3.8")
                .withEveryProtocol()
                .play(
                        stage -> {
                            stage.topic("orders", 2);
                            String orders = stage.name("orders");
                            Gate gate = stage.gate();
                            TestApp<NoState> first =
                                    stage.start(stage.handled(stage.tracked("orders"), (value, context) -> {
                                        gate.pass();
                                        return HandlerOutcome.ack();
                                    }));
                            stage.write("orders", 0, "a0", "b0");
                            stage.write("orders", 1, "a1", "b1");
                            // One handler runs; what is queued is held back when its partition goes.
                            stage.eventually("one runs", () -> Stage.open(first) == 4);
                            first.subscription("in").pause(orders, 0).pause(orders, 1);
                            gate.open();
                            stage.eventually(
                                    "it ends", () -> Stage.counts(first).acked() == 1);
                            TestApp<NoState> second = stage.start(acking(stage));
                            stage.eventually(
                                    "they share",
                                    () -> Stage.health(first).partitions().size() == 1);
                            int kept = partition(first).partition();
                            first.subscription("in").resume(orders, kept);
                            stage.settle();
                            second.stop();
                            stage.eventually(
                                    "all is back",
                                    () -> Stage.health(first).partitions().size() == 2);
                            stage.write("orders", 0, "c0");
                            stage.write("orders", 1, "c1");
                            stage.settle();
                            stage.note("handled", Seen.sorted(first, second).replace("c" + kept, "c of the one"));
                            first.subscription("in").resume(orders, 1 - kept);
                            stage.settle();
                            stage.note("handled", Seen.sorted(first, second));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        handled: a0#1 ack, a1#1 ack, b0#1 ack, b1#1 ack, c of the one#1 ack
                        handled: a0#1 ack, a1#1 ack, b0#1 ack, b1#1 ack, c0#1 ack, c1#1 ack
                        committed: 0@3 1@3
                        """);
    }

    private static Scenario stop() {
        return Scenario.of("a stop does not wait for what is held back, and the next start reads it", "9.5", "10.3")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "running", "b", "c");
                            Gate gate = stage.gate();
                            AtomicBoolean begun = new AtomicBoolean();
                            TestApp<NoState> app =
                                    stage.start(stage.handled(stage.tracked("orders"), (value, context) -> {
                                        begun.set(true);
                                        gate.pass();
                                        return HandlerOutcome.ack();
                                    }));
                            stage.eventually("it runs", begun::get);
                            app.subscription("in").pause();
                            gate.open();
                            stage.eventually(
                                    "it has ended", () -> Stage.counts(app).acked() == 1);
                            app.stop();
                            stage.note("handled", Seen.calls(app));
                            stage.note("committed", stage.committed("orders"));
                            app.restart();
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        handled: running#1 ack
                        committed: 0@1
                        handled: running#1 ack, b#1 ack, c#1 ack
                        committed: 0@3
                        """);
    }

    private static Scenario idle() {
        return Scenario.of(
                        "a member that is paused for longer than max.poll.interval.ms stays in its group", "9.5", "5.3")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a", "b");
                            Gate gate = stage.gate();
                            AtomicBoolean begun = new AtomicBoolean();
                            TestApp<NoState> app = stage.start(
                                    stage.handled(
                                            stage.tracked("orders").config("max.poll.interval.ms", 1_000),
                                            (value, context) -> {
                                                begun.set(true);
                                                gate.pass();
                                                return HandlerOutcome.ack();
                                            }),
                                    mount -> mount.drainTimeout(Duration.ofMillis(400)));
                            stage.eventually("it runs", begun::get);
                            app.subscription("in").pause();
                            gate.open();
                            stage.pass(Duration.ofMillis(2_500));
                            stage.note("rebalances", Stage.counts(app).rebalances());
                            stage.note("committed", stage.committed("orders"));
                            app.subscription("in").resume();
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            stage.note("rebalances", Stage.counts(app).rebalances());
                        },
                        """
                        rebalances: 1
                        committed: 0@1
                        handled: a#1 ack, b#1 ack
                        rebalances: 1
                        """);
    }

    private static Health.Partition partition(TestApp<?> app) {
        return Stage.health(app).partitions().get(0);
    }

    private static String paused(TestApp<?> app) {
        return Stage.health(app).partitions().stream()
                .map(partition -> partition.partition() + " " + partition.pausedByUser())
                .sorted()
                .collect(joining(" "));
    }

    private static Subscriber<String, Object> acking(Stage stage) {
        return stage.handled(stage.tracked("orders"), (value, context) -> HandlerOutcome.ack());
    }
}
