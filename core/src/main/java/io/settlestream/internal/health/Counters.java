package io.settlestream.internal.health;

import io.settlestream.Health;
import java.util.concurrent.atomic.LongAdder;

/** What happened on one subscription since its start. Thread-safe. */
public final class Counters {

    public final LongAdder acked = new LongAdder();
    public final LongAdder dropped = new LongAdder();
    public final LongAdder retried = new LongAdder();
    public final LongAdder unsupportedRetries = new LongAdder();
    public final LongAdder exceptions = new LongAdder();
    public final LongAdder undecodable = new LongAdder();
    public final LongAdder failedReplies = new LongAdder();
    public final LongAdder stale = new LongAdder();
    public final LongAdder batchMismatches = new LongAdder();
    public final LongAdder rebalances = new LongAdder();
    public final LongAdder failedCommits = new LongAdder();
    public final LongAdder trimmed = new LongAdder();
    public final LongAdder deadLettered = new LongAdder();
    public final LongAdder exhausted = new LongAdder();
    public final LongAdder retryCopies = new LongAdder();
    public final LongAdder failedCopies = new LongAdder();

    public Health.Counts snapshot() {
        return new Health.Counts(
                acked.sum(),
                dropped.sum(),
                retried.sum(),
                unsupportedRetries.sum(),
                exceptions.sum(),
                undecodable.sum(),
                failedReplies.sum(),
                stale.sum(),
                batchMismatches.sum(),
                rebalances.sum(),
                failedCommits.sum(),
                trimmed.sum(),
                deadLettered.sum(),
                exhausted.sum(),
                retryCopies.sum(),
                failedCopies.sum());
    }
}
