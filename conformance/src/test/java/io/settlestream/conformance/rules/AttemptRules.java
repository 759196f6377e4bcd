package io.settlestream.conformance.rules;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.settlestream.ExceptionPolicy;
import io.settlestream.HandlerOutcome;
import io.settlestream.Health;
import io.settlestream.Mount;
import io.settlestream.NoState;
import io.settlestream.kafka.KafkaPosition;
import io.settlestream.testing.TestApp;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.CoordinatorLoadInProgressException;

/** Rule 7.4: attempts that outlive the process, and starts after one that did not come to an end. */
final class AttemptRules {

    private static final Duration LONG = Duration.ofHours(1);
    private static final String CRASHES = "a process that ends at once";

    private AttemptRules() {}

    static List<Scenario> scenarios() {
        return List.of(
                overRestarts(),
                stopsTheService(),
                toAnotherMember(),
                afterACrash(),
                notOurs(),
                whatIsNoted(),
                manyFailing(),
                fullSpeed(),
                stoppedWhileSlow(),
                soughtWhileSlow(),
                commitsFailWhileSlow());
    }

    private static java.util.function.Consumer<Mount> cap(Stage stage, int attempts) {
        return mount -> mount.maxAttempts(attempts).deadLetter(stage.name("dead"));
    }

    private static HandlerOutcome badIsDelayed(String value) {
        return value.startsWith("bad") ? HandlerOutcome.retryAfter(LONG) : HandlerOutcome.ack();
    }

    /** What is noted next to what is committed of a partition. */
    private static String note(Stage stage, int partition) {
        TopicPartition name = new TopicPartition(stage.name("orders"), partition);
        try (Consumer<byte[], byte[]> reader = reader(stage)) {
            OffsetAndMetadata committed = reader.committed(Set.of(name)).get(name);
            return committed == null ? "nothing" : committed.metadata();
        }
    }

    private static Consumer<byte[], byte[]> reader(Stage stage) {
        return stage.clients()
                .consumer(Map.of(
                        ConsumerConfig.GROUP_ID_CONFIG,
                        stage.group(),
                        ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG,
                        false));
    }

    private static Scenario overRestarts() {
        return Scenario.of(
                        "failed attempts survive restarts until the cap, each record's own, whatever its partition and its"
                                + " neighbours do",
                        "7.4",
                        "7.1")
                .play(
                        stage -> {
                            stage.topic("orders", 2);
                            stage.topic("dead", 1);
                            stage.write("orders", 0, "a", "bad", "b", "c");
                            stage.write("orders", 1, "v");
                            TestApp<NoState> app = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> badIsDelayed(value)),
                                    cap(stage, 3));
                            stage.eventuallyCommitted("orders", "0@1 1@1");
                            stage.eventually(
                                    "all others are acked",
                                    () -> Stage.counts(app).acked() == 4);
                            app.stop();
                            stage.note("noted", note(stage, 0) + " and " + note(stage, 1));
                            stage.write("orders", 1, "bad too");
                            app.restart();
                            stage.eventually(
                                    "both are delayed", () -> Stage.counts(app).retried() == 2);
                            app.stop();
                            stage.note("noted", note(stage, 0) + " and " + note(stage, 1));
                            app.restart();
                            stage.eventuallyCommitted("orders", "0@4 1@1");
                            stage.note("dead", stage.publishedValues("dead"));
                            stage.note("bad", attempts(app, "bad"));
                            stage.note("bad too", attempts(app, "bad too"));
                        },
                        """
                        noted: settlestream/1 at=1 failed=0:1 and\s
                        noted: settlestream/1 at=1 failed=0:2 and settlestream/1 at=1 failed=0:1
                        dead: [bad]
                        bad: [1, 2, 3]
                        bad too: [1, 2]
                        """);
    }

    private static Scenario stopsTheService() {
        return Scenario.of(
                        "a record whose handler stops the service, by an Error or under FAIL_FAST, meets its cap over the"
                                + " starts",
                        "7.4",
                        "7.1",
                        "1.5")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.topic("dead", 1);
                            stage.write("orders", 0, "a", "error", "b", "thrown", "c");
                            TestApp<NoState> app = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> switch (value) {
                                        case "error" -> throw new StackOverflowError("too deep");
                                        case "thrown" -> throw new IllegalStateException("not this one");
                                        default -> HandlerOutcome.ack();
                                    }),
                                    mount -> mount.maxAttempts(2)
                                            .onException(ExceptionPolicy.FAIL_FAST)
                                            .deadLetter(stage.name("dead")));
                            for (int starts = 1; starts < 5; starts++) {
                                stage.eventually(
                                        "it has failed", () -> app.health().status() == Health.Status.FAILED);
                                app.stop();
                                app.restart();
                            }
                            stage.eventuallyCommitted("orders", "0@5");
                            stage.note("error", attempts(app, "error"));
                            stage.note("thrown", attempts(app, "thrown"));
                            stage.note("dead", stage.publishedValues("dead"));
                        },
                        """
                        error: [1, 2]
                        thrown: [1, 2]
                        dead: [error, thrown]
                        """);
    }

    private static List<Integer> attempts(TestApp<?> app, String value) {
        return app.subscription("in").calls().stream()
                .flatMap(call -> call.elements().stream())
                .filter(element -> value.equals(element.value()))
                .map(element -> element.attempt())
                .toList();
    }

    private static Scenario toAnotherMember() {
        return Scenario.of("failed attempts go with the partition to another member", "7.4", "3.8")
                .withEveryProtocol()
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.topic("dead", 1);
                            stage.write("orders", 0, "bad");
                            TestApp<NoState> first = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> badIsDelayed(value)),
                                    cap(stage, 2));
                            stage.eventually(
                                    "it is delayed", () -> Stage.counts(first).retried() == 1);
                            TestApp<NoState> second = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> badIsDelayed(value)),
                                    cap(stage, 2));
                            first.stop();
                            stage.eventuallyCommitted("orders", "0@1");
                            stage.note("dead", stage.publishedValues("dead"));
                            stage.note(
                                    "all attempts",
                                    attempts(first, "bad").size()
                                            + attempts(second, "bad").size());
                        },
                        """
                        dead: [bad]
                        all attempts: 2
                        """);
    }

    private static Scenario afterACrash() {
        return Scenario.of("failed attempts survive a crash once a commit interval has passed", "7.4")
                .inProcessOnly(CRASHES)
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.topic("dead", 1);
                            stage.write("orders", 0, "bad1", "bad2", "a");
                            TestApp<NoState> app = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> badIsDelayed(value)),
                                    cap(stage, 2));
                            stage.eventually(
                                    "they are delayed", () -> Stage.counts(app).retried() == 2);
                            stage.pass(Duration.ofMillis(2 * Stage.COMMIT_INTERVAL_MS));
                            app.crash();
                            stage.note("noted", note(stage, 0));
                            app.restart();
                            stage.eventuallyCommitted("orders", "0@3");
                            stage.note("handled", Seen.sorted(app));
                            stage.note("dead", stage.publishedValues("dead"));
                        },
                        """
                        noted: settlestream/1 at=0 run=1 failed=0:1,1:1
                        handled: a#1 ack, a#1 ack, bad1#1 retry after PT1H, bad1#2 retry after PT1H, bad2#1 retry after PT1H, bad2#2 retry after PT1H
                        dead: [bad1, bad2]
                        """);
    }

    private static Scenario notOurs() {
        return Scenario.of(
                        "metadata that somebody else has committed, or of another offset, brings no record nearer to its cap",
                        "7.4",
                        "12.2")
                .play(
                        stage -> {
                            stage.topic("orders", 4);
                            stage.topic("dead", 1);
                            List<String> texts = List.of(
                                    "mirrored by somebody",
                                    "settlestream/1 at=7 run=1 alone=0:5 failed=0:9",
                                    "settlestream/1 at=0 failed=0:9,x:1",
                                    "settlestream/1 at=0 failed=0:9" + ",1:9".repeat(300));
                            Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
                            for (int i = 0; i < 4; i++) {
                                stage.write("orders", i, "v" + i);
                                offsets.put(
                                        new TopicPartition(stage.name("orders"), i),
                                        new OffsetAndMetadata(0, texts.get(i)));
                            }
                            try (Consumer<byte[], byte[]> tool = reader(stage)) {
                                tool.assign(offsets.keySet());
                                tool.commitSync(offsets);
                            }
                            TestApp<NoState> app = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> HandlerOutcome.ack()),
                                    cap(stage, 1));
                            stage.settle();
                            stage.note("handled", Seen.sorted(app));
                            stage.note("dead", stage.publishedValues("dead"));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        handled: v0#1 ack, v1#1 ack, v2#1 ack, v3#1 ack
                        dead: []
                        committed: 0@1 1@1 2@1 3@1
                        """);
    }

    private static Scenario whatIsNoted() {
        return Scenario.of(
                        "with nothing open nothing is noted, but with a cap that its owner goes on, until it has stopped",
                        "7.4")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a");
                            TestApp<NoState> without = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> HandlerOutcome.ack()));
                            stage.eventuallyCommitted("orders", "0@1");
                            stage.note("without a cap", note(stage, 0));
                            stage.stop(without);
                            TestApp<NoState> capped = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> HandlerOutcome.ack()),
                                    mount -> mount.maxAttempts(2));
                            stage.note("with a cap", note(stage, 0));
                            stage.write("orders", 0, "b");
                            stage.eventuallyCommitted("orders", "0@2");
                            stage.note("with a cap", note(stage, 0));
                            stage.stop(capped);
                            stage.note("stopped", note(stage, 0));
                        },
                        """
                        without a cap:\s
                        with a cap: settlestream/1 at=1 run=1
                        with a cap: settlestream/1 at=2 run=1
                        stopped:\s
                        """);
    }

    private static Scenario manyFailing() {
        int count = 800;
        return Scenario.of(
                        "of many failing records as many are noted as fit into 1 KiB, and lag reaches 0", "7.4", "3.2")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            writeMany(stage, count);
                            AtomicBoolean healed = new AtomicBoolean();
                            TestApp<NoState> app = stage.start(
                                    stage.handled(
                                            stage.tracked("orders"),
                                            (value, context) -> healed.get()
                                                    ? HandlerOutcome.ack()
                                                    : HandlerOutcome.retryAfter(Duration.ofMillis(500))),
                                    mount -> mount.maxAttempts(1000));
                            stage.eventually(
                                    "all have failed", () -> Stage.counts(app).retried() >= count);
                            stage.eventually(
                                    "there is no room for more",
                                    () -> note(stage, 0).length() > 1000);
                            stage.note("length is at most 1024", note(stage, 0).length() <= 1024);
                            healed.set(true);
                            stage.eventuallyCommitted("orders", "0@" + count);
                            stage.settle();
                            stage.note("noted", note(stage, 0));
                        },
                        """
                        length is at most 1024: true
                        noted: settlestream/1 at=800 run=1
                        """);
    }

    private static void writeMany(Stage stage, int count) {
        try (Producer<byte[], byte[]> producer = stage.clients().producer(Map.of())) {
            for (int i = 0; i < count; i++) {
                var unused = producer.send(new ProducerRecord<>(
                        stage.name("orders"), 0, null, Integer.toString(i).getBytes(UTF_8)));
            }
            producer.flush();
        }
    }

    /** Starts an application whose first record ends the process at its first attempt, and starts it again. */
    private static TestApp<NoState> restartedAfterACrash(Stage stage, Duration busy) {
        AtomicBoolean crashed = new AtomicBoolean();
        Gate gate = stage.gate();
        TestApp<NoState> app = stage.start(
                stage.handled(stage.tracked("orders").config("auto.commit.interval.ms", 5_000), (value, context) -> {
                    if (!crashed.get()) {
                        gate.pass();
                    }
                    if (!busy.isZero()) {
                        stage.busy(busy);
                    }
                    return HandlerOutcome.ack();
                }),
                cap(stage, 2));
        stage.eventually("it is in hand", () -> app.subscription("in").calls().size() == 1);
        app.crash();
        crashed.set(true);
        gate.open();
        app.restart();
        return app;
    }

    private static List<Integer> handledAfter(TestApp<NoState> app) {
        return app.subscription("in").calls().stream()
                .skip(1)
                .map(call ->
                        Integer.valueOf(String.valueOf(call.elements().get(0).value())))
                .toList();
    }

    private static Scenario fullSpeed() {
        int count = 20_000;
        return Scenario.of("a start after a crash is slow at first, and keeps order and pace", "7.4", "3.2")
                .inProcessOnly(CRASHES)
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.topic("dead", 1);
                            writeMany(stage, count);
                            TestApp<NoState> app = restartedAfterACrash(stage, Duration.ZERO);
                            // Not before: the group waits for the member that crashed.
                            stage.eventually(
                                    "it goes on", () -> !handledAfter(app).isEmpty());
                            Instant begin = stage.now();
                            stage.eventually(
                                    "all are handled", () -> Stage.counts(app).acked() == count);
                            stage.note(
                                    "within two seconds",
                                    Duration.between(begin, stage.now()).compareTo(Duration.ofSeconds(2)) < 0);
                            stage.note(
                                    "in order",
                                    handledAfter(app)
                                            .equals(IntStream.range(0, count)
                                                    .boxed()
                                                    .toList()));
                            stage.settle();
                            stage.note("committed", stage.committed("orders"));
                            stage.note("dead", stage.publishedValues("dead"));
                        },
                        """
                        within two seconds: true
                        in order: true
                        committed: 0@20000
                        dead: []
                        """);
    }

    private static Scenario stoppedWhileSlow() {
        return Scenario.of(
                        "a stop in the middle of a slow start is a proper end: nothing handled is repeated",
                        "10.3",
                        "7.4")
                .inProcessOnly(CRASHES)
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.topic("dead", 1);
                            writeMany(stage, 40);
                            TestApp<NoState> app = restartedAfterACrash(stage, Duration.ofMillis(20));
                            stage.eventually(
                                    "some are handled", () -> Stage.counts(app).acked() >= 5);
                            app.stop();
                            stage.note("noted", note(stage, 0));
                            app.restart();
                            stage.settle();
                            stage.note(
                                    "each once, in order",
                                    handledAfter(app)
                                            .equals(IntStream.range(0, 40)
                                                    .boxed()
                                                    .toList()));
                        },
                        """
                        noted:\s
                        each once, in order: true
                        """);
    }

    private static Scenario soughtWhileSlow() {
        return Scenario.of(
                        "a seek in the middle of a slow start goes where it is asked to, and all is handled",
                        "9.4",
                        "7.4")
                .inProcessOnly(CRASHES)
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.topic("dead", 1);
                            writeMany(stage, 40);
                            TestApp<NoState> app = restartedAfterACrash(stage, Duration.ofMillis(20));
                            stage.eventually(
                                    "some are handled", () -> Stage.counts(app).acked() >= 5);
                            app.subscription("in").seek(KafkaPosition.offset(30));
                            stage.settle();
                            List<Integer> all = handledAfter(app);
                            stage.note("the last ones", all.subList(all.size() - 10, all.size()));
                            stage.note("before them", all.size() < 30);
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        the last ones: [30, 31, 32, 33, 34, 35, 36, 37, 38, 39]
                        before them: true
                        committed: 0@40
                        """);
    }

    private static Scenario commitsFailWhileSlow() {
        return Scenario.of(
                        "while commits fail a slow start hands out nothing whose end could not be noted, and goes on after",
                        "7.4",
                        "3.3")
                .inProcessOnly(CRASHES)
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.topic("dead", 1);
                            writeMany(stage, 40);
                            TestApp<NoState> app = restartedAfterACrash(stage, Duration.ofMillis(20));
                            stage.inProcess()
                                    .faults()
                                    .commit(stage.group())
                                    .times(Integer.MAX_VALUE)
                                    .fail(new CoordinatorLoadInProgressException("on request"));
                            stage.pass(Duration.ofSeconds(30));
                            stage.note("handled", handledAfter(app).size() <= 1);
                            stage.inProcess().faults().clear();
                            stage.settle();
                            stage.note(
                                    "each once, in order",
                                    handledAfter(app)
                                            .equals(IntStream.range(0, 40)
                                                    .boxed()
                                                    .toList()));
                            stage.note("healthy", app.health().healthy());
                        },
                        """
                        handled: true
                        each once, in order: true
                        healthy: true
                        """);
    }
}
