package io.settlestream.examples.payouts.demo;

import io.settlestream.RunningApp;
import io.settlestream.ShutdownResult;
import io.settlestream.examples.payouts.PayoutService;
import io.settlestream.examples.payouts.ServiceOptions;
import io.settlestream.kafka.KafkaBroker;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * One process of the service, as the demo starts it: the service itself, unchanged, with short intervals.
 *
 * <p>It tells {@link #STARTED}, then {@link Told} again and again, on its standard output. SIGTERM stops it gracefully,
 * with {@link #STOPPED} as its last line. When its standard input ends the demo is gone, and it goes at once.
 */
@Command(name = "service-process")
final class ServiceProcess implements Callable<Integer> {

    static final String STARTED = "started";
    static final String STOPPED = "stopped clean=";

    /** Positions are committed so often; short, so that a kill finds some of the work committed. */
    static final Duration COMMIT_INTERVAL = Duration.ofMillis(200);

    private static final Duration TELL_INTERVAL = Duration.ofMillis(100);

    @Option(names = "--bootstrap", required = true)
    private String bootstrap = "";

    @Option(names = "--group-suffix", required = true)
    private String groupSuffix = "";

    @Option(names = "--session-timeout", required = true)
    private long sessionTimeoutMillis;

    @Option(names = "--seed", required = true)
    private long seed;

    @Mixin
    private final ServiceOptions options = new ServiceOptions();

    private ServiceProcess() {}

    public static void main(String[] args) {
        Thread.ofPlatform().daemon().name("parent-watch").start(ServiceProcess::endWithParent);
        System.exit(new CommandLine(new ServiceProcess()).execute(args));
    }

    @SuppressWarnings("SystemConsoleNull") // nothing is read but the end
    private static void endWithParent() {
        try {
            while (System.in.read() >= 0) {}
        } catch (IOException e) {
            // the same as its end
        }
        Runtime.getRuntime().halt(1);
    }

    @Override
    public Integer call() throws Exception {
        Groups groups = new Groups(groupSuffix);
        Duration bankDelay = options.bankDelay();
        KafkaBroker kafka = PayoutService.broker(bootstrap)
                .config("auto.commit.interval.ms", Long.toString(COMMIT_INTERVAL.toMillis()))
                .config("session.timeout.ms", Long.toString(sessionTimeoutMillis))
                .config("heartbeat.interval.ms", Long.toString(sessionTimeoutMillis / 5));
        RunningApp app = PayoutService.app(
                        kafka,
                        groups.sources(),
                        () -> options.clients(bankDelay == null ? Duration.ZERO : bankDelay, seed),
                        options.workers())
                .start();
        tell(STARTED);
        Runtime.getRuntime().addShutdownHook(Thread.ofPlatform().unstarted(() -> stop(app)));
        tellUntilStopping(app);
        return app.shutdown().join().clean() ? 0 : 1;
    }

    private static void tellUntilStopping(RunningApp app) throws Exception {
        while (true) {
            tell(Told.by(app.health()).line());
            try {
                app.stopping().get(TELL_INTERVAL.toMillis(), TimeUnit.MILLISECONDS);
                return;
            } catch (TimeoutException e) {
                // go on telling
            }
        }
    }

    /** The last word; giving up all partitions at the end is no rebalance of interest. */
    private static void stop(RunningApp app) {
        Told before = Told.by(app.health());
        ShutdownResult result = app.shutdown().join();
        tell(Told.by(app.health()).withRebalances(before).line());
        if (!result.clean()) {
            System.err.println("not stopped cleanly: " + result);
        }
        tell(STOPPED + result.clean());
    }

    private static synchronized void tell(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
