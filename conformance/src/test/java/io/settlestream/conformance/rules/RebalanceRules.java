package io.settlestream.conformance.rules;

import io.settlestream.HandlerOutcome;
import io.settlestream.NoState;
import io.settlestream.StartupException;
import io.settlestream.Subscriber;
import io.settlestream.testing.TestApp;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/** Rule 3.8: partitions that change hands. */
final class RebalanceRules {

    private RebalanceRules() {}

    static List<Scenario> scenarios() {
        return List.of(joinsAndLeaves(), storm(), drains(), retryEndsTheWait(), lost(), longDrain());
    }

    private static Scenario joinsAndLeaves() {
        return Scenario.of("members come and go, and each record is handled once", "3.8", "3.2", "3.3")
                .withEveryProtocol()
                .play(
                        stage -> {
                            stage.topic("orders", 4);
                            Subscriber<String, Object> subscriber =
                                    stage.handled(stage.tracked("orders"), (value, context) -> HandlerOutcome.ack());
                            TestApp<NoState> first = stage.start(subscriber);
                            writeAll(stage, "alone");
                            stage.eventuallyCommitted("orders", "0@1 1@1 2@1 3@1");
                            TestApp<NoState> second = stage.start(subscriber);
                            stage.eventually(
                                    "they share",
                                    () -> Stage.health(first).partitions().size() == 2
                                            && Stage.health(second).partitions().size() == 2);
                            writeAll(stage, "shared");
                            stage.eventuallyCommitted("orders", "0@2 1@2 2@2 3@2");
                            stage.note(
                                    "by the second",
                                    second.subscription("in").calls().size());
                            first.stop();
                            writeAll(stage, "left");
                            stage.eventuallyCommitted("orders", "0@3 1@3 2@3 3@3");
                            stage.note("handled", Seen.sorted(first, second));
                            stage.note(
                                    "by the second",
                                    second.subscription("in").calls().size());
                        },
                        """
                        by the second: 2
                        handled: alone0#1 ack, alone1#1 ack, alone2#1 ack, alone3#1 ack, left0#1 ack, left1#1 ack, left2#1 ack, left3#1 ack, shared0#1 ack, shared1#1 ack, shared2#1 ack, shared3#1 ack
                        by the second: 6
                        """);
    }

    private static void writeAll(Stage stage, String... values) {
        for (int partition = 0; partition < 4; partition++) {
            for (String value : values) {
                stage.write("orders", partition, value + partition);
            }
        }
    }

    private static Scenario storm() {
        return Scenario.of(
                        "whatever members do, each record is settled once, and all are committed",
                        "3.8",
                        "3.1",
                        "3.2",
                        "1.3")
                .withEveryProtocol()
                .play(
                        stage -> {
                            stage.topic("orders", 4);
                            Map<String, AtomicInteger> acked = new ConcurrentHashMap<>();
                            Subscriber<String, Object> subscriber =
                                    stage.handled(stage.tracked("orders"), (value, context) -> {
                                        stage.busy(Duration.ofMillis(10));
                                        if (context.offset() % 3 == 0 && context.attempt() == 1) {
                                            return HandlerOutcome.retry();
                                        }
                                        acked.computeIfAbsent(value, none -> new AtomicInteger())
                                                .incrementAndGet();
                                        return HandlerOutcome.ack();
                                    });
                            TestApp<NoState> first = stage.start(subscriber);
                            writeAll(stage, "a", "b", "c", "d");
                            TestApp<NoState> second = stage.start(subscriber);
                            writeAll(stage, "e", "f", "g", "h");
                            stage.start(subscriber);
                            writeAll(stage, "i", "j", "k", "l");
                            first.stop();
                            writeAll(stage, "m", "n", "o", "p");
                            second.stop();
                            writeAll(stage, "q", "r", "s", "t");
                            stage.eventuallyCommitted("orders", "0@20 1@20 2@20 3@20");
                            stage.note("settled", acked.size());
                            stage.note(
                                    "most often",
                                    acked.values().stream()
                                            .mapToInt(AtomicInteger::get)
                                            .max()
                                            .getAsInt());
                        },
                        """
                        settled: 80
                        most often: 1
                        """);
    }

    /** A handler that waits until its member has to give something up, and a little longer. */
    private static void untilRevoked(Stage stage, AtomicReference<TestApp<NoState>> member)
            throws InterruptedException {
        while (member.get() == null || Stage.counts(member.get()).rebalances() < 2) {
            stage.busy(Duration.ofMillis(5));
        }
        stage.busy(Duration.ofMillis(50));
    }

    private static Scenario drains() {
        return Scenario.of(
                        "running handlers get drainTimeout to settle, what is queued goes to the next owner",
                        "3.8",
                        "1.3")
                .withEveryProtocol()
                .play(
                        stage -> {
                            stage.topic("orders", 2);
                            stage.write("orders", 0, "running0", "queued0");
                            stage.write("orders", 1, "running1", "queued1");
                            AtomicReference<TestApp<NoState>> member = new AtomicReference<>();
                            TestApp<NoState> first = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> {
                                        untilRevoked(stage, member);
                                        return HandlerOutcome.ack();
                                    }),
                                    mount -> mount.workersByKey(2).drainTimeout(Duration.ofSeconds(20)));
                            stage.eventually(
                                    "both are in hand",
                                    () -> first.subscription("in").calls().size() == 2);
                            member.set(first);
                            TestApp<NoState> second = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> HandlerOutcome.ack()));
                            stage.eventuallyCommitted("orders", "0@2 1@2");
                            stage.settle();
                            stage.note("handled", Seen.sorted(first, second));
                            stage.note(
                                    "by the second",
                                    second.subscription("in").calls().size());
                            stage.note("stale", Stage.counts(first).stale());
                        },
                        """
                        handled: queued0#1 ack, queued1#1 ack, running0#1 ack, running1#1 ack
                        by the second: 1
                        stale: 0
                        """);
    }

    private static Scenario retryEndsTheWait() {
        return Scenario.of(
                        "a handler that answers retry ends the wait; its record stays open for the next owner",
                        "3.8",
                        "3.4")
                .withEveryProtocol()
                .play(
                        stage -> {
                            stage.topic("orders", 2);
                            stage.write("orders", 0, "a");
                            stage.write("orders", 1, "b");
                            AtomicReference<TestApp<NoState>> member = new AtomicReference<>();
                            TestApp<NoState> first = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> {
                                        boolean revoked = member.get() != null
                                                && Stage.counts(member.get()).rebalances() >= 2;
                                        untilRevoked(stage, member);
                                        return revoked ? HandlerOutcome.ack() : HandlerOutcome.retry();
                                    }),
                                    mount -> mount.workersByKey(2).drainTimeout(Duration.ofSeconds(20)));
                            stage.eventually(
                                    "both are in hand",
                                    () -> first.subscription("in").calls().size() == 2);
                            member.set(first);
                            TestApp<NoState> second = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> HandlerOutcome.ack()));
                            stage.eventuallyCommitted("orders", "0@1 1@1");
                            stage.settle();
                            stage.note(
                                    "attempts of the second",
                                    second.subscription("in").attempts());
                            stage.note("acked by the first", Stage.counts(first).acked());
                            stage.note(
                                    "acked by the second", Stage.counts(second).acked());
                        },
                        """
                        attempts of the second: [2]
                        acked by the first: 1
                        acked by the second: 1
                        """);
    }

    private static Scenario lost() {
        return Scenario.of(
                        "lost partitions commit nothing and come back from committed, with fresh bookkeeping",
                        "3.8",
                        "1.2")
                .withEveryProtocol()
                .inProcessOnly("a broker takes no partitions from a member that lives")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a", "b", "c");
                            Gate gate = stage.gate();
                            TestApp<NoState> app = stage.start(stage.handled(
                                    stage.tracked("orders").config("auto.commit.interval.ms", 3_600_000),
                                    (value, context) -> {
                                        if (value.equals("b")) {
                                            gate.pass();
                                        }
                                        return HandlerOutcome.ack();
                                    }));
                            stage.eventually(
                                    "b is in hand",
                                    () -> app.subscription("in").calls().size() == 2);
                            app.lose(stage.name("orders"));
                            gate.open();
                            stage.eventually(
                                    "all is acked again",
                                    () -> Stage.counts(app).acked() >= 4);
                            stage.note("committed", stage.committed("orders"));
                            app.stop();
                            stage.note("attempts", app.subscription("in").attempts());
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        committed: 0@0
                        attempts: [1, 1, 1, 1, 1]
                        committed: 0@3
                        """);
    }

    private static Scenario longDrain() {
        return Scenario.of("drainTimeout must be less than half of max.poll.interval.ms", "3.8")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            Subscriber<String, Object> subscriber = stage.handled(
                                    stage.tracked("orders").config("max.poll.interval.ms", 20_000),
                                    (value, context) -> HandlerOutcome.ack());
                            try {
                                stage.start(subscriber, mount -> mount.drainTimeout(Duration.ofSeconds(10)));
                            } catch (StartupException e) {
                                stage.note("problems", e.problems().size());
                                String problem = e.problems().get(0);
                                stage.note(
                                        "names both",
                                        problem.contains("drainTimeout") && problem.contains("max.poll.interval.ms"));
                            }
                            TestApp<NoState> app =
                                    stage.start(subscriber, mount -> mount.drainTimeout(Duration.ofMillis(9_999)));
                            stage.note("status", app.health().status());
                        },
                        """
                        problems: 1
                        names both: true
                        status: RUNNING
                        """);
    }
}
