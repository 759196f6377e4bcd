package io.settlestream.conformance.rules;

import io.settlestream.DecodePolicy;
import io.settlestream.ExceptionPolicy;
import io.settlestream.HandlerOutcome;
import io.settlestream.Health;
import io.settlestream.NoState;
import io.settlestream.StartupException;
import io.settlestream.Subscriber;
import io.settlestream.testing.TestApp;
import java.time.Duration;
import java.util.List;

/** Section 2: positions that move as records are handed over. */
final class AutoRules {

    private static final int NEVER_MS = 3_600_000;

    private AutoRules() {}

    static List<Scenario> scenarios() {
        return List.of(
                atHandOver(),
                atClose(),
                atRevocation(),
                pastTheUndecodable(),
                retryIsUnsupported(),
                retryPolicies(),
                failFastKeepsTheRecord());
    }

    private static Scenario atHandOver() {
        return Scenario.of("the position moves at hand-over, and not past a record that was not handed over", "2.1")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a", "b", "c", "d");
                            Gate gate = stage.gate();
                            TestApp<NoState> app = stage.start(stage.handled(stage.auto("orders"), (value, context) -> {
                                if (value.equals("b")) {
                                    gate.pass();
                                }
                                return HandlerOutcome.ack();
                            }));
                            stage.eventuallyCommitted("orders", "0@2");
                            stage.pass(Duration.ofMillis(3 * Stage.COMMIT_INTERVAL_MS));
                            stage.note("committed while b is in hand", stage.committed("orders"));

                            gate.open();
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        committed while b is in hand: 0@2
                        handled: a#1 ack, b#1 ack, c#1 ack, d#1 ack
                        committed: 0@4
                        """);
    }

    private static Scenario atClose() {
        return Scenario.of("the position is committed at close, and not past what was queued", "2.1", "3.3")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a", "b", "c", "d");
                            TestApp<NoState> app = stage.start(stage.handled(
                                    stage.auto("orders").config("auto.commit.interval.ms", NEVER_MS),
                                    (value, context) -> {
                                        if (value.equals("b")) {
                                            stage.busy(Duration.ofSeconds(1));
                                        }
                                        return HandlerOutcome.ack();
                                    }));
                            stage.eventually(
                                    "b is in hand",
                                    () -> app.subscription("in").calls().size() == 2);
                            stage.note("committed", stage.committed("orders"));
                            app.stop();
                            stage.note("handled", Seen.calls(app));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        committed:\s
                        handled: a#1 ack, b#1 ack
                        committed: 0@2
                        """);
    }

    private static Scenario atRevocation() {
        return Scenario.of("the position is committed before a partition is given up", "2.1", "3.3", "3.8")
                .withEveryProtocol()
                .play(
                        stage -> {
                            stage.topic("orders", 2);
                            stage.write("orders", 0, "a");
                            stage.write("orders", 1, "b");
                            Subscriber<String, Object> subscriber = stage.handled(
                                    stage.auto("orders").config("auto.commit.interval.ms", NEVER_MS),
                                    (value, context) -> HandlerOutcome.ack());
                            TestApp<NoState> first = stage.start(subscriber);
                            stage.eventually(
                                    "both are handled",
                                    () -> Stage.counts(first).acked() == 2);
                            TestApp<NoState> second = stage.start(subscriber);
                            stage.eventually(
                                    "one has moved",
                                    () -> Stage.health(first).partitions().size() == 1
                                            && Stage.health(second).partitions().size() == 1);
                            stage.write("orders", 0, "c");
                            stage.write("orders", 1, "d");
                            stage.eventually(
                                    "the rest is handled",
                                    () -> Stage.counts(first).acked()
                                                    + Stage.counts(second).acked()
                                            == 4);
                            first.stop();
                            second.stop();
                            stage.note("handled", Seen.sorted(first, second));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        handled: a#1 ack, b#1 ack, c#1 ack, d#1 ack
                        committed: 0@2 1@2
                        """);
    }

    private static Scenario pastTheUndecodable() {
        return Scenario.of("the position moves past what the decode policy settles", "2.1", "1.5")
                .play(
                        stage -> {
                            stage.topic("numbers", 1);
                            stage.write("numbers", 0, "1", "two", "3", "four");
                            TestApp<NoState> app = stage.start(Subscriber.on(stage.auto("numbers"), new Numbers())
                                    .handle((value, context) -> HandlerOutcome.ack()));
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            stage.note("dropped", Stage.counts(app).dropped());
                            stage.note("committed", stage.committed("numbers"));
                        },
                        """
                        handled: 1#1 ack, 3#1 ack
                        dropped: 2
                        committed: 0@4
                        """);
    }

    private static Scenario retryIsUnsupported() {
        return Scenario.of("a retry is counted as unsupported and does not come back", "2.2")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a", "b", "c");
                            TestApp<NoState> app = stage.start(stage.handled(
                                    stage.auto("orders"),
                                    (value, context) ->
                                            value.equals("c") ? HandlerOutcome.ack() : HandlerOutcome.retry()));
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            Health.Counts counts = Stage.counts(app);
                            stage.note("unsupported", counts.unsupportedRetries());
                            stage.note("retried", counts.retried());
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        handled: a#1 retry, b#1 retry, c#1 ack
                        unsupported: 2
                        retried: 0
                        committed: 0@3
                        """);
    }

    private static Scenario retryPolicies() {
        return Scenario.of("policies that would bring a record back are refused at startup", "2.3")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            try {
                                stage.start(
                                        stage.handled(stage.auto("orders"), (value, context) -> HandlerOutcome.ack()),
                                        mount -> mount.onException(ExceptionPolicy.RETRY)
                                                .onDecodeFailure(DecodePolicy.RETRY));
                            } catch (StartupException e) {
                                stage.note("problems", e.problems().size());
                                stage.note("of exceptions", e.problems().get(0).contains("onException(RETRY)"));
                                stage.note("of decoding", e.problems().get(1).contains("onDecodeFailure(RETRY)"));
                            }
                        },
                        """
                        problems: 2
                        of exceptions: true
                        of decoding: true
                        """);
    }

    private static Scenario failFastKeepsTheRecord() {
        return Scenario.of("under FAIL_FAST the record that failed is not committed by the stop", "2.3", "1.5")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a", "b", "c");
                            TestApp<NoState> app = stage.start(
                                    stage.handled(stage.auto("orders"), (value, context) -> {
                                        if (value.equals("b")) {
                                            throw new IllegalStateException("b is bad");
                                        }
                                        return HandlerOutcome.ack();
                                    }),
                                    mount -> mount.onException(ExceptionPolicy.FAIL_FAST));
                            stage.settle();
                            app.stop();
                            app.hasFailed(IllegalStateException.class);
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        committed: 0@1
                        """);
    }
}
