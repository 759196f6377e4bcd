package io.settlestream.conformance.rules;

import io.settlestream.HandlerOutcome;
import io.settlestream.NoState;
import io.settlestream.StartupException;
import io.settlestream.kafka.KafkaPartitions;
import io.settlestream.kafka.KafkaPosition;
import io.settlestream.kafka.KafkaTopics;
import io.settlestream.kafka.StartOffset;
import io.settlestream.testing.TestApp;
import java.util.List;
import java.util.regex.Pattern;

/** Rule 9.1: more than one topic, and partitions without being a member. */
final class SourceSetRules {

    private SourceSetRules() {}

    static List<Scenario> scenarios() {
        return List.of(
                list(),
                pattern(),
                retries(),
                partitionsInAGroup(),
                partitionsWithoutGroup(),
                laterPartition(),
                notBoth(),
                membersElsewhere());
    }

    private static Scenario list() {
        return Scenario.of(
                        "a list of topics is one subscription, also with one that appears later", "9.1", "9.3", "3.10")
                .play(
                        stage -> {
                            stage.topic("eu", 1);
                            stage.topic("us", 2);
                            stage.write("eu", 0, "a");
                            TestApp<NoState> app = stage.start(stage.handled(
                                    stage.tracked(KafkaTopics.of(
                                                    stage.name("eu"), stage.name("us"), stage.name("asia")))
                                            .startOffset(StartOffset.LATEST),
                                    (value, context) -> HandlerOutcome.ack()));
                            stage.eventually(
                                    "what exists is assigned",
                                    () -> Stage.health(app).partitions().size() == 3);
                            stage.write("eu", 0, "b");
                            stage.write("us", 1, "c");
                            stage.topic("asia", 1);
                            stage.write("asia", 0, "d");
                            stage.eventuallyCommitted("asia", "0@1");
                            stage.settle();
                            stage.note("handled", Seen.sorted(app));
                            stage.note("eu", stage.committed("eu"));
                            stage.note("us", stage.committed("us"));
                        },
                        """
                        handled: b#1 ack, c#1 ack, d#1 ack
                        eu: 0@2
                        us: 0@0 1@1
                        """);
    }

    private static Scenario pattern() {
        return Scenario.of(
                        "a pattern reads the topics it matches whole; one that appears later from its beginning",
                        "9.1",
                        "9.3",
                        "3.10")
                .play(
                        stage -> {
                            stage.topic("orders-eu", 1);
                            stage.topic("no-orders-eu", 1);
                            stage.write("orders-eu", 0, "old");
                            TestApp<NoState> app = stage.start(stage.handled(
                                    stage.tracked(KafkaTopics.matching(Pattern.compile(stage.name("orders-.*"))))
                                            .startOffset(StartOffset.LATEST),
                                    (value, context) -> HandlerOutcome.ack()));
                            stage.write("orders-eu", 0, "new");
                            stage.write("no-orders-eu", 0, "another's");
                            stage.topic("orders-us", 1);
                            stage.write("orders-us", 0, "first");
                            stage.eventuallyCommitted("orders-us", "0@1");
                            stage.settle();
                            stage.note("handled", Seen.sorted(app));
                            stage.note("eu", stage.committed("orders-eu"));
                            stage.note("not matched", stage.committed("no-orders-eu"));
                        },
                        """
                        handled: first#1 ack, new#1 ack
                        eu: 0@2
                        not matched:\s
                        """);
    }

    private static Scenario retries() {
        return Scenario.of(
                        "a retry in one topic of a set comes back in place, and holds only its own partition",
                        "7.7",
                        "3.4")
                .play(
                        stage -> {
                            stage.topic("one", 1);
                            stage.topic("two", 1);
                            stage.write("one", 0, "a", "b");
                            stage.write("two", 0, "c");
                            TestApp<NoState> app = stage.start(
                                    stage.handled(
                                            stage.tracked(KafkaTopics.of(stage.name("one"), stage.name("two"))),
                                            (value, context) -> value.equals("a") && context.attempt() < 3
                                                    ? HandlerOutcome.retry()
                                                    : HandlerOutcome.ack()),
                                    mount -> mount.workersByKey(2));
                            stage.settle();
                            stage.note("handled", Seen.sorted(app));
                            stage.note("one", stage.committed("one"));
                            stage.note("two", stage.committed("two"));
                        },
                        """
                        handled: a#1 retry, a#2 retry, a#3 ack, b#1 ack, c#1 ack
                        one: 0@2
                        two: 0@1
                        """);
    }

    private static Scenario partitionsInAGroup() {
        return Scenario.of(
                        "named partitions with a group go on where they were, and leave the others alone", "9.1", "3.3")
                .play(
                        stage -> {
                            stage.topic("orders", 3);
                            writeAll(stage, "a");
                            TestApp<NoState> app = stage.start(stage.handled(
                                    stage.tracked(KafkaPartitions.of(stage.name("orders"), 0, 2))
                                            .group(stage.group()),
                                    (value, context) -> HandlerOutcome.ack()));
                            stage.settle();
                            stage.note("committed", stage.committed("orders"));
                            app.stop();
                            writeAll(stage, "b");
                            app.restart();
                            stage.settle();
                            stage.note("handled", Seen.sorted(app));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        committed: 0@1 2@1
                        handled: a0#1 ack, a2#1 ack, b0#1 ack, b2#1 ack
                        committed: 0@2 2@2
                        """);
    }

    private static Scenario partitionsWithoutGroup() {
        return Scenario.of(
                        "without a group nothing is committed, and each start begins where it is told to, retries or not",
                        "9.1",
                        "9.2")
                .play(
                        stage -> {
                            stage.topic("orders", 3);
                            writeAll(stage, "a");
                            TestApp<NoState> app = stage.start(stage.app(
                                    stage.broker(),
                                    scope -> scope.include(stage.handled(
                                                    stage.tracked(KafkaPartitions.of(stage.name("orders"), 1)),
                                                    (value, context) -> context.attempt() == 1
                                                            ? HandlerOutcome.retry()
                                                            : HandlerOutcome.ack()))
                                            .name("in")));
                            stage.settle();
                            stage.note("in a group", Stage.health(app).group());
                            app.stop();
                            stage.write("orders", 1, "b1");
                            app.restart();
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            app.stop();
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        in a group: Optional.empty
                        handled: a1#1 retry, a1#2 ack, a1#1 retry, a1#2 ack, b1#1 retry, b1#2 ack
                        committed:\s
                        """);
    }

    private static Scenario laterPartition() {
        return Scenario.of(
                        "a partition, or a topic, that is missing opens empty and is read from its beginning when it appears",
                        "9.1",
                        "9.3",
                        "3.10")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "old");
                            TestApp<NoState> app = stage.start(stage.app(scope -> {
                                scope.include(stage.handled(
                                                stage.tracked(KafkaPartitions.of(stage.name("orders"), 0, 1))
                                                        .startOffset(StartOffset.LATEST),
                                                (value, context) -> HandlerOutcome.ack()))
                                        .name("in");
                                scope.include(stage.handled(
                                                stage.auto(KafkaPartitions.of(stage.name("none"), 0))
                                                        .startOffset(StartOffset.LATEST),
                                                (value, context) -> HandlerOutcome.ack()))
                                        .name("none");
                            }));
                            stage.note(
                                    "partitions",
                                    app.health().subscriptions().stream()
                                            .map(subscription ->
                                                    subscription.partitions().size())
                                            .toList());
                            stage.write("orders", 0, "new");
                            stage.addPartitions("orders", 2);
                            stage.write("orders", 1, "first");
                            stage.topic("none", 1);
                            stage.write("none", 0, "a");
                            stage.eventually(
                                    "all are acked",
                                    () -> app.health()
                                                            .subscriptions()
                                                            .get(0)
                                                            .counts()
                                                            .acked()
                                                    == 2
                                            && app.health()
                                                            .subscriptions()
                                                            .get(1)
                                                            .counts()
                                                            .acked()
                                                    == 1);
                            stage.note("handled", Seen.sorted(app));
                            stage.note("of the topic", Seen.calls(app.subscription("none")));
                        },
                        """
                        partitions: [1, 0]
                        handled: first#1 ack, new#1 ack
                        of the topic: a#1 ack
                        """);
    }

    private static Scenario notBoth() {
        return Scenario.of("a member and named partitions in one group are refused at startup", "9.1", "9.2")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            try {
                                stage.start(stage.app(scope -> {
                                    scope.include(stage.handled(
                                            stage.tracked("orders"), (value, context) -> HandlerOutcome.ack()));
                                    scope.include(stage.handled(
                                            stage.tracked(KafkaPartitions.of(stage.name("orders"), 0))
                                                    .group(stage.group()),
                                            (value, context) -> HandlerOutcome.ack()));
                                }));
                            } catch (StartupException e) {
                                stage.note("problems", e.problems().size());
                                stage.note(
                                        "names the way out",
                                        e.problems().get(0).contains("KafkaPartitions.group(...)"));
                            }
                        },
                        """
                        problems: 1
                        names the way out: true
                        """);
    }

    private static Scenario membersElsewhere() {
        return Scenario.of(
                        "named partitions in a group that has members elsewhere do not start, and say why",
                        "9.1",
                        "9.3")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a");
                            stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> HandlerOutcome.ack()));
                            stage.settle();
                            KafkaPartitions source = stage.tracked(KafkaPartitions.of(stage.name("orders"), 0))
                                    .group(stage.group())
                                    .startAt(KafkaPosition.earliest());
                            try {
                                stage.start(stage.handled(source, (value, context) -> HandlerOutcome.ack()));
                            } catch (StartupException e) {
                                stage.note("says why", e.getMessage().contains(stage.group() + " has members"));
                                stage.note("names the way out", e.getMessage().contains("KafkaPartitions.group(...)"));
                            }
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        says why: true
                        names the way out: true
                        committed: 0@1
                        """);
    }

    private static void writeAll(Stage stage, String value) {
        for (int partition = 0; partition < 3; partition++) {
            stage.write("orders", partition, value + partition);
        }
    }
}
