package io.settlestream.conformance.rules;

import io.settlestream.HandlerOutcome;
import io.settlestream.NoState;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.testing.TestApp;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.errors.CoordinatorLoadInProgressException;
import org.apache.kafka.common.errors.RebalanceInProgressException;

/** Sections 2 and 3, when something goes wrong that only the in-process Kafka can let go wrong. */
final class AccidentRules {

    private static final String NO_ACCIDENTS = "an accident that a broker does not have on request";

    private AccidentRules() {}

    static List<Scenario> scenarios() {
        return List.of(
                commitInARebalance(), commitWithoutAnswer(), lateAnswer(), failingCommits(), crash(), crashUnderAuto());
    }

    private static Scenario commitInARebalance() {
        return Scenario.of(
                        "a commit that meets a rebalance is tried again and never ends the subscription", "3.8", "3.3")
                .inProcessOnly(NO_ACCIDENTS)
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            TestApp<NoState> app = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> HandlerOutcome.ack()));
                            stage.inProcess()
                                    .faults()
                                    .commit(stage.group())
                                    .times(3)
                                    .fail(new RebalanceInProgressException("on request"));
                            stage.write("orders", 0, "a", "b");
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            stage.note("status", app.health().status());
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        handled: a#1 ack, b#1 ack
                        status: RUNNING
                        committed: 0@2
                        """);
    }

    private static Scenario commitWithoutAnswer() {
        return Scenario.of("a commit whose answer is lost is made again with the newest positions", "3.3", "3.1")
                .inProcessOnly(NO_ACCIDENTS)
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            TestApp<NoState> app = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> HandlerOutcome.ack()));
                            stage.inProcess().faults().commit(stage.group()).loseAnswer();
                            stage.write("orders", 0, "a");
                            stage.settle();
                            stage.write("orders", 0, "b");
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            stage.note("committed", stage.committed("orders"));
                            stage.note("healthy", app.health().healthy());
                        },
                        """
                        handled: a#1 ack, b#1 ack
                        committed: 0@2
                        healthy: true
                        """);
    }

    private static Scenario crash() {
        return Scenario.of("after a crash the next start goes on at the committed offset and skips nothing", "3.1")
                .inProcessOnly(NO_ACCIDENTS)
                .play(stage -> crash(stage, stage.tracked("orders")), """
                        committed: 0@1
                        handled: a#1 ack, b#1 ..., b#1 ack, c#1 ack
                        committed: 0@3
                        """);
    }

    private static Scenario crashUnderAuto() {
        return Scenario.of("under Auto a crash can skip what was handed over and not finished", "2.2")
                .inProcessOnly(NO_ACCIDENTS)
                .play(stage -> crash(stage, stage.auto("orders")), """
                        committed: 0@2
                        handled: a#1 ack, b#1 ..., c#1 ack
                        committed: 0@3
                        """);
    }

    private static void crash(Stage stage, KafkaTopic topic) {
        stage.topic("orders", 1);
        stage.write("orders", 0, "a", "b", "c");
        Gate gate = stage.gate();
        TestApp<NoState> app = stage.start(stage.handled(topic, (value, context) -> {
            if (value.equals("b")) {
                gate.pass();
            }
            return HandlerOutcome.ack();
        }));
        stage.eventually("b is in hand", () -> app.subscription("in").calls().size() == 2);
        stage.pass(Duration.ofMillis(3 * Stage.COMMIT_INTERVAL_MS));
        stage.note("committed", stage.committed("orders"));
        app.crash();
        gate.open();
        app.restart();
        stage.settle();
        stage.note("handled", Seen.calls(app));
        stage.note("committed", stage.committed("orders"));
    }

    private static Scenario lateAnswer() {
        return Scenario.of("a commit whose answer is late is not followed by an older one", "3.3")
                .inProcessOnly(NO_ACCIDENTS)
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> HandlerOutcome.ack()));
                            for (int i = 1; i <= 5; i++) {
                                if (i % 2 == 1) {
                                    stage.inProcess()
                                            .faults()
                                            .commit(stage.group())
                                            .delay(Duration.ofMillis(250));
                                } else {
                                    stage.inProcess()
                                            .faults()
                                            .commit(stage.group())
                                            .fail(new CoordinatorLoadInProgressException("on request"));
                                }
                                stage.write("orders", 0, "v" + i);
                                stage.pass(Duration.ofMillis(40));
                            }
                            List<String> seen = new ArrayList<>(List.of(stage.committed("orders")));
                            stage.eventually("all is committed", () -> {
                                String now = stage.committed("orders");
                                if (!now.equals(seen.get(seen.size() - 1))) {
                                    seen.add(now);
                                }
                                return now.equals("0@5");
                            });
                            stage.pass(Duration.ofSeconds(2));
                            seen.add(stage.committed("orders"));
                            stage.note(
                                    "never down",
                                    seen.stream().sorted().toList().equals(seen));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        never down: true
                        committed: 0@5
                        """);
    }

    private static Scenario failingCommits() {
        return Scenario.of("commits that fail show in health until one succeeds, and are made again", "3.3", "3.2")
                .inProcessOnly(NO_ACCIDENTS)
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            TestApp<NoState> app = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> HandlerOutcome.ack()));
                            stage.inProcess()
                                    .faults()
                                    .commit(stage.group())
                                    .times(Integer.MAX_VALUE)
                                    .fail(new CoordinatorLoadInProgressException("on request"));
                            stage.write("orders", 0, "a");
                            stage.eventually(
                                    "commits fail", () -> Stage.counts(app).failedCommits() >= 2);
                            stage.note("handled", Seen.calls(app));
                            stage.note("healthy", app.health().healthy());
                            stage.note("committed", stage.committed("orders"));
                            stage.inProcess().faults().clear();
                            stage.settle();
                            stage.note("healthy", app.health().healthy());
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        handled: a#1 ack
                        healthy: false
                        committed: 0@0
                        healthy: true
                        committed: 0@1
                        """);
    }
}
