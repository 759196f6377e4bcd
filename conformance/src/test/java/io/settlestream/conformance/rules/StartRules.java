package io.settlestream.conformance.rules;

import io.settlestream.HandlerOutcome;
import io.settlestream.NoState;
import io.settlestream.kafka.KafkaPosition;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.kafka.KafkaTopics;
import io.settlestream.kafka.StartOffset;
import io.settlestream.testing.TestApp;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/** Rule 9.2: where partitions start. */
final class StartRules {

    private StartRules() {}

    static List<Scenario> scenarios() {
        return List.of(startAt(), outsideOfTheLog(), onlyOnce(), everyProcess(), startAtTheEnd(), perTopic());
    }

    private static Scenario startAt() {
        return Scenario.of(
                        "startAt goes over what is committed, and is committed before the first delivery", "9.2", "3.7")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a", "b");
                            stage.pass(Duration.ofMillis(20));
                            Instant between = stage.now();
                            stage.pass(Duration.ofMillis(20));
                            stage.write("orders", 0, "c", "d");
                            handleAll(stage);

                            Map<String, KafkaPosition> positions = new LinkedHashMap<>();
                            positions.put("earliest", KafkaPosition.earliest());
                            positions.put("offset 3", KafkaPosition.offset(3));
                            positions.put("timestamp", KafkaPosition.timestamp(between));
                            positions.put("before all", KafkaPosition.timestamp(Instant.EPOCH.minusSeconds(1)));
                            positions.put("latest", KafkaPosition.latest());
                            positions.put("later than all", KafkaPosition.timestamp(Instant.MAX));
                            positions.forEach((name, position) -> started(stage, name, position));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        earliest: a#1 ack, b#1 ack, c#1 ack, d#1 ack
                        committed at the first delivery: 0@0
                        offset 3: d#1 ack
                        committed at the first delivery: 0@3
                        timestamp: c#1 ack, d#1 ack
                        committed at the first delivery: 0@2
                        before all: a#1 ack, b#1 ack, c#1 ack, d#1 ack
                        committed at the first delivery: 0@0
                        latest:\s
                        later than all:\s
                        committed: 0@4
                        """);
    }

    private static void handleAll(Stage stage) {
        TestApp<NoState> first =
                stage.start(stage.handled(stage.tracked("orders"), (value, context) -> HandlerOutcome.ack()));
        stage.settle();
        stage.stop(first);
    }

    private static void started(Stage stage, String name, KafkaPosition position) {
        List<String> committed = new CopyOnWriteArrayList<>();
        TestApp<NoState> app =
                stage.start(stage.handled(stage.tracked("orders").startAt(position), (value, context) -> {
                    committed.add(stage.committed("orders"));
                    return HandlerOutcome.ack();
                }));
        stage.settle();
        stage.note(name, Seen.calls(app));
        if (!committed.isEmpty()) {
            stage.note("committed at the first delivery", committed.get(0));
        }
        stage.stop(app);
    }

    private static Scenario outsideOfTheLog() {
        return Scenario.of(
                        "an offset that is not in the log counts as the nearest that is, and nothing is committed past the end",
                        "9.2",
                        "3.10",
                        "3.1")
                .play(
                        stage -> {
                            stage.topic("orders", 2);
                            stage.write("orders", 0, "a", "b", "c", "d", "e");
                            stage.write("orders", 1, "x");
                            stage.trim("orders", 0, 3);
                            TestApp<NoState> app = stage.start(stage.handled(
                                    stage.tracked("orders").startAt(KafkaPosition.offset(2)),
                                    (value, context) -> HandlerOutcome.ack()));
                            stage.eventuallyCommitted("orders", "0@5 1@1");
                            stage.note("handled", Seen.sorted(app));
                            stage.note("moved", Stage.counts(app).trimmed());
                            stage.write("orders", 1, "y");
                            stage.eventuallyCommitted("orders", "0@5 1@2");
                            stage.note("handled", Seen.sorted(app));
                        },
                        """
                        handled: d#1 ack, e#1 ack
                        moved: 2
                        handled: d#1 ack, e#1 ack, y#1 ack
                        """);
    }

    private static Scenario onlyOnce() {
        return Scenario.of(
                        "a partition that comes back starts from what is committed, and not at startAt again",
                        "9.2",
                        "3.8")
                .withEveryProtocol()
                .play(
                        stage -> {
                            stage.topic("orders", 2);
                            KafkaTopic topic = stage.tracked("orders");
                            TestApp<NoState> first = stage.start(stage.handled(
                                    topic.startAt(KafkaPosition.earliest()), (value, context) -> HandlerOutcome.ack()));
                            stage.write("orders", 0, "a0");
                            stage.write("orders", 1, "a1");
                            stage.eventuallyCommitted("orders", "0@1 1@1");
                            TestApp<NoState> second =
                                    stage.start(stage.handled(topic, (value, context) -> HandlerOutcome.ack()));
                            stage.eventually(
                                    "they share",
                                    () -> Stage.health(first).partitions().size() == 1
                                            && Stage.health(second).partitions().size() == 1);
                            stage.write("orders", 0, "b0");
                            stage.write("orders", 1, "b1");
                            stage.eventuallyCommitted("orders", "0@2 1@2");
                            second.stop();
                            stage.write("orders", 0, "c0");
                            stage.write("orders", 1, "c1");
                            stage.eventuallyCommitted("orders", "0@3 1@3");
                            stage.note("handled", Seen.sorted(first, second));
                        },
                        """
                        handled: a0#1 ack, a1#1 ack, b0#1 ack, b1#1 ack, c0#1 ack, c1#1 ack
                        """);
    }

    private static Scenario everyProcess() {
        return Scenario.of("a process that starts anew starts at startAt again", "9.2")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a", "b");
                            TestApp<NoState> app = stage.start(stage.handled(
                                    stage.auto("orders").startAt(KafkaPosition.offset(1)),
                                    (value, context) -> HandlerOutcome.ack()));
                            stage.settle();
                            app.stop();
                            stage.write("orders", 0, "c");
                            app.restart();
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        handled: b#1 ack, b#1 ack, c#1 ack
                        committed: 0@3
                        """);
    }

    private static Scenario startAtTheEnd() {
        return Scenario.of(
                        "at the end means the end at the start of the service: what appears later is read whole",
                        "9.2",
                        "9.3",
                        "3.10")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "old");
                            TestApp<NoState> app = stage.start(stage.handled(
                                    stage.tracked("orders").startAt(KafkaPosition.latest()),
                                    (value, context) -> HandlerOutcome.ack()));
                            stage.write("orders", 0, "new");
                            stage.addPartitions("orders", 2);
                            stage.write("orders", 1, "first");
                            stage.eventuallyCommitted("orders", "0@2 1@1");
                            stage.note("handled", Seen.sorted(app));
                        },
                        """
                        handled: first#1 ack, new#1 ack
                        """);
    }

    private static Scenario perTopic() {
        return Scenario.of("StartOffset counts for each partition that the group has no offset of", "9.2", "9.1")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.topic("refunds", 1);
                            stage.write("orders", 0, "a");
                            handleAll(stage);
                            stage.write("orders", 0, "b");
                            stage.write("refunds", 0, "old");
                            TestApp<NoState> app = stage.start(stage.handled(
                                    stage.tracked(KafkaTopics.of(stage.name("orders"), stage.name("refunds")))
                                            .startOffset(StartOffset.LATEST),
                                    (value, context) -> HandlerOutcome.ack()));
                            stage.write("refunds", 0, "new");
                            stage.settle();
                            stage.note("handled", Seen.sorted(app));
                            stage.note("orders", stage.committed("orders"));
                            stage.note("refunds", stage.committed("refunds"));
                        },
                        """
                        handled: b#1 ack, new#1 ack
                        orders: 0@2
                        refunds: 0@2
                        """);
    }
}
