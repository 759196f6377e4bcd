package io.settlestream.examples;

import io.settlestream.App;
import io.settlestream.ShutdownResult;
import io.settlestream.embedded.EmbeddedKafka;
import java.nio.file.Path;

/** The code of docs/embedded.md. */
final class Embedded {

    private Embedded() {}

    static void oneNode() {
        try (EmbeddedKafka kafka = EmbeddedKafka.start()) {
            kafka.createTopic("orders", 3);
            runMyService(kafka.bootstrapServers());
        }
    }

    static EmbeddedKafka kept() {
        return EmbeddedKafka.builder()
                .port(9092)
                .logDirectory(Path.of("target/kafka"))
                .start();
    }

    static void losesANode() {
        try (EmbeddedKafka kafka = EmbeddedKafka.builder().nodes(3).asProcess().start()) {
            kafka.createTopic("orders", 1);
            kafka.node(0).kill();
            // two of three copies are in sync: acks=all still succeeds
            kafka.node(0).start();
        }
    }

    static ShutdownResult serviceWithItsOwnKafka() {
        try (EmbeddedKafka kafka = EmbeddedKafka.builder().withoutShutdownHook().start()) {
            return app(kafka.bootstrapServers())
                    .afterShutdown(state -> kafka.close())
                    .run();
        }
    }

    private static App<Handlers.Clients> app(String bootstrapServers) {
        return Handlers.app(Configuration.broker("changeit").bootstrapServers(bootstrapServers));
    }

    private static void runMyService(String bootstrapServers) {
        Configuration.broker("changeit").bootstrapServers(bootstrapServers);
    }
}
