package io.settlestream.examples.payouts;

import io.settlestream.embedded.EmbeddedKafka;
import io.settlestream.examples.payouts.PayoutService.Clients;
import io.settlestream.examples.payouts.PayoutService.Sources;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.testing.TestApp;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;

/** What the payouts service does in process, it does on a real Kafka. Each test has one of its own, which is empty. */
@DisplayName("The payouts service on a real Kafka")
class PayoutServiceLiveTest implements PayoutServiceContract {

    private EmbeddedKafka kafka;

    @BeforeEach
    void startKafka() {
        kafka = EmbeddedKafka.start();
        for (String topic : new String[] {"payouts", "payouts.done", "page-views", "statements"}) {
            kafka.createTopic(topic, 1);
        }
    }

    @AfterEach
    void closeKafka() {
        kafka.close();
    }

    @Override
    public TestApp<Clients> start(Clients clients) {
        KafkaBroker quick = PayoutService.broker("localhost:9092").config("auto.commit.interval.ms", 100);
        return TestApp.of(PayoutService.app(quick, Sources.create(), () -> clients, 8))
                .startLive(kafka.bootstrapServers());
    }
}
