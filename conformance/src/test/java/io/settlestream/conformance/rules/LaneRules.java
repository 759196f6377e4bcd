package io.settlestream.conformance.rules;

import io.settlestream.HandlerOutcome;
import io.settlestream.Health;
import io.settlestream.LaneKey;
import io.settlestream.Mount;
import io.settlestream.NoState;
import io.settlestream.testing.TestApp;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** Section 5: what runs at a time, and how much is in flight. */
final class LaneRules {

    private LaneRules() {}

    static List<Scenario> scenarios() {
        return List.of(
                concurrency("by default one delivery runs at a time, on a virtual thread", mount -> {}, """
                        most at a time: 1
                        virtual: [true]
                        in order: true
                        """),
                concurrency("workers(n) run n at a time", mount -> mount.workers(3), """
                        most at a time: 3
                        virtual: [true]
                        """),
                concurrency(
                        "dedicatedThreads(n) run n at a time on platform threads",
                        mount -> mount.dedicatedThreads(3),
                        """
                        most at a time: 3
                        virtual: [false]
                        """),
                byKey("by RECORD_KEY a key that blocks holds up its own records and no other key's"),
                byPartition(),
                randomRetries(),
                bounded(),
                starvesNobody(),
                slowHandler(),
                freedSlot());
    }

    private static Scenario concurrency(String name, Consumer<Mount> options, String trace) {
        boolean ordered = trace.contains("in order");
        return Scenario.of(name, "5.1")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            for (int i = 0; i < 12; i++) {
                                stage.write("orders", 0, Integer.toString(i));
                            }
                            AtomicInteger now = new AtomicInteger();
                            AtomicInteger most = new AtomicInteger();
                            Set<Boolean> virtual = ConcurrentHashMap.newKeySet();
                            TestApp<NoState> app = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> {
                                        most.accumulateAndGet(now.incrementAndGet(), Math::max);
                                        virtual.add(Thread.currentThread().isVirtual());
                                        stage.busy(Duration.ofMillis(30));
                                        now.decrementAndGet();
                                        return HandlerOutcome.ack();
                                    }),
                                    options);
                            stage.settle();
                            stage.note("most at a time", most);
                            stage.note("virtual", virtual);
                            if (ordered) {
                                List<String> values = app.subscription("in").values(String.class);
                                stage.note(
                                        "in order",
                                        values.stream()
                                                .map(Integer::valueOf)
                                                .toList()
                                                .equals(java.util.stream.IntStream.range(0, 12)
                                                        .boxed()
                                                        .toList()));
                            }
                        },
                        trace);
    }

    private static Scenario byKey(String name) {
        return Scenario.of(name, "5.1", "3.1")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.writeKeyed("orders", "blocked", "b1", "b2", "b3");
                            stage.writeKeyed("orders", "x", "x1", "x2");
                            stage.writeKeyed("orders", "y", "y1", "y2");
                            Gate gate = stage.gate();
                            List<String> order = new CopyOnWriteArrayList<>();
                            TestApp<NoState> app = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> {
                                        if (value.startsWith("b")) {
                                            gate.pass();
                                        }
                                        order.add(value);
                                        return HandlerOutcome.ack();
                                    }),
                                    mount -> mount.workersByKey(2, LaneKey.RECORD_KEY));
                            stage.eventually(
                                    "the others are through",
                                    () -> Stage.counts(app).acked() == 4);
                            stage.note("while it blocks", order);
                            stage.note("committed", stage.committed("orders"));
                            gate.open();
                            stage.settle();
                            stage.note("then", order.subList(4, 7));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        while it blocks: [x1, x2, y1, y2]
                        committed: 0@0
                        then: [b1, b2, b3]
                        committed: 0@7
                        """);
    }

    private static Scenario byPartition() {
        return Scenario.of(
                        "a partition that blocks holds up itself alone, by PARTITION and by RECORD_KEY without keys",
                        "5.1")
                .play(
                        stage -> {
                            for (LaneKey key : LaneKey.values()) {
                                String topic = "orders-" + key;
                                stage.topic(topic, 2);
                                stage.write(topic, 0, "b1", "b2");
                                stage.write(topic, 1, "x1", "x2", "x3");
                                Gate gate = stage.gate();
                                List<String> order = new CopyOnWriteArrayList<>();
                                TestApp<NoState> app = stage.start(
                                        stage.handled(
                                                stage.tracked(topic).group(stage.name(topic)), (value, context) -> {
                                                    if (value.startsWith("b")) {
                                                        gate.pass();
                                                    }
                                                    order.add(value);
                                                    return HandlerOutcome.ack();
                                                }),
                                        mount -> mount.workersByKey(2, key));
                                stage.eventually(
                                        "the other is through",
                                        () -> Stage.counts(app).acked() == 3);
                                gate.open();
                                app.settle();
                                stage.note(key.name(), order);
                            }
                        },
                        """
                        PARTITION: [x1, x2, x3, b1, b2]
                        RECORD_KEY: [x1, x2, x3, b1, b2]
                        """);
    }

    private static Scenario randomRetries() {
        return Scenario.of("many keys, few workers and retries: one at a time and in order for each key", "5.1", "3.4")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            for (int i = 0; i < 60; i++) {
                                stage.writeKeyed("orders", "key" + i % 7, Integer.toString(i));
                            }
                            Map<Integer, Integer> last = new ConcurrentHashMap<>();
                            Set<Integer> running = ConcurrentHashMap.newKeySet();
                            List<String> wrong = new CopyOnWriteArrayList<>();
                            TestApp<NoState> app = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> {
                                        int number = Integer.parseInt(value);
                                        int key = number % 7;
                                        if (!running.add(key)) {
                                            wrong.add(value + " runs beside another of its key");
                                        }
                                        stage.busy(Duration.ofMillis(number * 5 % 4));
                                        running.remove(key);
                                        if (context.attempt() <= number % 3) {
                                            return HandlerOutcome.retry();
                                        }
                                        Integer before = last.put(key, number);
                                        if (before != null && before > number) {
                                            wrong.add(value + " after " + before);
                                        }
                                        return HandlerOutcome.ack();
                                    }),
                                    mount -> mount.workersByKey(3, LaneKey.RECORD_KEY)
                                            .retryBackoff(Duration.ofMillis(2), Duration.ofMillis(4)));
                            stage.settle();
                            stage.note("wrong", wrong);
                            stage.note("acked", Stage.counts(app).acked());
                            stage.note("retried", Stage.counts(app).retried());
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        wrong: []
                        acked: 60
                        retried: 60
                        committed: 0@60
                        """);
    }

    private static Scenario bounded() {
        int poll = 5;
        return Scenario.of("a partition pauses at its share; it holds at most one poll more, and resumes", "5.2")
                .play(
                        stage -> {
                            stage.topic("orders", 2);
                            for (int i = 0; i < 50; i++) {
                                stage.write("orders", 0, "a" + i);
                                stage.write("orders", 1, "b" + i);
                            }
                            Gate gate = stage.gate();
                            TestApp<NoState> app = stage.start(
                                    stage.handled(
                                            stage.tracked("orders").config("max.poll.records", poll),
                                            (value, context) -> {
                                                gate.pass();
                                                return HandlerOutcome.ack();
                                            }),
                                    mount -> mount.workersByKey(2).inFlightLimit(20, 1 << 20));
                            stage.eventually(
                                    "both are paused",
                                    () -> Stage.health(app).partitions().stream()
                                                    .filter(Health.Partition::paused)
                                                    .count()
                                            == 2);
                            Stage.health(app).partitions().stream()
                                    .map(partition ->
                                            partition.openRecords() >= 10 && partition.openRecords() <= 10 + poll)
                                    .forEach(within -> stage.note("within its share", within));
                            gate.open();
                            stage.settle();
                            stage.note("acked", Stage.counts(app).acked());
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        within its share: true
                        within its share: true
                        acked: 100
                        committed: 0@50 1@50
                        """);
    }

    private static Scenario starvesNobody() {
        return Scenario.of("one blocked partition does not starve the other", "5.2")
                .play(
                        stage -> {
                            stage.topic("orders", 2);
                            for (int i = 0; i < 100; i++) {
                                stage.write("orders", 0, "blocked" + i);
                                stage.write("orders", 1, "flows" + i);
                            }
                            Gate gate = stage.gate();
                            TestApp<NoState> app = stage.start(
                                    stage.handled(
                                            stage.tracked("orders").config("max.poll.records", 10),
                                            (value, context) -> {
                                                if (value.startsWith("blocked")) {
                                                    gate.pass();
                                                }
                                                return HandlerOutcome.ack();
                                            }),
                                    mount -> mount.workersByKey(2).inFlightLimit(40, 1 << 20));
                            stage.eventuallyCommitted("orders", "0@0 1@100");
                            stage.note("acked", Stage.counts(app).acked());
                            gate.open();
                            stage.settle();
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        acked: 100
                        committed: 0@100 1@100
                        """);
    }

    private static Scenario slowHandler() {
        return Scenario.of("a handler slower than max.poll.interval.ms keeps its member in the group", "5.2", "3.8")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "slow", "b", "c");
                            TestApp<NoState> app = stage.start(
                                    stage.handled(
                                            stage.tracked("orders")
                                                    .config("max.poll.interval.ms", 1_000)
                                                    .config("max.poll.records", 1),
                                            (value, context) -> {
                                                if (value.equals("slow")) {
                                                    stage.busy(Duration.ofMillis(2_500));
                                                }
                                                return HandlerOutcome.ack();
                                            }),
                                    mount -> mount.inFlightLimit(1, 1 << 20).drainTimeout(Duration.ofMillis(400)));
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            stage.note("rebalances", Stage.counts(app).rebalances());
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        handled: slow#1 ack, b#1 ack, c#1 ack
                        rebalances: 1
                        committed: 0@3
                        """);
    }

    private static Scenario freedSlot() {
        return Scenario.of("a freed slot is used at once: room for one record flows", "5.3", "5.2")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            for (int i = 0; i < 40; i++) {
                                stage.write("orders", 0, "v" + i);
                            }
                            Instant begin = stage.now();
                            TestApp<NoState> app = stage.start(
                                    stage.handled(
                                            stage.tracked("orders")
                                                    .config("max.poll.records", 1)
                                                    .config("fetch.max.wait.ms", 20_000),
                                            (value, context) -> HandlerOutcome.ack()),
                                    mount -> mount.inFlightLimit(1, 1 << 20));
                            stage.eventually(
                                    "all are acked", () -> Stage.counts(app).acked() == 40);
                            stage.note(
                                    "in less than a poll",
                                    Duration.between(begin, stage.now()).compareTo(Duration.ofSeconds(15)) < 0);
                        },
                        """
                        in less than a poll: true
                        """);
    }
}
