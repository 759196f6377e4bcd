package io.settlestream.examples.payouts;

import io.settlestream.examples.payouts.PayoutService.Clients;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

/** The options of the service on command lines, mixed into each command that runs it. */
public final class ServiceOptions {

    @Spec(Target.MIXEE)
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec command;

    private int workers;
    private @Nullable Duration bankDelay;
    private double bankRefusals;
    private double analyticsFailures;

    @Option(
            names = "--workers",
            paramLabel = "N",
            defaultValue = "8",
            description = "Payouts with the bank at a time, in each process of the service; those of one account stay"
                    + " in order. Default: ${DEFAULT-VALUE}")
    void workers(int n) {
        check(n >= 1, "--workers must be 1 or more, but is " + n);
        workers = n;
    }

    @Option(names = "--bank-delay", paramLabel = "MS", description = "Milliseconds that the bank takes for a payout.")
    void bankDelay(@Nullable Long millis) {
        check(millis == null || millis >= 0, "--bank-delay must be 0 or more, but is " + millis);
        bankDelay = millis == null ? null : Duration.ofMillis(millis);
    }

    @Option(
            names = "--bank-refusals",
            paramLabel = "RATE",
            defaultValue = "0.02",
            description = "Part of the payouts that the bank refuses once before it takes them, 0 to 1."
                    + " Default: ${DEFAULT-VALUE}")
    void bankRefusals(double rate) {
        bankRefusals = rate("--bank-refusals", rate);
    }

    @Option(
            names = "--analytics-failures",
            paramLabel = "RATE",
            defaultValue = "0.01",
            description = "Part of the page views that the analytics store does not take, 0 to 1."
                    + " Default: ${DEFAULT-VALUE}")
    void analyticsFailures(double rate) {
        analyticsFailures = rate("--analytics-failures", rate);
    }

    /** How many payouts are with the bank at a time. */
    public int workers() {
        return workers;
    }

    /** How long the bank takes, if it was said. */
    public @Nullable Duration bankDelay() {
        return bankDelay;
    }

    /** A bank and an analytics store that fail as the options say. */
    public Clients clients(Duration bankDelay, long seed) {
        return new Clients(
                Simulation.bank(bankRefusals, bankDelay, seed), Simulation.analytics(analyticsFailures, seed));
    }

    /** The options as they would be written on the command line of another process. */
    public List<String> arguments(Duration bankDelay) {
        return List.of(
                "--workers=" + workers,
                "--bank-delay=" + bankDelay.toMillis(),
                "--bank-refusals=" + bankRefusals,
                "--analytics-failures=" + analyticsFailures);
    }

    private double rate(String option, double rate) {
        check(rate >= 0 && rate <= 1, option + " must be from 0 to 1, but is " + rate);
        return rate;
    }

    private void check(boolean fits, String message) {
        if (!fits) {
            throw new ParameterException(command.commandLine(), message);
        }
    }
}
