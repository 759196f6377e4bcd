package io.settlestream.examples.payouts.demo;

import io.settlestream.Health;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the service's own counters say, told by each of its processes a few times a second. What a killed process did
 * after it last told is missing here; Kafka has it.
 *
 * @param retried attempts that ended in a retry
 * @param lostViews page views that were not taken and did not come back
 * @param rebalances how often partitions were assigned, revoked or lost after a subscription's first assignment
 */
record Told(long retried, long lostViews, long rebalances) {

    static final Told NOTHING = new Told(0, 0, 0);

    private static final Pattern LINE = Pattern.compile("told retried=(\\d+) lost-views=(\\d+) rebalances=(\\d+)");

    static Told by(Health health) {
        List<Health.Counts> counts =
                health.subscriptions().stream().map(Health.Subscription::counts).toList();
        return new Told(
                counts.stream().mapToLong(Health.Counts::retried).sum(),
                counts.stream().mapToLong(Health.Counts::unsupportedRetries).sum(),
                counts.stream().mapToLong(c -> Math.max(0, c.rebalances() - 1)).sum());
    }

    static Optional<Told> parse(String line) {
        Matcher told = LINE.matcher(line);
        return told.matches()
                ? Optional.of(new Told(
                        Long.parseLong(told.group(1)), Long.parseLong(told.group(2)), Long.parseLong(told.group(3))))
                : Optional.empty();
    }

    String line() {
        return "told retried=" + retried + " lost-views=" + lostViews + " rebalances=" + rebalances;
    }

    Told plus(Told other) {
        return new Told(retried + other.retried, lostViews + other.lostViews, rebalances + other.rebalances);
    }

    /** The same, but with the rebalances of an earlier moment. */
    Told withRebalances(Told earlier) {
        return new Told(retried, lostViews, earlier.rebalances);
    }
}
