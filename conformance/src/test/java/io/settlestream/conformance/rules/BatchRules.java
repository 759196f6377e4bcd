package io.settlestream.conformance.rules;

import static java.util.stream.Collectors.joining;

import io.settlestream.BatchOutcome;
import io.settlestream.ExceptionPolicy;
import io.settlestream.HandlerOutcome;
import io.settlestream.Mount;
import io.settlestream.NoState;
import io.settlestream.StartupException;
import io.settlestream.Subscriber;
import io.settlestream.testing.TestApp;
import io.settlestream.testing.TestCall;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;

/** Section 4: batches. A first record holds the lane up until the others are fetched, so that batches are the same everywhere. */
final class BatchRules {

    private BatchRules() {}

    static List<Scenario> scenarios() {
        return List.of(
                sizes(),
                ofOne(),
                perElement(),
                tooFewAndTooMany(),
                undecodable(),
                throwing(
                        "a batch handler that throws under RETRY: every element comes back",
                        ExceptionPolicy.RETRY,
                        """
                        batches: gate#1 ack, [a#1 threw IllegalStateException, b#1 threw IllegalStateException], [a#2 ack, b#2 ack]
                        exceptions: 1
                        committed: 0@3
                        """),
                throwing("a batch handler that throws under DROP: every element is settled", ExceptionPolicy.DROP, """
                        batches: gate#1 ack, [a#1 threw IllegalStateException, b#1 threw IllegalStateException]
                        exceptions: 1
                        committed: 0@3
                        """),
                inFlight(),
                keyed());
    }

    /** Starts a batch subscription of {@code orders} and gives it these values in one go, after {@code gate}. */
    private static TestApp<NoState> start(
            Stage stage,
            int size,
            Consumer<Mount> options,
            Function<List<String>, BatchOutcome> handler,
            String[]... partitions) {
        stage.topic("orders", Math.max(1, partitions.length));
        Gate gate = stage.gate();
        TestApp<NoState> app = stage.start(
                stage.handledInBatches(stage.tracked("orders"), size, (values, context) -> {
                    if (values.contains("gate")) {
                        gate.pass();
                        return BatchOutcome.ackAll();
                    }
                    return handler.apply(values);
                }),
                options);
        stage.write("orders", 0, "gate");
        stage.eventually(
                "the lane is busy", () -> app.subscription("in").calls().size() == 1);
        int count = 1;
        for (int partition = 0; partition < partitions.length; partition++) {
            stage.write("orders", partition, partitions[partition]);
            count += partitions[partition].length;
        }
        int all = count;
        stage.eventually("all are fetched", () -> Stage.open(app) == all);
        gate.open();
        return app;
    }

    private static String[] values(String... values) {
        return values;
    }

    private static Scenario sizes() {
        return Scenario.of("a batch takes what is there, up to its size, and spans partitions in their order", "4.1")
                .play(
                        stage -> {
                            TestApp<NoState> app = start(
                                    stage,
                                    4,
                                    mount -> {},
                                    values -> BatchOutcome.ackAll(),
                                    values("a", "b", "c", "d", "e"),
                                    values("v", "w", "x", "y", "z"));
                            stage.settle();
                            stage.note("sizes", app.subscription("in").batchSizes());
                            for (int partition = 0; partition < 2; partition++) {
                                stage.note("partition " + partition, ofPartition(app, partition));
                            }
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        sizes: [1, 4, 4, 2]
                        partition 0: gate a b c d e
                        partition 1: v w x y z
                        committed: 0@6 1@5
                        """);
    }

    private static String ofPartition(TestApp<?> app, int partition) {
        return app.subscription("in").calls().stream()
                .flatMap(call -> call.elements().stream())
                .filter(element -> element.partition() == partition)
                .map(TestCall.Element::value)
                .map(Object::toString)
                .collect(joining(" "));
    }

    private static Scenario ofOne() {
        return Scenario.of("a batch never waits to become larger", "4.1")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            TestApp<NoState> app = stage.start(stage.handledInBatches(
                                    stage.tracked("orders"), 500, (values, context) -> BatchOutcome.ackAll()));
                            stage.write("orders", 0, "a");
                            stage.settle();
                            stage.write("orders", 0, "b");
                            stage.settle();
                            stage.note("batches", Seen.calls(app));
                        },
                        """
                        batches: a#1 ack, b#1 ack
                        """);
    }

    private static Scenario perElement() {
        return Scenario.of("each outcome settles its element; retries come back alone, ahead of the rest", "4.2", "4.3")
                .play(
                        stage -> {
                            AtomicInteger bs = new AtomicInteger();
                            TestApp<NoState> app = start(
                                    stage,
                                    4,
                                    mount -> {},
                                    values -> BatchOutcome.each(values.stream()
                                            .map(value -> switch (value) {
                                                case "b" ->
                                                    bs.incrementAndGet() < 3
                                                            ? HandlerOutcome.retry()
                                                            : HandlerOutcome.ack();
                                                case "c" -> HandlerOutcome.drop();
                                                case "d" ->
                                                    bs.get() < 2 ? HandlerOutcome.retry() : HandlerOutcome.ack();
                                                default -> HandlerOutcome.ack();
                                            })
                                            .toList()),
                                    values("a", "b", "c", "d", "e"));
                            stage.settle();
                            stage.note("batches", Seen.calls(app));
                            stage.note("retried", Stage.counts(app).retried());
                            stage.note("dropped", Stage.counts(app).dropped());
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        batches: gate#1 ack, [a#1 ack, b#1 retry, c#1 drop, d#1 retry], [b#2 retry, d#2 ack], b#3 ack, e#1 ack
                        retried: 3
                        dropped: 1
                        committed: 0@6
                        """);
    }

    private static Scenario tooFewAndTooMany() {
        return Scenario.of("with too few outcomes the rest is retried, surplus ones are ignored", "4.2")
                .play(
                        stage -> {
                            TestApp<NoState> app = start(
                                    stage,
                                    10,
                                    mount -> {},
                                    values -> values.contains("a")
                                            ? BatchOutcome.each(List.of(HandlerOutcome.ack()))
                                            : BatchOutcome.each(List.of(
                                                    HandlerOutcome.drop(),
                                                    HandlerOutcome.ack(),
                                                    HandlerOutcome.retry(),
                                                    HandlerOutcome.retry())),
                                    values("a", "b", "c"));
                            stage.settle();
                            stage.note("batches", Seen.calls(app));
                            stage.note("mismatches", Stage.counts(app).batchMismatches());
                            stage.note("retried", Stage.counts(app).retried());
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        batches: gate#1 ack, [a#1 ack, b#1 retry, c#1 retry], [b#2 drop, c#2 ack]
                        mismatches: 2
                        retried: 2
                        committed: 0@4
                        """);
    }

    private static Scenario undecodable() {
        return Scenario.of("undecodable elements never reach the handler; the rest of their batch arrives", "4.4")
                .play(
                        stage -> {
                            stage.topic("numbers", 1);
                            stage.write("numbers", 0, "0", "one", "2", "three", "4");
                            TestApp<NoState> app = stage.start(Subscriber.on(stage.tracked("numbers"), new Numbers())
                                    .<Object>handleBatch((values, context) -> BatchOutcome.ackAll())
                                    .batch(10));
                            stage.settle();
                            stage.note("values", app.subscription("in").values());
                            stage.note("undecodable", Stage.counts(app).undecodable());
                            stage.note("committed", stage.committed("numbers"));
                        },
                        """
                        values: [0, 2, 4]
                        undecodable: 2
                        committed: 0@5
                        """);
    }

    private static Scenario throwing(String name, ExceptionPolicy policy, String trace) {
        return Scenario.of(name, "4.5")
                .play(
                        stage -> {
                            AtomicInteger calls = new AtomicInteger();
                            TestApp<NoState> app = start(
                                    stage,
                                    10,
                                    mount -> mount.onException(policy),
                                    values -> {
                                        if (calls.incrementAndGet() == 1) {
                                            throw new IllegalStateException("not yet");
                                        }
                                        return BatchOutcome.ackAll();
                                    },
                                    values("a", "b"));
                            stage.settle();
                            stage.note("batches", Seen.calls(app));
                            stage.note("exceptions", Stage.counts(app).exceptions());
                            stage.note("committed", stage.committed("orders"));
                        },
                        trace);
    }

    private static Scenario inFlight() {
        return Scenario.of(
                        "workers keep that many batches in flight, and nothing is committed past an open one",
                        "4.6",
                        "3.1")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a", "b", "c", "d", "e", "f");
                            Gate first = stage.gate();
                            Gate others = stage.gate();
                            AtomicInteger inFlight = new AtomicInteger();
                            TestApp<NoState> app = stage.start(
                                    stage.handledInBatches(stage.tracked("orders"), 2, (values, context) -> {
                                        inFlight.incrementAndGet();
                                        (values.contains("a") ? first : others).pass();
                                        inFlight.decrementAndGet();
                                        return BatchOutcome.ackAll();
                                    }),
                                    mount -> mount.workers(3));
                            stage.eventually("three are in flight", () -> inFlight.get() == 3);
                            others.open();
                            stage.eventually(
                                    "two are through", () -> Stage.counts(app).acked() == 4);
                            stage.pass(Duration.ofMillis(2 * Stage.COMMIT_INTERVAL_MS));
                            stage.note("committed", stage.committed("orders"));
                            first.open();
                            stage.settle();
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        committed: 0@0
                        committed: 0@6
                        """);
    }

    private static Scenario keyed() {
        return Scenario.of("keyed workers on a batch handler are refused at startup", "4.6")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            try {
                                stage.start(
                                        stage.handledInBatches(
                                                stage.tracked("orders"), 2, (values, context) -> BatchOutcome.ackAll()),
                                        mount -> mount.workersByKey(2));
                            } catch (StartupException e) {
                                stage.note("problems", e.problems().size());
                                stage.note(
                                        "names the option", e.problems().get(0).contains("workersByKey"));
                            }
                        },
                        """
                        problems: 1
                        names the option: true
                        """);
    }
}
