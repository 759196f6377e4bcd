package io.settlestream.conformance.rules;

import io.settlestream.DecodePolicy;
import io.settlestream.ExceptionPolicy;
import io.settlestream.HandlerOutcome;
import io.settlestream.Health;
import io.settlestream.NoState;
import io.settlestream.Subscriber;
import io.settlestream.testing.TestApp;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** Rule 1.5: what becomes of a delivery whose handler throws, and of a record that cannot be decoded. */
final class PolicyRules {

    private PolicyRules() {}

    static List<Scenario> scenarios() {
        return List.of(
                failFast(),
                exceptionDropped(),
                exceptionRetried(),
                undecodableDropped(),
                undecodableRetried(),
                undecodableFailsFast(),
                anError());
    }

    private static Scenario failFast() {
        return Scenario.of("a handler that throws stops the service; its record stays open", "1.5", "3.1", "3.3")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a", "bad", "c");
                            TestApp<NoState> app =
                                    stage.start(stage.handled(stage.tracked("orders"), (value, context) -> {
                                        if (value.equals("bad")) {
                                            throw new IllegalStateException("not this one");
                                        }
                                        return HandlerOutcome.ack();
                                    }));
                            failed(stage, app);
                            stage.note("handled", Seen.calls(app));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        failed of: IllegalStateException not this one
                        handled: a#1 ack, bad#1 threw IllegalStateException
                        committed: 0@1
                        """);
    }

    /** Waits until an application has failed, and notes of what. */
    private static void failed(Stage stage, TestApp<?> app) {
        stage.eventually("it has failed", () -> app.health().status() == Health.Status.FAILED);
        Throwable cause = app.health().failure().orElseThrow();
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        stage.note("failed of", cause.getClass().getSimpleName() + " " + cause.getMessage());
        app.stop();
    }

    private static Scenario exceptionDropped() {
        return Scenario.of("a handler that throws under DROP loses its record and nothing else", "1.5")
                .play(stage -> throwing(stage, ExceptionPolicy.DROP), """
                        handled: a#1 ack, bad#1 threw IllegalStateException, c#1 ack
                        exceptions: 1
                        committed: 0@3
                        """);
    }

    private static Scenario exceptionRetried() {
        return Scenario.of("a handler that throws under RETRY gets its record again, before any other", "1.5", "3.4")
                .play(stage -> throwing(stage, ExceptionPolicy.RETRY), """
                        handled: a#1 ack, bad#1 threw IllegalStateException, bad#2 ack, c#1 ack
                        exceptions: 1
                        committed: 0@3
                        """);
    }

    private static void throwing(Stage stage, ExceptionPolicy policy) {
        stage.topic("orders", 1);
        stage.write("orders", 0, "a", "bad", "c");
        TestApp<NoState> app = stage.start(
                stage.handled(stage.tracked("orders"), (value, context) -> {
                    if (value.equals("bad") && context.attempt() == 1) {
                        throw new IllegalStateException("not this one");
                    }
                    return HandlerOutcome.ack();
                }),
                mount -> mount.onException(policy));
        stage.settle();
        stage.note("handled", Seen.calls(app));
        stage.note("exceptions", Stage.counts(app).exceptions());
        stage.note("committed", stage.committed("orders"));
    }

    private static Scenario undecodableDropped() {
        return Scenario.of("a record that cannot be decoded is dropped and counted, and the rest arrives", "1.5")
                .play(
                        stage -> {
                            stage.topic("numbers", 1);
                            stage.write("numbers", 0, "1", "two", "3", "four");
                            TestApp<NoState> app = stage.start(Subscriber.on(stage.tracked("numbers"), new Numbers())
                                    .handle((value, context) -> HandlerOutcome.ack()));
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            stage.note("undecodable", Stage.counts(app).undecodable());
                            stage.note("dropped", Stage.counts(app).dropped());
                            stage.note("committed", stage.committed("numbers"));
                        },
                        """
                        handled: 1#1 ack, 3#1 ack
                        undecodable: 2
                        dropped: 2
                        committed: 0@4
                        """);
    }

    private static Scenario undecodableRetried() {
        return Scenario.of("under RETRY a record is decoded again until it can be, before any other", "1.5", "3.4")
                .play(
                        stage -> {
                            stage.topic("numbers", 1);
                            stage.write("numbers", 0, "1", "2", "3");
                            AtomicInteger left = new AtomicInteger(2);
                            Numbers numbers = new Numbers();
                            TestApp<NoState> app = stage.start(
                                    Subscriber.on(stage.tracked("numbers"), new Sometimes(numbers, 2, left))
                                            .handle((value, context) -> HandlerOutcome.ack()),
                                    mount -> mount.onDecodeFailure(DecodePolicy.RETRY));
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            stage.note("undecodable", Stage.counts(app).undecodable());
                            stage.note("committed", stage.committed("numbers"));
                        },
                        """
                        handled: 1#1 ack, 2#3 ack, 3#1 ack
                        undecodable: 2
                        committed: 0@3
                        """);
    }

    /** Fails to decode one of the numbers so often. */
    private record Sometimes(Numbers numbers, int number, AtomicInteger left)
            implements io.settlestream.codec.Codec<Integer> {

        @Override
        public Integer decode(byte[] data) {
            Integer value = numbers.decode(data);
            if (value == number && left.getAndDecrement() > 0) {
                throw new IllegalStateException("not yet");
            }
            return value;
        }

        @Override
        public byte[] encode(Integer value) {
            return numbers.encode(value);
        }
    }

    private static Scenario undecodableFailsFast() {
        return Scenario.of("under FAIL_FAST a record that cannot be decoded stays open and stops the service", "1.5")
                .play(
                        stage -> {
                            stage.topic("numbers", 1);
                            stage.write("numbers", 0, "1", "two", "3");
                            TestApp<NoState> app = stage.start(
                                    Subscriber.on(stage.tracked("numbers"), new Numbers())
                                            .handle((value, context) -> HandlerOutcome.ack()),
                                    mount -> mount.onDecodeFailure(DecodePolicy.FAIL_FAST));
                            stage.eventually("it has failed", () -> app.health().status() == Health.Status.FAILED);
                            app.stop();
                            stage.note("handled", Seen.calls(app));
                            stage.note("committed", stage.committed("numbers"));
                        },
                        """
                        handled: 1#1 ack
                        committed: 0@1
                        """);
    }

    private static Scenario anError() {
        return Scenario.of("an Error fails the subscription whatever the policy, and health says why", "1.5", "3.1")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a", "bad", "c");
                            TestApp<NoState> app = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> {
                                        if (value.equals("bad")) {
                                            throw new StackOverflowError("too deep");
                                        }
                                        return HandlerOutcome.ack();
                                    }),
                                    mount -> mount.onException(ExceptionPolicy.DROP));
                            failed(stage, app);
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        failed of: StackOverflowError too deep
                        committed: 0@1
                        """);
    }
}
