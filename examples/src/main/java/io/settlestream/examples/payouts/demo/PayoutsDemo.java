package io.settlestream.examples.payouts.demo;

import io.settlestream.examples.payouts.ServiceOptions;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The demo as a program. */
@Command(
        name = "demo",
        sortOptions = false,
        usageHelpAutoWidth = true,
        exitCodeListHeading = "%nExit codes%n",
        exitCodeList = {
            "0:every payout is confirmed that should be, and everything is committed",
            "1:something is lost, confirmed in error or not committed, or the demo could not run",
            "2:wrong usage"
        },
        description = {
            "Shows the payouts service at work and verifies what it did.%n",
            "Produces payouts, page views and statement lines, runs the service in processes of its own, kills them if"
                    + " asked to, and reads the result back from Kafka with Kafka's own clients. The last line begins"
                    + " with RESULT and is for machines:",
            "  lost        payouts with an amount and without a confirmation",
            "  duplicates  confirmations beyond the first of a payout",
            "  dropped     payouts with amount 0, which must not be confirmed",
            "  committed   'end' if every partition of payouts and statements is committed up to its end",
            "  retried, rebalances  are told by the service, everything else is found in Kafka%n"
        })
public final class PayoutsDemo implements Callable<Integer> {

    /** How long the stream is made to last by default, in seconds: in itself, for each kill, for each more member. */
    private static final int SECONDS_ALONE = 4;

    private static final int SECONDS_PER_KILL = 3;
    private static final int SECONDS_PER_MEMBER = 4;
    private static final Duration LONGEST_BANK_DELAY = Duration.ofMillis(200);

    @Option(
            names = "--payouts",
            paramLabel = "N",
            defaultValue = "20000",
            description = "How many payouts; every 200th has the amount 0. Every fourth comes with a page view and a"
                    + " statement line. Default: ${DEFAULT-VALUE}")
    private long payouts;

    @Option(
            names = "--kill",
            paramLabel = "K",
            defaultValue = "0",
            description = "Kill the service K times (SIGKILL) while some, but not all, of the work is committed, and"
                    + " start it again. Default: ${DEFAULT-VALUE}")
    private int kills;

    @Option(
            names = "--members",
            paramLabel = "M",
            defaultValue = "1",
            description = "Processes that share the work. More than one join one by one, and one of them leaves and"
                    + " comes back. Default: ${DEFAULT-VALUE}")
    private int members;

    @Option(
            names = "--partitions",
            paramLabel = "P",
            defaultValue = "3",
            description = "Partitions of each topic that is created. Default: ${DEFAULT-VALUE}")
    private int partitions;

    @Option(
            names = "--bootstrap",
            paramLabel = "HOST:PORT",
            description = "Use this Kafka instead of starting one. The demo writes into its topics payouts,"
                    + " payouts.done, page-views and statements, creates those that are missing, and leaves them; its"
                    + " groups get new names. One demo at a time.")
    private @Nullable String bootstrap;

    @Option(
            names = "--seed",
            paramLabel = "N",
            description = "Decides amounts, refusals and the moments of kills. Default: a random one, which is printed")
    private @Nullable Long seed;

    @Option(
            names = "--patience",
            paramLabel = "S",
            defaultValue = "60",
            description = "Give up when nothing was committed for so many seconds. Default: ${DEFAULT-VALUE}")
    private long patienceSeconds;

    @Option(names = "--help", usageHelp = true, description = "Show this help.")
    @SuppressWarnings("UnusedVariable") // picocli looks at the annotation alone
    private boolean help;

    @Option(names = "--terminal", hidden = true, description = "Show progress in one line that is updated.")
    private boolean terminal;

    @Mixin
    private final ServiceOptions service = new ServiceOptions();

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec command;

    /** Exits as {@code --help} says. */
    public static void main(String[] args) {
        System.exit(execute(new CommandLine(new PayoutsDemo()), args));
    }

    /** Runs the demo, with its output where {@code commandLine} has it. */
    static int execute(CommandLine commandLine, String... args) {
        return commandLine
                .setParameterExceptionHandler((wrong, parsed) -> {
                    PrintWriter err = wrong.getCommandLine().getErr();
                    err.println(wrong.getMessage());
                    err.println("--help shows all options.");
                    err.flush();
                    return CommandLine.ExitCode.USAGE;
                })
                .setExecutionExceptionHandler((exception, line, parsed) -> {
                    if (!(exception instanceof DemoException)) {
                        throw exception;
                    }
                    line.getErr().println(exception.getMessage());
                    line.getErr().flush();
                    return CommandLine.ExitCode.SOFTWARE;
                })
                .execute(args);
    }

    @Override
    public Integer call() {
        check(payouts >= 1, "--payouts must be 1 or more, but is " + payouts);
        check(kills >= 0, "--kill must be 0 or more, but is " + kills);
        check(members >= 1, "--members must be 1 or more, but is " + members);
        check(partitions >= 1, "--partitions must be 1 or more, but is " + partitions);
        check(patienceSeconds >= 1, "--patience must be 1 or more, but is " + patienceSeconds);
        long usedSeed = seed == null ? new Random().nextInt(1_000_000) : seed;
        Console console = new Console(command.commandLine().getOut(), terminal);
        try (Cluster cluster = bootstrap == null ? Cluster.embedded() : Cluster.existing(bootstrap)) {
            return run(cluster, new Workload(payouts, usedSeed), console);
        }
    }

    private int run(Cluster cluster, Workload workload, Console console) {
        Groups groups = new Groups(cluster.temporary() ? "" : "-demo-" + System.currentTimeMillis());
        Duration bankDelay = bankDelay();
        console.say("Kafka    %s, at %s", cluster.temporary() ? "started for this run" : "given", cluster.bootstrap());
        List<String> existing = cluster.prepare(partitions, groups);
        if (!existing.isEmpty()) {
            console.say("Topics   there already: %s; what is in them is left alone", String.join(", ", existing));
        }
        console.say(
                "Work     %,d payouts, %,d page views, %,d statement lines; seed %d",
                workload.payouts(), workload.pageViews(), workload.statementLines(), workload.seed());
        console.say(
                "Service  %s %d workers; the bank takes %d ms for a payout",
                members == 1 ? "one process with" : members + " processes, each with",
                service.workers(),
                bankDelay.toMillis());
        Random random = new Random(workload.seed());
        try (Fleet fleet = new Fleet(members, arguments(cluster, groups, workload.seed(), bankDelay), console::print)) {
            fleet.startFirst();
            DemoRun run = new DemoRun(
                    cluster, groups, workload, fleet, kills, Duration.ofSeconds(patienceSeconds), random, console);
            Result result = run.run();
            Report.lines(result, workload).forEach(console::print);
            if (!run.problem().isEmpty()) {
                console.say("PROBLEM  %s", run.problem());
            }
            console.print(result.line());
            return result.passed() && run.problem().isEmpty() ? 0 : 1;
        }
    }

    private List<String> arguments(Cluster cluster, Groups groups, long usedSeed, Duration bankDelay) {
        List<String> arguments = new ArrayList<>(List.of(
                "--bootstrap=" + cluster.bootstrap(),
                "--group-suffix=" + groups.suffix(),
                "--session-timeout=" + cluster.sessionTimeout().toMillis(),
                "--seed=" + usedSeed));
        arguments.addAll(service.arguments(bankDelay));
        return arguments;
    }

    /** Unless it is said, the bank is slow enough for the stream to last while processes die and come back. */
    private Duration bankDelay() {
        Duration asked = service.bankDelay();
        if (asked != null) {
            return asked;
        }
        long seconds = SECONDS_ALONE + (long) SECONDS_PER_KILL * kills + (long) SECONDS_PER_MEMBER * (members - 1);
        long fitting = seconds * 1000 * service.workers() * members / payouts;
        return Duration.ofMillis(Math.clamp(fitting, 1, LONGEST_BANK_DELAY.toMillis()));
    }

    private void check(boolean fits, String message) {
        if (!fits) {
            throw new ParameterException(command.commandLine(), message);
        }
    }
}
