package io.settlestream.conformance.simulation;

import java.util.List;
import java.util.Optional;

/**
 * How a run ended.
 *
 * @param plan what the seed stands for
 * @param fingerprint equal for runs that did the same
 * @param reproducible whether the run can be had again
 * @param deliveries how many records were given to handlers
 * @param violation the first rule that it broke, or what else went wrong
 * @param trace what happened
 */
record RunResult(
        RunPlan plan,
        long fingerprint,
        boolean reproducible,
        long deliveries,
        Optional<Throwable> violation,
        List<String> trace) {

    RunResult {
        trace = List.copyOf(trace);
    }

    /** The run in full, for whoever has to find out what went wrong. */
    String report() {
        StringBuilder report = new StringBuilder("seed " + plan.seed() + "\n");
        plan.subscriptions()
                .forEach(
                        subscription -> report.append("  ").append(subscription).append('\n'));
        trace.forEach(line -> report.append(line).append('\n'));
        violation.ifPresent(cause -> report.append("seed ")
                .append(plan.seed())
                .append(" broke ")
                .append(cause)
                .append('\n')
                .append("again: bin/simulate --seeds 1 --from ")
                .append(plan.seed())
                .append('\n'));
        return report.toString();
    }

    /** This, with a violation if an earlier run of the same seed did something else. */
    RunResult comparedTo(RunResult earlier) {
        if (violation.isPresent() || (fingerprint == earlier.fingerprint && trace.equals(earlier.trace))) {
            return this;
        }
        int same = 0;
        while (same < Math.min(trace.size(), earlier.trace.size())
                && trace.get(same).equals(earlier.trace.get(same))) {
            same++;
        }
        String what = "two runs of the seed differ in line " + (same + 1) + ": \n" + line(earlier.trace, same) + "\n"
                + line(trace, same);
        return new RunResult(
                plan,
                fingerprint,
                reproducible,
                deliveries,
                Optional.of(new Violation("11.4 the same again", what)),
                trace);
    }

    private static String line(List<String> trace, int number) {
        return number < trace.size() ? trace.get(number) : "(no more lines)";
    }
}
