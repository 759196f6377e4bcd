package io.settlestream.testing.internal.kafka;

import io.settlestream.testing.internal.kafka.Produce.Appended;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What became of batches, to be told to the application. Noted with the cluster's lock; told without it by the producer's
 * thread, in the order of noting.
 *
 * <p>The callbacks come first, then what the failure means to the producer, then the futures complete: a callback still
 * finds the producer as it was, as with Kafka's, and whoever waited for the future finds it changed.
 */
final class Reports {

    private static final Logger LOG = LoggerFactory.getLogger(Reports.class);

    private record Report(
            Batch batch, @Nullable Appended where, IntFunction<RuntimeException> errors, Runnable consequence) {}

    private final Cluster cluster;
    private final Accumulator accumulator;
    private final Deque<Report> untold = new ArrayDeque<>();

    private volatile boolean silent;

    Reports(Cluster cluster, Accumulator accumulator) {
        this.cluster = cluster;
        this.accumulator = accumulator;
    }

    void appended(Batch batch, Appended where) {
        untold.add(new Report(
                batch,
                where,
                index -> {
                    throw new IllegalStateException("Record " + index + " was appended");
                },
                () -> {}));
    }

    /**
     * None of the records was appended, as far as is known.
     *
     * @param errors by the record's place in the batch
     * @param consequence what it means to the producer; done with the lock
     */
    void failed(Batch batch, IntFunction<RuntimeException> errors, Runnable consequence) {
        untold.add(new Report(batch, null, errors, consequence));
    }

    boolean has(Batch batch) {
        return untold.stream().anyMatch(report -> report.batch() == batch);
    }

    /** Calls nobody back any more; futures still complete, so that no thread waits for ever. */
    void silence() {
        silent = true;
    }

    boolean isEmpty() {
        return untold.isEmpty();
    }

    /** Calls the application back for all of them. */
    void tell() {
        Report next = cluster.locked(untold::peekFirst);
        while (next != null) {
            Report report = next;
            List<SentRecord> records = report.batch().records();
            for (int index = 0; index < records.size(); index++) {
                tell(report, records.get(index), index);
            }
            cluster.locked(() -> {
                consequence(report);
                accumulator.complete(report.batch());
                records.forEach(SentRecord::complete);
                return untold.removeFirst();
            });
            cluster.host().changed();
            next = cluster.locked(untold::peekFirst);
        }
    }

    private void tell(Report report, SentRecord record, int index) {
        try {
            if (silent) {
                record.lose();
            } else if (report.where() != null) {
                record.succeed(report.where(), index);
            } else {
                record.fail(report.errors().apply(index));
            }
        } catch (RuntimeException failure) {
            LOG.atError()
                    .addKeyValue("partition", report.batch().partition())
                    .setCause(failure)
                    .log("A callback threw an exception");
        }
    }

    private static void consequence(Report report) {
        try {
            report.consequence().run();
        } catch (IllegalStateException tooLate) {
            LOG.atDebug()
                    .setCause(tooLate)
                    .log("The producer's state does not allow for the failure of a batch any more");
        }
    }
}
