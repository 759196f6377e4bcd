package io.settlestream.bench;

import java.util.Arrays;
import java.util.Locale;

/**
 * How long the cycles of a measurement took.
 *
 * @param mean in milliseconds
 * @param p50 half of the cycles took at most so many milliseconds
 * @param p99 99 of 100 cycles took at most so many milliseconds
 * @param max in milliseconds
 * @param cpu the processor time of the whole process, its compiler and collector included, in milliseconds for each cycle:
 *     what stays the same on a machine that is busy with other things
 */
record Durations(double mean, double p50, double p99, double max, double cpu) {

    private static final double NANOS_PER_MILLI = 1e6;

    static Durations of(long[] nanos, long cpuNanos) {
        if (nanos.length == 0) {
            throw new IllegalArgumentException("nothing was measured; name at least one cycle");
        }
        long[] sorted = nanos.clone();
        Arrays.sort(sorted);
        return new Durations(
                Arrays.stream(sorted).average().orElseThrow() / NANOS_PER_MILLI,
                at(sorted, 0.50),
                at(sorted, 0.99),
                sorted[sorted.length - 1] / NANOS_PER_MILLI,
                cpuNanos / NANOS_PER_MILLI / nanos.length);
    }

    private static double at(long[] sorted, double part) {
        return sorted[(int) Math.ceil(part * sorted.length) - 1] / NANOS_PER_MILLI;
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "mean %.1f ms, p50 %.1f ms, p99 %.1f ms, max %.1f ms, processor %.1f ms",
                mean,
                p50,
                p99,
                max,
                cpu);
    }
}
