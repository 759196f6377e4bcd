package io.settlestream.examples;

import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.kafka.StartOffset;

/** The code of docs/configuration.md. */
final class Configuration {

    private Configuration() {}

    static KafkaBroker broker(String keystorePassword) {
        return KafkaBroker.of("kafka-1:9092", "kafka-2:9092")
                .defaultGroup("payouts")
                .config("security.protocol", "SSL") // every client
                .config("ssl.keystore.location", "/etc/payouts/keystore.p12")
                .config("ssl.keystore.password", keystorePassword)
                .producerConfig("compression.type", "zstd") // the producer
                .pluginConfig("tracer.endpoint", "http://localhost:4318"); // for an interceptor; not checked
    }

    static KafkaTopic payouts() {
        return KafkaTopic.of("payouts")
                .commit(Commit.tracked())
                .startOffset(StartOffset.EARLIEST)
                .config("max.poll.records", 100); // this subscription's consumer
    }
}
