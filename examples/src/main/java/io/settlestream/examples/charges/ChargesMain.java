package io.settlestream.examples.charges;

import io.settlestream.App;
import io.settlestream.embedded.EmbeddedKafka;
import io.settlestream.examples.charges.ChargeService.Clients;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Runs the charges service as a program. */
@Command(
        name = "charges",
        sortOptions = false,
        usageHelpAutoWidth = true,
        description = "Runs the charges service until it is told to stop (Ctrl-C). Its gateway is a simulation.")
public final class ChargesMain implements Callable<Integer> {

    private static final Logger log = LoggerFactory.getLogger(ChargesMain.class);

    private static final int PARTITIONS = 3;

    @Option(
            names = "--bootstrap",
            paramLabel = "HOST:PORT",
            description = "The Kafka to use, with topics charges and charges.dead. Without it one is started in this"
                    + " process, and is gone with it.")
    private @Nullable String bootstrap;

    @Option(
            names = "--charges",
            paramLabel = "N",
            defaultValue = "100",
            description =
                    "How many charges are written when the service starts; three of twenty cannot be taken. With a"
                            + " Kafka of its own only. Default: ${DEFAULT-VALUE}")
    private int charges;

    @Option(
            names = "--busy",
            paramLabel = "RATE",
            defaultValue = "0.3",
            description =
                    "Part of the calls for which the gateway is busy, 0 to 1; after five attempts a charge is given up."
                            + " Default: ${DEFAULT-VALUE}")
    private double busy;

    @Option(
            names = "--down",
            paramLabel = "RATE",
            defaultValue = "0.3",
            description = "Part of the calls that the gateway does not answer, 0 to 1. Default: ${DEFAULT-VALUE}")
    private double down;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "1",
            description = "Decides when the gateway is busy or down. Default: ${DEFAULT-VALUE}")
    private long seed;

    @Option(names = "--help", usageHelp = true, description = "Show this help.")
    @SuppressWarnings("UnusedVariable") // picocli looks at the annotation alone
    private boolean help;

    /** Exits with 0 after a clean stop, 1 after a failure, 2 for wrong usage. */
    public static void main(String[] args) {
        System.exit(new CommandLine(new ChargesMain()).execute(args));
    }

    @Override
    public Integer call() throws InterruptedException {
        if (bootstrap != null) {
            log.atInfo().addKeyValue("bootstrap", bootstrap).log("charges service starts");
            return app(bootstrap).run().clean() ? 0 : 1;
        }
        try (EmbeddedKafka kafka = EmbeddedKafka.builder().withoutShutdownHook().start()) {
            kafka.createTopic(ChargeService.CHARGES, PARTITIONS);
            kafka.createTopic(ChargeService.DEAD_CHARGES, PARTITIONS);
            SampleCharges.send(kafka.bootstrapServers(), charges);
            log.atInfo().log(
                    "charges service starts, with a Kafka of its own that is gone when it stops; what it gives up is"
                            + " shown by: bin/dead-letters list --bootstrap {} --topic {}",
                    kafka.bootstrapServers(),
                    ChargeService.DEAD_CHARGES);
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
        return ChargeService.app(
                ChargeService.broker(bootstrapServers), () -> new Clients(Simulation.gateway(busy, down, seed)));
    }
}
