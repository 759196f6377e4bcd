package io.settlestream.conformance.rules;

import io.settlestream.App;
import io.settlestream.BatchOutcome;
import io.settlestream.HandlerOutcome;
import io.settlestream.Health;
import io.settlestream.LaneKey;
import io.settlestream.NoState;
import io.settlestream.SettleStream;
import io.settlestream.Subscriber;
import io.settlestream.testing.TestApp;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

/** Rule 3.5 without a retry topic: records that come back after a delay, while others go on. */
final class DelayRules {

    private static final String NO_ACCIDENTS = "an accident that a broker does not have on request";

    private DelayRules() {}

    static List<Scenario> scenarios() {
        return List.of(
                doNotWaitForEachOther(),
                inTime(),
                keyWaits(),
                fillTheShare(),
                anHour(),
                overARebalance(),
                overAStop(),
                overACrash(),
                batches(),
                unsupportedUnderAuto());
    }

    private static Scenario doNotWaitForEachOther() {
        return Scenario.of(
                        "one lane flows past delays, which do not wait for each other; the position waits for them",
                        "3.5",
                        "3.1",
                        "5.1")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "900", "300", "600", "b", "c");
                            TestApp<NoState> app =
                                    stage.start(stage.handled(stage.tracked("orders"), (value, context) -> {
                                        boolean delayed = value.endsWith("00") && context.attempt() == 1;
                                        return delayed
                                                ? HandlerOutcome.retryAfter(Duration.ofMillis(Integer.parseInt(value)))
                                                : HandlerOutcome.ack();
                                    }));
                            stage.eventually(
                                    "the others are acked",
                                    () -> Stage.counts(app).acked() >= 2);
                            stage.note("committed", stage.committed("orders"));
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            stage.note("committed", stage.committed("orders"));
                            stage.note(
                                    "delayed",
                                    Stage.health(app).partitions().get(0).delayedRecords());
                        },
                        """
                        committed: 0@0
                        handled: 900#1 retry after PT0.9S, 300#1 retry after PT0.3S, 600#1 retry after PT0.6S, b#1 ack, c#1 ack, 300#2 ack, 600#2 ack, 900#2 ack
                        committed: 0@5
                        delayed: 0
                        """);
    }

    private static Scenario inTime() {
        return Scenario.of(
                        "a delay is at least as long as it was asked for, and an idle subscription wakes for it", "3.5")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a");
                            List<Instant> attempts = new CopyOnWriteArrayList<>();
                            TestApp<NoState> app = stage.start(stage.handled(
                                    stage.tracked("orders")
                                            .config("fetch.max.wait.ms", 20_000)
                                            .config("auto.commit.interval.ms", 3_600_000),
                                    (value, context) -> {
                                        attempts.add(stage.now());
                                        return context.attempt() < 3
                                                ? HandlerOutcome.retryAfter(Duration.ofMillis(400))
                                                : HandlerOutcome.ack();
                                    }));
                            stage.eventually(
                                    "it is acked", () -> Stage.counts(app).acked() == 1);
                            for (int i = 0; i < 2; i++) {
                                Duration waited = Duration.between(attempts.get(i), attempts.get(i + 1));
                                // Stamps are rounded down to a clock's tick.
                                stage.note("long enough", waited.toMillis() >= 399);
                                stage.note("in time", waited.compareTo(Duration.ofSeconds(15)) < 0);
                            }
                            stage.note("retried", Stage.counts(app).retried());
                        },
                        """
                        long enough: true
                        in time: true
                        long enough: true
                        in time: true
                        retried: 2
                        """);
    }

    private static Scenario keyWaits() {
        return Scenario.of(
                        "by RECORD_KEY a key waits for its delayed record and keeps its order; others flow",
                        "3.5",
                        "5.1")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.writeKeyed("orders", "k", "k1", "k2");
                            stage.writeKeyed("orders", "l", "l1", "l2");
                            stage.writeKeyed("orders", "k", "k3");
                            AtomicBoolean hold = new AtomicBoolean(true);
                            TestApp<NoState> app = stage.start(
                                    stage.handled(
                                            stage.tracked("orders"),
                                            (value, context) -> value.equals("k1") && hold.get()
                                                    ? HandlerOutcome.retryAfter(Duration.ofMillis(200))
                                                    : HandlerOutcome.ack()),
                                    mount -> mount.workersByKey(3, LaneKey.RECORD_KEY));
                            stage.eventually(
                                    "k1 has waited, the others are acked",
                                    () -> Stage.counts(app).acked() == 2
                                            && Stage.counts(app).retried() >= 2);
                            stage.note("acked while it waits", acked(app));
                            hold.set(false);
                            stage.settle();
                            stage.note("acked", acked(app));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        acked while it waits: [l1, l2]
                        acked: [l1, l2, k1, k2, k3]
                        committed: 0@5
                        """);
    }

    private static List<Object> acked(TestApp<?> app) {
        return app.subscription("in").calls().stream()
                .flatMap(call -> call.elements().stream())
                .filter(element -> element.outcome().equals(Optional.of(HandlerOutcome.ack())))
                .map(element -> element.value())
                .toList();
    }

    private static Scenario fillTheShare() {
        return Scenario.of(
                        "delays count in the share of their partition; when only they are left in it, health says so, and"
                                + " the other partition flows",
                        "3.5",
                        "5.2",
                        "12.3")
                .play(
                        stage -> {
                            stage.topic("orders", 2);
                            stage.write("orders", 0, "d0", "d1", "d2", "a", "b");
                            AtomicBoolean hold = new AtomicBoolean(true);
                            TestApp<NoState> app = stage.start(
                                    stage.handled(
                                            stage.tracked("orders").config("max.poll.records", 1),
                                            (value, context) -> value.startsWith("d") && hold.get()
                                                    ? HandlerOutcome.retryAfter(Duration.ofSeconds(1))
                                                    : HandlerOutcome.ack()),
                                    mount -> mount.inFlightLimit(6, 1 << 20));
                            stage.eventually(
                                    "three delays fill it",
                                    () -> Stage.health(app).problems().stream()
                                            .anyMatch(problem ->
                                                    problem.contains("full of delays: all 3 records in flight")));
                            stage.note("acked", acked(app));
                            stage.write("orders", 1, "v", "w");
                            stage.eventually("the other flows", () -> acked(app).containsAll(List.of("v", "w")));
                            stage.note("acked", acked(app));
                            hold.set(false);
                            stage.settle();
                            stage.note("acked at last", acked(app).size());
                            stage.note("problems", Stage.health(app).problems());
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        acked: []
                        acked: [v, w]
                        acked at last: 7
                        problems: []
                        committed: 0@5 1@2
                        """);
    }

    private static Scenario anHour() {
        return Scenario.of("a record may wait an hour, and an interval of polls is not missed meanwhile", "3.5", "5.2")
                .inProcessOnly("it takes an hour")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a", "b");
                            TestApp<NoState> app = stage.start(stage.handled(
                                    stage.tracked("orders"),
                                    (value, context) -> value.equals("a") && context.attempt() == 1
                                            ? HandlerOutcome.retryAfter(Duration.ofHours(1))
                                            : HandlerOutcome.ack()));
                            stage.pass(Duration.ofMinutes(59));
                            stage.note("handled", Seen.calls(app));
                            stage.pass(Duration.ofMinutes(2));
                            stage.note("handled", Seen.calls(app));
                            stage.note("rebalances", Stage.counts(app).rebalances());
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        handled: a#1 retry after PT1H, b#1 ack
                        handled: a#1 retry after PT1H, b#1 ack, a#2 ack
                        rebalances: 1
                        committed: 0@2
                        """);
    }

    private static Scenario overARebalance() {
        return Scenario.of(
                        "a partition that leaves with a delayed record and comes back is handled, and is not left paused",
                        "3.5",
                        "3.8")
                .withEveryProtocol()
                .play(
                        stage -> {
                            stage.topic("orders", 2);
                            stage.write("orders", 0, "a0");
                            stage.write("orders", 1, "a1");
                            AtomicBoolean hold = new AtomicBoolean(true);
                            Subscriber<String, Object> subscriber = stage.handled(
                                    stage.tracked("orders"),
                                    (value, context) -> hold.get()
                                            ? HandlerOutcome.retryAfter(Duration.ofSeconds(3))
                                            : HandlerOutcome.ack());
                            // Room for one record each, so that the delay pauses its partition.
                            TestApp<NoState> first = stage.start(subscriber, mount -> mount.inFlightLimit(2, 1 << 20));
                            stage.eventually(
                                    "both wait and are paused", () -> waiting(first) == 2 && paused(first) == 2);
                            TestApp<NoState> second = stage.start(subscriber, mount -> mount.inFlightLimit(2, 1 << 20));
                            stage.eventually("each waits for one", () -> waiting(first) == 1 && waiting(second) == 1);
                            stage.note("committed", stage.committed("orders"));
                            hold.set(false);
                            second.stop();
                            stage.write("orders", 0, "b0");
                            stage.write("orders", 1, "b1");
                            stage.eventuallyCommitted("orders", "0@2 1@2");
                            stage.settle();
                            stage.note(
                                    "acked",
                                    Stream.concat(acked(first).stream(), acked(second).stream())
                                            .sorted()
                                            .toList());
                            stage.note("paused", paused(first));
                            stage.note("waiting", waiting(first));
                        },
                        """
                        committed: 0@0 1@0
                        acked: [a0, a1, b0, b1]
                        paused: 0
                        waiting: 0
                        """);
    }

    private static long waiting(TestApp<?> app) {
        return Stage.health(app).partitions().stream()
                .mapToLong(Health.Partition::delayedRecords)
                .sum();
    }

    private static long paused(TestApp<?> app) {
        return Stage.health(app).partitions().stream()
                .filter(Health.Partition::paused)
                .count();
    }

    private static Scenario overAStop() {
        return Scenario.of(
                        "a stop does not wait for a delay; the record stays open and comes first next time",
                        "3.5",
                        "10.3")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a", "b", "c");
                            AtomicBoolean hold = new AtomicBoolean(true);
                            App<NoState> service = SettleStream.app("service", "1")
                                    .shutdownTimeout(Duration.ofSeconds(60))
                                    .withBroker(
                                            stage.broker(),
                                            scope -> scope.include(stage.handled(
                                                            stage.tracked("orders"),
                                                            (value, context) -> value.equals("b") && hold.get()
                                                                    ? HandlerOutcome.retryAfter(Duration.ofHours(1))
                                                                    : HandlerOutcome.ack()))
                                                    .name("in"));
                            TestApp<NoState> app = stage.start(service);
                            stage.eventually(
                                    "c is acked", () -> Stage.counts(app).acked() == 2);
                            Instant begin = stage.now();
                            app.stop();
                            stage.note(
                                    "at once",
                                    Duration.between(begin, stage.now()).compareTo(Duration.ofSeconds(30)) < 0);
                            stage.note("committed", stage.committed("orders"));
                            hold.set(false);
                            app.restart();
                            stage.settle();
                            stage.note("acked", acked(app));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        at once: true
                        committed: 0@1
                        acked: [a, c, b, c]
                        committed: 0@3
                        """);
    }

    private static Scenario overACrash() {
        return Scenario.of("a crash inside a delay loses nothing", "3.5")
                .inProcessOnly(NO_ACCIDENTS)
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a", "b", "c");
                            AtomicBoolean hold = new AtomicBoolean(true);
                            TestApp<NoState> app = stage.start(stage.handled(
                                    stage.tracked("orders"),
                                    (value, context) -> value.equals("b") && hold.get()
                                            ? HandlerOutcome.retryAfter(Duration.ofHours(1))
                                            : HandlerOutcome.ack()));
                            stage.pass(Duration.ofSeconds(5));
                            stage.note("committed", stage.committed("orders"));
                            app.crash();
                            hold.set(false);
                            app.restart();
                            stage.settle();
                            stage.note("acked", acked(app));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        committed: 0@1
                        acked: [a, c, b, c]
                        committed: 0@3
                        """);
    }

    private static Scenario batches() {
        return Scenario.of(
                        "elements of a batch wait each for its own delay, and the batches behind flow",
                        "3.5",
                        "4.2",
                        "4.3")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "600", "a", "300", "b");
                            TestApp<NoState> app = stage.start(stage.handledInBatches(
                                    stage.tracked("orders"), 2, (values, context) -> {
                                        List<HandlerOutcome> outcomes = new ArrayList<>();
                                        for (int i = 0; i < values.size(); i++) {
                                            String value = values.get(i);
                                            outcomes.add(
                                                    value.endsWith("00")
                                                                    && context.element(i)
                                                                                    .attempt()
                                                                            == 1
                                                            ? HandlerOutcome.retryAfter(
                                                                    Duration.ofMillis(Integer.parseInt(value)))
                                                            : HandlerOutcome.ack());
                                        }
                                        return BatchOutcome.each(outcomes);
                                    }));
                            stage.settle();
                            stage.note("acked", acked(app));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        acked: [a, b, 300, 600]
                        committed: 0@4
                        """);
    }

    private static Scenario unsupportedUnderAuto() {
        return Scenario.of(
                        "under Auto a delay is counted as unsupported and the record does not come back", "2.2", "3.5")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a", "b");
                            TestApp<NoState> app = stage.start(stage.handled(
                                    stage.auto("orders"),
                                    (value, context) -> HandlerOutcome.retryAfter(Duration.ofMillis(1))));
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            stage.note("unsupported", Stage.counts(app).unsupportedRetries());
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        handled: a#1 retry after PT0.001S, b#1 retry after PT0.001S
                        unsupported: 2
                        committed: 0@2
                        """);
    }
}
