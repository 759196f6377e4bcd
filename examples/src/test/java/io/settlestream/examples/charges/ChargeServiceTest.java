package io.settlestream.examples.charges;

import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.examples.charges.ChargeService.Charge;
import io.settlestream.examples.charges.ChargeService.Clients;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.testing.TestApp;
import java.time.Duration;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The charges service on the in-process Kafka: what it does on every Kafka, and what it does when things go wrong. */
@DisplayName("The charges service")
class ChargeServiceTest implements ChargeServiceContract {

    @Override
    public TestApp<Clients> start(Gateway gateway) {
        return start(ChargeService.broker("localhost:9092"), gateway);
    }

    private static TestApp<Clients> start(KafkaBroker broker, Gateway gateway) {
        return TestApp.of(ChargeService.app(broker, () -> new Clients(gateway))).start();
    }

    /** Commits so often that it would be seen if it committed too much. */
    private static KafkaBroker eager() {
        return ChargeService.broker("localhost:9092").config("auto.commit.interval.ms", 10);
    }

    @Test
    @DisplayName("Nothing is committed past a charge while it may still be taken")
    void notPastIt() {
        ScriptedGateway gateway = new ScriptedGateway().busy(4);
        try (TestApp<Clients> app = start(eager(), gateway)) {
            app.send("charges", new Charge(1, 500));
            app.advance(Duration.ofMillis(300)); // of the waits of 0, 50, 100 and 200 ms
            assertThat(gateway.asked()).isEqualTo(4);
            app.group("payments").hasCommitted("charges", 0, 0);

            app.settle();
            assertThat(gateway.taken()).containsExactly(1L);
            app.group("payments").hasCommitted("charges", 0, 1);
        }
    }

    @Test
    @DisplayName("Nothing is committed past a charge that is given up before Kafka has its dead letter")
    void deadLetterFirst() {
        try (TestApp<Clients> app = start(eager(), new ScriptedGateway())) {
            app.faults().produce("charges.dead").times(20).fail(new NotEnoughReplicasException());
            app.send("charges", new Charge(1, 0));
            app.advance(Duration.ofSeconds(5)); // the producer tries again after 100 ms to 1 s
            assertThat(app.faults().left()).isBetween(1, 19);
            app.topic("charges.dead").isEmpty();
            app.group("payments").hasCommitted("charges", 0, 0);

            app.settle();
            assertThat(app.faults().left()).isZero();
            app.topic("charges.dead").hasValues(new Charge(1, 0));
            app.group("payments").hasCommitted("charges", 0, 1);
        }
    }

    @Test
    @DisplayName("A crash between two attempts loses no charge")
    void crash() {
        ScriptedGateway gateway = new ScriptedGateway().busy(3);
        try (TestApp<Clients> app = start(gateway)) {
            app.send("charges", new Charge(1, 500));
            app.proceed();
            assertThat(gateway.asked()).isPositive();
            app.crash();

            app.restart().settle();
            assertThat(gateway.taken()).containsExactly(1L);
            app.group("payments").hasLag("charges", 0);
        }
    }

    @Test
    @DisplayName("An exception that nobody has thought of stops the service, and the charge stays open")
    void broken() {
        ScriptedGateway gateway = new ScriptedGateway().broken();
        try (TestApp<Clients> app = start(gateway)) {
            app.publish("charges", new Charge(1, 500));

            app.hasFailed(IllegalStateException.class);
            app.topic("charges.dead").isEmpty();
            app.group("payments").hasCommitted("charges", 0, 0).hasLag("charges", 1);
        }
    }
}
