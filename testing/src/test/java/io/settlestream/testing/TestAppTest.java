package io.settlestream.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.settlestream.App;
import io.settlestream.HandlerOutcome;
import io.settlestream.Outgoing;
import io.settlestream.Reply;
import io.settlestream.SettleStream;
import io.settlestream.Subscriber;
import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaPublish;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.kafka.StartOffset;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a test of an application sees. */
@Timeout(60)
class TestAppTest {

    record Payout(long id, long amountCents) {}

    @Outgoing("payouts.done")
    record Paid(long payoutId) {}

    /** A bank that refuses the first payouts. */
    static final class Bank {
        int refusals;

        Bank(int refusals) {
            this.refusals = refusals;
        }

        boolean pay(Payout payout) {
            return --refusals < 0;
        }
    }

    private static App<Bank> app() {
        return SettleStream.app("payouts", "1")
                .onStartup(() -> new Bank(0))
                .withBroker(
                        KafkaBroker.of("localhost:9092").defaultGroup("payouts"),
                        scope -> scope.include(Subscriber.on(
                                        KafkaTopic.of("payouts")
                                                .commit(Commit.tracked())
                                                .startOffset(StartOffset.EARLIEST),
                                        Payout.class)
                                .<Paid, Bank>handleReply(
                                        Paid.class,
                                        (payout, delivery) -> delivery.state().pay(payout)
                                                ? Reply.of(new Paid(payout.id()))
                                                : Reply.retry())
                                .reply(KafkaPublish.create())));
    }

    @Test
    @DisplayName("11.1: publishing drives the production application to rest: handled, replied, committed")
    void publish() {
        try (TestApp<Bank> app = TestApp.start(app())) {
            app.publish("payouts", new Payout(1, 500));

            app.subscription("payouts").hasValues(new Payout(1, 500)).hasOutcomes(HandlerOutcome.ack());
            app.topic("payouts.done").hasValues(new Paid(1));
            app.group("payouts").hasCommitted("payouts", 0, 1).hasLag("payouts", 0);
            app.isRunning();
        }
    }

    @Test
    @DisplayName("A bank that fails twice sees the payout three times, in virtual time")
    void retries() {
        try (TestApp<Bank> app = TestApp.of(app()).state(new Bank(2)).start()) {
            app.publish("payouts", new Payout(1, 500));

            app.subscription("payouts")
                    .hasAttempts(1, 2, 3)
                    .hasOutcomes(HandlerOutcome.retry(), HandlerOutcome.retry(), HandlerOutcome.ack());
            app.group("payouts").hasCommitted("payouts", 0, 1);
        }
    }

    @Test
    @DisplayName("11.3: a reaction that never rests is reported with what is open")
    void neverRests() {
        try (TestApp<Bank> app =
                TestApp.of(app()).state(new Bank(Integer.MAX_VALUE)).start()) {
            assertThatThrownBy(() -> app.publish("payouts", new Payout(1, 500)))
                    .isInstanceOf(NotAtRestError.class)
                    .hasMessageContaining("payouts-0 of subscription payouts has 1 open records")
                    .hasMessageContaining("PT1M");
        }
    }

    @Test
    @DisplayName("What is sent waits until the test lets it go on")
    void send() {
        try (TestApp<Bank> app = TestApp.start(app())) {
            app.send("payouts", new Payout(1, 500));
            app.subscription("payouts").hasCalls(0);

            app.proceed();
            app.subscription("payouts").hasCalls(1);
            app.group("payouts").hasCommitted("payouts", 0, 0);

            app.advance(Duration.ofSeconds(5));
            app.group("payouts").hasCommitted("payouts", 0, 1);
        }
    }

    @Test
    @DisplayName("11.4: a crash loses what was not committed, and the next start handles it again")
    void crash() {
        try (TestApp<Bank> app = TestApp.start(app())) {
            app.publish("payouts", new Payout(1, 500));
            app.send("payouts", new Payout(2, 500));
            app.proceed();

            app.crash();
            app.restart();
            app.settle();

            assertThat(app.subscription("payouts").values(Payout.class))
                    .extracting(Payout::id)
                    .containsExactly(1L, 2L, 2L);
            app.group("payouts").hasCommitted("payouts", 0, 2);
        }
    }
}
