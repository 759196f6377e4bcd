package io.settlestream.conformance.rules;

import io.settlestream.HandlerOutcome;
import io.settlestream.LaneKey;
import io.settlestream.Message;
import io.settlestream.NoState;
import io.settlestream.testing.TestApp;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** Section 3, where records come back in their own subscription. */
final class RetryRules {

    private RetryRules() {}

    static List<Scenario> scenarios() {
        return List.of(
                onOneLane(), withWorkers(), holdsUpItsKeyOnly(), unchanged(), wakesTheIdle(), backsOff(), inTheEnd());
    }

    private static Scenario onOneLane() {
        return Scenario.of("one lane: a retry runs again before any record behind it", "3.4", "3.6")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a", "b", "c");
                            TestApp<NoState> app = stage.start(stage.handled(
                                    stage.tracked("orders"),
                                    (value, context) -> !value.equals("c") && context.attempt() < 4
                                            ? HandlerOutcome.retry()
                                            : HandlerOutcome.ack()));
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        handled: a#1 retry, a#2 retry, a#3 retry, a#4 ack, b#1 retry, b#2 retry, b#3 retry, b#4 ack, c#1 ack
                        committed: 0@3
                        """);
    }

    private static Scenario withWorkers() {
        return Scenario.of("workers: a retry runs before any record that no handler has been given", "3.4", "5.1")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "hold", "retried", "c", "d");
                            Gate gate = stage.gate();
                            TestApp<NoState> app = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> {
                                        if (value.equals("hold")) {
                                            gate.pass();
                                        }
                                        return value.equals("retried") && context.attempt() == 1
                                                ? HandlerOutcome.retry()
                                                : HandlerOutcome.ack();
                                    }),
                                    mount -> mount.workers(2));
                            stage.eventually(
                                    "the others are handled",
                                    () -> Stage.counts(app).acked() == 3);
                            stage.eventuallyCommitted("orders", "0@0");
                            gate.open();
                            stage.settle();
                            stage.note(
                                    "handled but the first",
                                    Seen.calls(app).replace("hold#1 ack, ", "").replace(", hold#1 ack", ""));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        handled but the first: retried#1 retry, retried#2 ack, c#1 ack, d#1 ack
                        committed: 0@4
                        """);
    }

    private static Scenario holdsUpItsKeyOnly() {
        return Scenario.of("keyed workers: a retry holds up its key only, which keeps its order", "3.4", "3.6", "5.1")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.writeKeyed("orders", "a", "a1", "a2", "a3");
                            for (int i = 0; i < 20; i++) {
                                stage.writeKeyed("orders", "key" + i % 5, "other" + i);
                            }
                            AtomicInteger others = new AtomicInteger();
                            List<String> ofTheKey = new CopyOnWriteArrayList<>();
                            stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> {
                                        if (value.startsWith("other")) {
                                            others.incrementAndGet();
                                            return HandlerOutcome.ack();
                                        }
                                        boolean back = value.equals("a1") && others.get() < 20;
                                        if (!back) {
                                            ofTheKey.add(value + " after " + others.get());
                                        }
                                        return back ? HandlerOutcome.retry() : HandlerOutcome.ack();
                                    }),
                                    mount -> mount.workersByKey(2, LaneKey.RECORD_KEY)
                                            .retryBackoff(Duration.ofMillis(20), Duration.ofMillis(20)));
                            stage.settle();
                            stage.note("of the key", ofTheKey);
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        of the key: [a1 after 20, a2 after 20, a3 after 20]
                        committed: 0@23
                        """);
    }

    private static Scenario unchanged() {
        return Scenario.of("a retried record is unchanged, its attempt is one higher", "3.4")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write(
                                    "orders",
                                    Message.of("value")
                                            .key(new byte[] {1, -2})
                                            .header("twice", new byte[] {1})
                                            .header("twice", new byte[] {2})
                                            .header("null", (byte[]) null));
                            List<String> seen = new CopyOnWriteArrayList<>();
                            List<Instant> times = new CopyOnWriteArrayList<>();
                            TestApp<NoState> app =
                                    stage.start(stage.handled(stage.tracked("orders"), (value, context) -> {
                                        StringBuilder all = new StringBuilder(value)
                                                .append('@')
                                                .append(context.offset())
                                                .append(Arrays.toString(context.key()));
                                        context.headers()
                                                .forEach(header -> all.append(header.key())
                                                        .append(Arrays.toString(header.value())));
                                        seen.add(all.toString());
                                        times.add(context.timestamp());
                                        return context.attempt() < 3 ? HandlerOutcome.retry() : HandlerOutcome.ack();
                                    }));
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            stage.note("seen", seen.get(0));
                            stage.note("kinds", seen.stream().distinct().count());
                            stage.note("timestamps", times.stream().distinct().count());
                        },
                        """
                        handled: value#1 retry, value#2 retry, value#3 ack
                        seen: value@0[1, -2]twice[1]twice[2]nullnull
                        kinds: 1
                        timestamps: 1
                        """);
    }

    private static Scenario wakesTheIdle() {
        return Scenario.of("a retry needs no new record: an idle subscription runs it", "3.4", "5.3")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            TestApp<NoState> app = stage.start(stage.handled(
                                    stage.tracked("orders")
                                            .config("fetch.max.wait.ms", 20_000)
                                            .config("auto.commit.interval.ms", 3_600_000),
                                    (value, context) ->
                                            context.attempt() < 4 ? HandlerOutcome.retry() : HandlerOutcome.ack()));
                            stage.write("orders", 0, "only");
                            Instant begin = stage.now();
                            stage.eventually(
                                    "it is acked", () -> Stage.counts(app).acked() == 1);
                            stage.note(
                                    "in less than a poll",
                                    Duration.between(begin, stage.now()).compareTo(Duration.ofSeconds(15)) < 0);
                            stage.note("handled", Seen.calls(app));
                        },
                        """
                        in less than a poll: true
                        handled: only#1 retry, only#2 retry, only#3 retry, only#4 ack
                        """);
    }

    private static Scenario backsOff() {
        return Scenario.of("retries back off: at once, then 50 ms doubling; other partitions flow", "3.6", "5.1")
                .play(
                        stage -> {
                            stage.topic("orders", 2);
                            stage.write("orders", 0, "bad", "behind");
                            for (int i = 0; i < 20; i++) {
                                stage.write("orders", 1, "good" + i);
                            }
                            List<Instant> attempts = new CopyOnWriteArrayList<>();
                            List<String> order = new CopyOnWriteArrayList<>();
                            TestApp<NoState> app = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> {
                                        if (value.equals("bad")) {
                                            attempts.add(stage.now());
                                            if (context.attempt() < 6) {
                                                return HandlerOutcome.retry();
                                            }
                                        }
                                        order.add(value);
                                        return HandlerOutcome.ack();
                                    }),
                                    mount -> mount.workersByKey(2));
                            stage.settle();
                            List<Long> least = List.of(0L, 50L, 100L, 200L, 400L);
                            for (int i = 0; i < least.size(); i++) {
                                long waited = Duration.between(attempts.get(i), attempts.get(i + 1))
                                        .toMillis();
                                // Stamps are rounded down to a clock's tick.
                                stage.note("waited " + least.get(i) + " ms", waited >= least.get(i) - 1);
                            }
                            stage.note("attempts", attempts.size());
                            stage.note("at the end", order.subList(20, 22));
                            stage.note("retried", Stage.counts(app).retried());
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        waited 0 ms: true
                        waited 50 ms: true
                        waited 100 ms: true
                        waited 200 ms: true
                        waited 400 ms: true
                        attempts: 6
                        at the end: [bad, behind]
                        retried: 5
                        committed: 0@2 1@20
                        """);
    }

    private static Scenario inTheEnd() {
        return Scenario.of(
                        "a stop does not wait for a retry; the record stays open and comes first next time",
                        "3.1",
                        "3.4")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a", "b", "c");
                            AtomicInteger lives = new AtomicInteger();
                            TestApp<NoState> app = stage.start(
                                    stage.handled(
                                            stage.tracked("orders"),
                                            (value, context) -> value.equals("b") && lives.get() == 0
                                                    ? HandlerOutcome.retry()
                                                    : HandlerOutcome.ack()),
                                    mount -> mount.retryBackoff(Duration.ofHours(1), Duration.ofHours(1)));
                            stage.eventually("it waits", () -> Stage.counts(app).retried() == 2);
                            app.stop();
                            stage.note("committed", stage.committed("orders"));
                            lives.incrementAndGet();
                            app.restart();
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        committed: 0@1
                        handled: a#1 ack, b#1 retry, b#2 retry, b#3 ack, c#1 ack
                        committed: 0@3
                        """);
    }
}
