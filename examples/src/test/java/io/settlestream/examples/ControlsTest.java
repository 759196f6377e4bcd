package io.settlestream.examples;

import io.settlestream.App;
import io.settlestream.Context;
import io.settlestream.HandlerOutcome;
import io.settlestream.NoState;
import io.settlestream.SettleStream;
import io.settlestream.Subscriber;
import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaPosition;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.testing.TestApp;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The test in docs/topics-groups-positions.md. */
class ControlsTest {

    /** A backend that is closed now and then. */
    interface Bank {

        boolean isOpen();
    }

    static HandlerOutcome payOut(String payout, Context<Bank> delivery) {
        if (!delivery.state().isOpen()) {
            delivery.subscription().pause();
            return HandlerOutcome.retryAfter(Duration.ofSeconds(1)); // while paused it waits for longer
        }
        return HandlerOutcome.ack();
    }

    private static App<Bank> throughABank(Bank bank) {
        return SettleStream.app("payouts", "1")
                .onStartup(() -> bank)
                .withBroker(
                        KafkaBroker.of("localhost:9092").defaultGroup("payouts"),
                        scope -> scope.include(
                                Subscriber.on(KafkaTopic.of("payouts").commit(Commit.tracked()), String.class)
                                        .handle(ControlsTest::payOut)));
    }

    @Test
    @DisplayName("9.5: a handler pauses its subscription while what it needs is closed")
    void circuitBreaker() {
        AtomicBoolean open = new AtomicBoolean();
        try (TestApp<Bank> app = TestApp.start(throughABank(open::get))) {
            app.publish("payouts", "4711");
            app.advance(Duration.ofMinutes(20));
            app.subscription("payouts").hasAttempts(1);

            open.set(true);
            app.subscription("payouts").resume();
            app.settle();
            app.subscription("payouts").hasAttempts(1, 2);
            app.group("payouts").hasLag("payouts", 0);
        }
    }

    private static App<NoState> payouts() {
        return SettleStream.app("payouts", "1")
                .withBroker(
                        KafkaBroker.of("localhost:9092").defaultGroup("payouts"),
                        scope -> scope.include(
                                Subscriber.on(KafkaTopic.of("payouts").commit(Commit.tracked()), String.class)
                                        .handle((payout, context) -> HandlerOutcome.ack())));
    }

    @Test
    @DisplayName("9.4, 9.5: a test pauses a subscription, lets it go on, and moves it")
    void pausesAndSeeks() {
        try (TestApp<NoState> app = TestApp.start(payouts())) {
            app.subscription("payouts").pause();
            app.publish("payouts", "4711");
            app.subscription("payouts").hasCalls(0).resume();
            app.settle();
            app.subscription("payouts").hasCalls(1).seek(KafkaPosition.earliest());
            app.settle();
            app.subscription("payouts").hasCalls(2);
        }
    }
}
