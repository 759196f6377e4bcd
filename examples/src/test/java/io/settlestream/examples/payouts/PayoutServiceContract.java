package io.settlestream.examples.payouts;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.HandlerOutcome;
import io.settlestream.examples.payouts.PayoutService.Clients;
import io.settlestream.examples.payouts.PayoutService.PageView;
import io.settlestream.examples.payouts.PayoutService.Paid;
import io.settlestream.examples.payouts.PayoutService.Payout;
import io.settlestream.examples.payouts.PayoutService.StatementLine;
import io.settlestream.testing.TestApp;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What the payouts service does, on whatever Kafka a class runs these tests. */
interface PayoutServiceContract {

    /** Starts the service, with these clients instead of those it has in production. */
    TestApp<Clients> start(Clients clients);

    @Test
    @DisplayName("A payout that the bank refuses comes back, and is paid and confirmed once")
    default void payoutComesBack() {
        FlakyBank bank = new FlakyBank();
        try (TestApp<Clients> app = start(new Clients(bank, page -> true))) {
            app.publish("payouts", new Payout(1, 500));

            app.subscription("payouts").hasAttempts(1, 2).hasOutcomes(HandlerOutcome.retry(), HandlerOutcome.ack());
            assertThat(bank.paid()).containsExactly(1L);
            app.topic("payouts.done").hasValues(new Paid(1));
            app.group("payouts").hasCommitted("payouts", 0, 1).hasLag("payouts", 0);
        }
    }

    @Test
    @DisplayName("A payout of nothing is dropped: not paid, not confirmed, and done")
    default void emptyPayout() {
        FlakyBank bank = new FlakyBank();
        try (TestApp<Clients> app = start(new Clients(bank, page -> true))) {
            app.publish("payouts", new Payout(1, 0));

            app.subscription("payouts").hasOutcomes(HandlerOutcome.drop());
            assertThat(bank.paid()).isEmpty();
            app.topic("payouts.done").isEmpty();
            app.group("payouts").hasCommitted("payouts", 0, 1).hasLag("payouts", 0);
        }
    }

    @Test
    @DisplayName("A page view that the store does not take is reported and does not come back")
    default void pageViewDoesNotComeBack() {
        FlakyAnalytics analytics = new FlakyAnalytics();
        try (TestApp<Clients> app = start(new Clients((id, cents) -> true, analytics))) {
            app.publish("page-views", new PageView("/prices"));
            app.publish("page-views", new PageView("/news"));

            app.subscription("page-views")
                    .hasValues(new PageView("/prices"), new PageView("/news"))
                    .hasOutcomes(HandlerOutcome.retry(), HandlerOutcome.ack())
                    .hasUnsupportedRetries(1);
            assertThat(analytics.counted()).containsExactly("/news");
            app.group("analytics").hasCommitted("page-views", 0, 2).hasLag("page-views", 0);
        }
    }

    @Test
    @DisplayName("An empty statement line is dropped, and the lines around it are done")
    default void statementLines() {
        try (TestApp<Clients> app = start(new Clients((id, cents) -> true, page -> true))) {
            app.send("statements", new StatementLine(1, 500));
            app.send("statements", new StatementLine(2, 0));
            app.send("statements", new StatementLine(3, 700));
            app.settle();

            app.subscription("statements")
                    .hasOutcomes(HandlerOutcome.ack(), HandlerOutcome.drop(), HandlerOutcome.ack());
            app.group("reconciliation").hasCommitted("statements", 0, 3).hasLag("statements", 0);
        }
    }

    @Test
    @DisplayName("Bytes that are no payout are dropped without the bank, and the payout behind them is paid")
    default void undecodable() {
        FlakyBank bank = new FlakyBank();
        try (TestApp<Clients> app = start(new Clients(bank, page -> true))) {
            app.send("payouts", "one million, please".getBytes(UTF_8));
            app.send("payouts", new Payout(2, 500));
            app.settle();

            app.subscription("payouts").hasUndecodable(1).hasValues(new Payout(2, 500), new Payout(2, 500));
            assertThat(bank.paid()).containsExactly(2L);
            app.group("payouts").hasCommitted("payouts", 0, 2).hasLag("payouts", 0);
        }
    }
}
