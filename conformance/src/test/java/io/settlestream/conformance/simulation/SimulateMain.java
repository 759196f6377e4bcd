package io.settlestream.conformance.simulation;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs seeds from the command line; see {@code bin/simulate}. */
final class SimulateMain {

    private static final long EVERY = TimeUnit.SECONDS.toNanos(2);

    private SimulateMain() {}

    public static void main(String[] args) {
        long seeds = 1_000;
        long from = System.nanoTime() & 0xFFFFFFF;
        boolean traced = false;
        boolean twice = false;
        for (int i = 0; i < args.length; i++) {
            switch (args[i]) {
                case "--seeds" -> seeds = Long.parseLong(args[++i]);
                case "--from" -> from = Long.parseLong(args[++i]);
                case "--trace" -> traced = true;
                case "--twice" -> twice = true;
                default ->
                    throw new IllegalArgumentException(
                            "unknown option " + args[i] + "; there are --seeds N, --from S, --twice and --trace");
            }
        }
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        System.exit(run(from, seeds, traced, twice, out) ? 0 : 1);
    }

    private static boolean run(long from, long seeds, boolean traced, boolean twice, PrintStream out) {
        long began = System.nanoTime();
        long said = began;
        long deliveries = 0;
        long elusive = 0;
        long fingerprint = 1;
        List<Long> failed = new ArrayList<>();
        out.println("seeds " + from + " to " + (from + seeds - 1));
        for (long seed = from; seed < from + seeds; seed++) {
            RunResult result = twice ? SimulationRun.twice(seed) : SimulationRun.of(seed);
            deliveries += result.deliveries();
            fingerprint = 31 * fingerprint + result.fingerprint();
            elusive += result.reproducible() ? 0 : 1;
            if (result.violation().isPresent()) {
                failed.add(seed);
                out.println(result.report());
            } else if (traced) {
                out.println(result.report());
            }
            long now = System.nanoTime();
            if (now - said > EVERY) {
                said = now;
                out.println((seed - from + 1) + " of " + seeds + " seeds, " + failed.size() + " failed");
            }
        }
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
        out.println(seeds + " seeds with " + deliveries + " deliveries in " + millis + " ms, " + failed.size()
                + " failed" + (failed.isEmpty() ? "" : ": " + failed)
                + ", fingerprint " + Long.toHexString(fingerprint)
                + (elusive == 0 ? "" : "; " + elusive + " cannot be had again exactly"));
        return failed.isEmpty();
    }
}
