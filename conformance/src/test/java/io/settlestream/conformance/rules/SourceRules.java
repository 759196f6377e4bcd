package io.settlestream.conformance.rules;

import io.settlestream.HandlerOutcome;
import io.settlestream.NoState;
import io.settlestream.StartupException;
import io.settlestream.kafka.StartOffset;
import io.settlestream.testing.TestApp;
import java.util.List;

/** Section 9: groups, and where reading begins. */
final class SourceRules {

    private SourceRules() {}

    static List<Scenario> scenarios() {
        return List.of(twoGroups(), groups(), noGroup(), committedOnly(), overStartOffset(), missingTopic());
    }

    private static Scenario twoGroups() {
        return Scenario.of(
                        "two subscriptions of one topic, each in a group of its own, see every record",
                        "9.1",
                        "9.2",
                        "3.1")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a", "b");
                            TestApp<NoState> app = stage.start(stage.app(scope -> {
                                scope.include(stage.handled(
                                                stage.tracked("orders"), (value, context) -> HandlerOutcome.ack()))
                                        .name("one");
                                scope.include(stage.handled(
                                                stage.tracked("orders").group(stage.name("other")),
                                                (value, context) -> context.attempt() == 1
                                                        ? HandlerOutcome.retry()
                                                        : HandlerOutcome.ack()))
                                        .name("two");
                            }));
                            stage.settle();
                            stage.note("one", Seen.calls(app.subscription("one")));
                            stage.note("two", Seen.calls(app.subscription("two")));
                            stage.note("committed by one", stage.committed("orders"));
                            stage.note("committed by two", stage.committed(stage.name("other"), "orders"));
                        },
                        """
                        one: a#1 ack, b#1 ack
                        two: a#1 retry, a#2 ack, b#1 retry, b#2 ack
                        committed by one: 0@2
                        committed by two: 0@2
                        """);
    }

    private static Scenario groups() {
        return Scenario.of("the group is the subscription's, else the broker's default", "9.2")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.topic("own", 1);
                            stage.write("orders", 0, "a");
                            stage.write("own", 0, "b");
                            stage.start(stage.app(scope -> {
                                scope.include(stage.handled(
                                        stage.tracked("orders"), (value, context) -> HandlerOutcome.ack()));
                                scope.include(stage.handled(
                                        stage.tracked("own").group(stage.name("own-group")),
                                        (value, context) -> HandlerOutcome.ack()));
                            }));
                            stage.settle();
                            stage.note("default", stage.committed("orders") + " " + stage.committed("own"));
                            stage.note(
                                    "own",
                                    stage.committed(stage.name("own-group"), "orders")
                                            + stage.committed(stage.name("own-group"), "own"));
                        },
                        """
                        default: 0@1\s
                        own: 0@1
                        """);
    }

    private static Scenario noGroup() {
        return Scenario.of("without any group the start is refused, naming both places for it", "9.2")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            try {
                                stage.start(stage.app(
                                        stage.brokerWithoutGroup(),
                                        scope -> scope.include(stage.handled(
                                                stage.tracked("orders"), (value, context) -> HandlerOutcome.ack()))));
                            } catch (StartupException e) {
                                stage.note("problems", e.problems().size());
                                String problem = e.problems().get(0);
                                stage.note(
                                        "names both", problem.contains("group(") && problem.contains("defaultGroup"));
                            }
                        },
                        """
                        problems: 1
                        names both: true
                        """);
    }

    private static Scenario committedOnly() {
        return Scenario.of("under COMMITTED a start without a committed offset is refused", "9.2")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a");
                            try {
                                stage.start(stage.handled(
                                        stage.tracked("orders").startOffset(StartOffset.COMMITTED),
                                        (value, context) -> HandlerOutcome.ack()));
                            } catch (StartupException e) {
                                stage.note("names the partition", e.getMessage().contains(stage.name("orders") + "-0"));
                            }
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        names the partition: true
                        committed:\s
                        """);
    }

    private static Scenario overStartOffset() {
        return Scenario.of("a committed offset counts more than any StartOffset", "9.2", "3.7")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a", "b");
                            TestApp<NoState> first = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> HandlerOutcome.ack()));
                            stage.settle();
                            stage.stop(first);
                            for (StartOffset start : StartOffset.values()) {
                                stage.write("orders", 0, "before " + start);
                                TestApp<NoState> next = stage.start(stage.handled(
                                        stage.tracked("orders").startOffset(start),
                                        (value, context) -> HandlerOutcome.ack()));
                                stage.settle();
                                stage.note("handled", Seen.calls(next));
                                stage.stop(next);
                            }
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        handled: before COMMITTED#1 ack
                        handled: before EARLIEST#1 ack
                        handled: before LATEST#1 ack
                        committed: 0@5
                        """);
    }

    private static Scenario missingTopic() {
        return Scenario.of("a missing topic opens empty and joins from its beginning when it appears", "9.3", "3.10")
                .play(
                        stage -> {
                            TestApp<NoState> app = stage.start(stage.handled(
                                    stage.tracked("orders").startOffset(StartOffset.LATEST),
                                    (value, context) -> HandlerOutcome.ack()));
                            stage.note(
                                    "partitions", Stage.health(app).partitions().size());
                            stage.note("status", app.health().status());
                            stage.topic("orders", 2);
                            stage.write("orders", 0, "a");
                            stage.write("orders", 1, "b");
                            stage.eventuallyCommitted("orders", "0@1 1@1");
                            stage.note("handled", Seen.sorted(app));
                        },
                        """
                        partitions: 0
                        status: RUNNING
                        handled: a#1 ack, b#1 ack
                        """);
    }
}
