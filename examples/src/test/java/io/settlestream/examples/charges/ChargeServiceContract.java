package io.settlestream.examples.charges;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.HandlerOutcome;
import io.settlestream.Message;
import io.settlestream.examples.charges.ChargeService.Charge;
import io.settlestream.examples.charges.ChargeService.Clients;
import io.settlestream.kafka.RecordCopy;
import io.settlestream.testing.TestApp;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What the charges service does, on whatever Kafka a class runs these tests. */
interface ChargeServiceContract {

    /** Starts the service with this gateway. */
    TestApp<Clients> start(Gateway gateway);

    @Test
    @DisplayName("A charge that is turned away twice comes back, is taken once, and is no dead letter")
    default void turnedAwayTwice() {
        ScriptedGateway gateway = new ScriptedGateway().busy(2);
        try (TestApp<Clients> app = start(gateway)) {
            app.publish("charges", new Charge(1, 500));

            app.subscription("charges")
                    .hasAttempts(1, 2, 3)
                    .hasOutcomes(HandlerOutcome.retry(), HandlerOutcome.retry(), HandlerOutcome.ack());
            assertThat(gateway.taken()).containsExactly(1L);
            app.topic("charges.dead").isEmpty();
            app.group("payments").hasCommitted("charges", 0, 1).hasLag("charges", 0);
        }
    }

    @Test
    @DisplayName("A charge that is always turned away is a dead letter after five attempts, and the next one is taken")
    default void alwaysTurnedAway() {
        ScriptedGateway gateway = new ScriptedGateway().busy(5);
        try (TestApp<Clients> app = start(gateway)) {
            app.publish("charges", Message.of(new Charge(1, 500)).key("account-1"));
            app.publish("charges", Message.of(new Charge(2, 700)).key("account-1"));

            app.subscription("charges").hasAttempts(1, 2, 3, 4, 5, 1);
            assertThat(gateway.taken()).containsExactly(2L);
            app.topic("charges.dead")
                    .hasValues(new Charge(1, 500))
                    .hasKeys("account-1")
                    .hasHeader(RecordCopy.ATTEMPTS, "5")
                    .hasHeader(RecordCopy.GROUP, "payments")
                    .hasHeader(RecordCopy.ORIGIN_TOPIC, "charges")
                    .hasHeader(RecordCopy.ORIGIN_OFFSET, "0");
            app.group("payments").hasCommitted("charges", 0, 2).hasLag("charges", 0);
        }
    }

    @Test
    @DisplayName("A charge of nothing is a dead letter at once, with the reason, and the gateway is not asked")
    default void badCharge() {
        ScriptedGateway gateway = new ScriptedGateway();
        try (TestApp<Clients> app = start(gateway)) {
            app.publish("charges", new Charge(1, 0));

            app.subscription("charges").hasAttempts(1);
            assertThat(gateway.asked()).isZero();
            app.topic("charges.dead")
                    .hasValues(new Charge(1, 0))
                    .hasHeader(RecordCopy.REASON, "the amount is not positive")
                    .hasHeader(RecordCopy.ATTEMPTS, "1");
            app.group("payments").hasCommitted("charges", 0, 1).hasLag("charges", 0);
        }
    }

    @Test
    @DisplayName("A gateway that does not answer is asked again")
    default void timeout() {
        ScriptedGateway gateway = new ScriptedGateway().down(2);
        try (TestApp<Clients> app = start(gateway)) {
            app.publish("charges", new Charge(1, 500));

            assertThat(gateway.asked()).isEqualTo(3);
            assertThat(gateway.taken()).containsExactly(1L);
            app.topic("charges.dead").isEmpty();
            app.group("payments").hasCommitted("charges", 0, 1).hasLag("charges", 0);
        }
    }

    @Test
    @DisplayName("What the gateway will never take is a dead letter at once, with the exception as the reason")
    default void refused() {
        ScriptedGateway gateway = new ScriptedGateway();
        try (TestApp<Clients> app = start(gateway)) {
            app.publish("charges", new Charge(1, Simulation.LIMIT_CENTS + 1));

            assertThat(gateway.asked()).isEqualTo(1);
            app.topic("charges.dead")
                    .hasRecords(1)
                    .hasHeader(RecordCopy.FAILURE, "java.lang.IllegalArgumentException")
                    .hasHeader(RecordCopy.REASON, "more than the gateway takes at once");
            app.group("payments").hasCommitted("charges", 0, 1).hasLag("charges", 0);
        }
    }

    @Test
    @DisplayName("Bytes that are no charge are a dead letter as they came, and the charge behind them is taken")
    default void undecodable() {
        ScriptedGateway gateway = new ScriptedGateway();
        try (TestApp<Clients> app = start(gateway)) {
            app.publish("charges", "one million, please".getBytes(UTF_8));
            app.publish("charges", new Charge(2, 500));

            assertThat(gateway.taken()).containsExactly(2L);
            assertThat(app.topic("charges.dead").records())
                    .extracting(record -> new String(record.value(), UTF_8))
                    .containsExactly("one million, please");
            app.group("payments").hasCommitted("charges", 0, 2).hasLag("charges", 0);
        }
    }
}
