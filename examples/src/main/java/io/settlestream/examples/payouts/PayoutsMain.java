package io.settlestream.examples.payouts;

import io.settlestream.App;
import io.settlestream.embedded.EmbeddedKafka;
import io.settlestream.examples.payouts.PayoutService.Clients;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Runs the payouts service as a program. */
@Command(
        name = "payouts",
        sortOptions = false,
        description = "Runs the payouts service until it is told to stop (Ctrl-C).")
public final class PayoutsMain implements Callable<Integer> {

    private static final Logger log = LoggerFactory.getLogger(PayoutsMain.class);

    private static final int PARTITIONS = 3;

    @Option(
            names = "--bootstrap",
            paramLabel = "HOST:PORT",
            description = "The Kafka to use. Without it one is started in this process, and is gone with it.")
    private @Nullable String bootstrap;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "1",
            description = "Decides what the bank refuses and the store fails. Default: ${DEFAULT-VALUE}")
    private long seed;

    @Option(names = "--help", usageHelp = true, description = "Show this help.")
    @SuppressWarnings("UnusedVariable") // picocli looks at the annotation alone
    private boolean help;

    @Mixin
    private final ServiceOptions options = new ServiceOptions();

    /** Exits with 0 after a clean stop, 1 after a failure, 2 for wrong usage. */
    public static void main(String[] args) {
        System.exit(new CommandLine(new PayoutsMain()).execute(args));
    }

    @Override
    public Integer call() {
        if (bootstrap != null) {
            log.atInfo().addKeyValue("bootstrap", bootstrap).log("payouts service starts");
            return app(bootstrap).run().clean() ? 0 : 1;
        }
        try (EmbeddedKafka kafka = EmbeddedKafka.builder().withoutShutdownHook().start()) {
            for (String topic : new String[] {"payouts", "payouts.done", "page-views", "statements"}) {
                kafka.createTopic(topic, PARTITIONS);
            }
            log.atInfo()
                    .addKeyValue("bootstrap", kafka.bootstrapServers())
                    .log("payouts service starts, with a Kafka of its own that is gone when it stops");
            // After a signal the JVM ends when the service has stopped, and the end of this block may not be reached.
            return app(kafka.bootstrapServers())
                            .afterShutdown(state -> kafka.close())
                            .run()
                            .clean()
                    ? 0
                    : 1;
        }
    }

    private App<Clients> app(String bootstrapServers) {
        Duration asked = options.bankDelay();
        Duration bankDelay = asked == null ? Duration.ZERO : asked;
        return PayoutService.app(
                PayoutService.broker(bootstrapServers),
                PayoutService.Sources.create(),
                () -> options.clients(bankDelay, seed),
                options.workers());
    }
}
