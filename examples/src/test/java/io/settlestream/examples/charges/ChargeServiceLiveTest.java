package io.settlestream.examples.charges;

import io.settlestream.embedded.EmbeddedKafka;
import io.settlestream.examples.charges.ChargeService.Clients;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.testing.TestApp;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;

/** What the charges service does in process, it does on a real Kafka. Each test has one of its own, which is empty. */
@DisplayName("The charges service on a real Kafka")
class ChargeServiceLiveTest implements ChargeServiceContract {

    private EmbeddedKafka kafka;

    @BeforeEach
    void startKafka() {
        kafka = EmbeddedKafka.start();
        kafka.createTopic("charges", 1);
        kafka.createTopic("charges.dead", 1);
    }

    @AfterEach
    void closeKafka() {
        kafka.close();
    }

    @Override
    public TestApp<Clients> start(Gateway gateway) {
        KafkaBroker quick = ChargeService.broker("localhost:9092").config("auto.commit.interval.ms", 100);
        return TestApp.of(ChargeService.app(quick, () -> new Clients(gateway))).startLive(kafka.bootstrapServers());
    }
}
