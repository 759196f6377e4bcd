package io.settlestream.examples.payouts;

import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.examples.payouts.PayoutService.Clients;
import io.settlestream.examples.payouts.PayoutService.Paid;
import io.settlestream.examples.payouts.PayoutService.Payout;
import io.settlestream.testing.SettleStreamExtension;
import io.settlestream.testing.TestApp;
import io.settlestream.testing.TestClock;
import java.time.Instant;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The payouts service, started and closed by the JUnit extension. */
@DisplayName("The payouts service, by the JUnit extension")
class PayoutServiceExtensionTest {

    @RegisterExtension
    static final SettleStreamExtension payouts =
            SettleStreamExtension.ofBuilder(() -> TestApp.of(PayoutService.app("localhost:9092"))
                    .state(() -> new Clients(new FlakyBank(), new FlakyAnalytics())));

    @Test
    @DisplayName("A payout is confirmed at the virtual time of its test")
    void confirmed(TestApp<Clients> app, TestClock clock) {
        Instant begin = clock.now();

        app.publish("payouts", new Payout(1, 500));

        app.topic("payouts.done").hasValues(new Paid(1));
        assertThat(app.topic("payouts.done").records().get(0).timestamp()).isBetween(begin, clock.now());
    }

    @Test
    @DisplayName("Each test has an application and a Kafka of its own")
    void empty(TestApp<Clients> app) {
        app.topic("payouts.done").isEmpty();
        app.group("payouts").hasLag("payouts", 0);
    }
}
