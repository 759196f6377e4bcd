package io.settlestream.testing.internal.kafka;

import io.settlestream.testing.internal.kafka.TransactionCoordinator.Identity;
import io.settlestream.testing.internal.kafka.TransactionRequest.Abortable;
import io.settlestream.testing.internal.kafka.TransactionRequest.End;
import io.settlestream.testing.internal.kafka.TransactionRequest.Fatal;
import io.settlestream.testing.internal.kafka.TransactionRequest.Repeat;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.TransactionAbortedException;
import org.jspecify.annotations.Nullable;

/**
 * A producer's requests to the transaction coordinator: one at a time, in order, sent by the producer's thread. While one
 * is under way no records are sent, and the one that ends a transaction waits for the reports of all its records. With
 * the cluster's lock.
 */
final class TransactionRequests {

    /** The producer's batches, as far as transactions end them. */
    interface Batches {

        /** Whether there are batches that are not reported. */
        boolean areIncomplete();

        /** Fails those that the broker has not seen. */
        void abandonUnsent(RuntimeException why);

        /** Fails all. */
        void abandonAll(RuntimeException why);
    }

    private static final class Queued {
        private final TransactionRequest request;
        private final TransactionResult result;
        private int attempts;
        private long sendAt;
        private boolean sent;
        private long answerAt;
        private @Nullable Identity identity;
        private @Nullable KafkaException error;

        Queued(TransactionRequest request, Host host) {
            this.request = request;
            this.result = new TransactionResult(request.operation(), host);
        }

        /** The answer will be there at some time. */
        void answered(long at, @Nullable Identity next, @Nullable KafkaException refused) {
            sent = true;
            answerAt = at;
            identity = next;
            error = refused;
        }
    }

    private final Cluster cluster;
    private final ProducerOptions options;
    private final ProducerTransactions transactions;
    private final Deque<Queued> queue = new ArrayDeque<>();

    TransactionRequests(Cluster cluster, ProducerOptions options, ProducerTransactions transactions) {
        this.cluster = cluster;
        this.options = options;
        this.transactions = transactions;
    }

    TransactionResult add(TransactionRequest request) {
        Queued queued = new Queued(request, cluster.host());
        queued.sendAt = cluster.host().nanoTime();
        queue.add(queued);
        return queued.result;
    }

    /** Whether records may be sent now. */
    boolean letRecordsPass() {
        Queued first = queue.peekFirst();
        return transactions.state() != TransactionState.FATAL_ERROR && (first == null || !first.sent);
    }

    /** Does what is due; says when to come again if nothing changes. */
    long step(long now, Batches batches) {
        while (true) {
            endBatches(batches);
            Queued first = queue.peekFirst();
            if (first == null) {
                return Long.MAX_VALUE;
            }
            if (first.sent) {
                if (!Deadline.isPast(first.answerAt, now)) {
                    return first.answerAt;
                }
                takeAnswer(first, now);
                continue;
            }
            boolean ends = first.request instanceof End;
            if (ends && batches.areIncomplete()) {
                return Long.MAX_VALUE;
            }
            RuntimeException error = transactions.lastError();
            if (transactions.state().isError() && error != null) {
                queue.removeFirst();
                first.result.fail(error);
            } else if (ends && !transactions.isStarted()) {
                queue.removeFirst();
                transactions.endedEmpty();
                first.result.succeed();
            } else if (Deadline.isPast(first.sendAt, now)) {
                send(first, now);
            } else {
                return first.sendAt;
            }
        }
    }

    /** Nothing is sent any more. */
    void abandon(RuntimeException why) {
        queue.forEach(queued -> queued.result.fail(why));
        queue.clear();
    }

    private void endBatches(Batches batches) {
        RuntimeException error = transactions.lastError();
        switch (transactions.state()) {
            case FATAL_ERROR -> batches.abandonAll(error == null ? new KafkaException("fatal") : error);
            case ABORTABLE_ERROR, ABORTING_TRANSACTION ->
                batches.abandonUnsent(error == null ? new TransactionAbortedException() : error);
            case UNINITIALIZED, INITIALIZING, READY, IN_TRANSACTION, COMMITTING_TRANSACTION -> {}
        }
    }

    private void send(Queued queued, long now) {
        Fault fault = cluster.faults().take(queued.request.kind(), options.requireTransactionalId());
        switch (fault) {
            case Fault.Fail fail -> queued.answered(now, null, fail.error());
            case Fault.LoseAnswer ignored -> {
                perform(queued, now);
                queued.answered(now, null, FaultErrors.disconnected());
            }
            case Fault.Delay delay -> {
                long patience = TimeUnit.MILLISECONDS.toNanos(options.requestTimeoutMs());
                perform(queued, Deadline.after(now, delay.by().toNanos()));
                if (delay.by().toNanos() > patience) {
                    queued.answered(Deadline.after(now, patience), null, FaultErrors.timedOut());
                }
            }
            case null -> perform(queued, now);
        }
    }

    private void perform(Queued queued, long answerAt) {
        try {
            Identity next = queued.request.perform(cluster.transactions(), options, transactions.identity());
            queued.answered(answerAt, next, null);
        } catch (KafkaException refused) {
            queued.answered(answerAt, null, refused);
        }
        cluster.host().changed();
    }

    private void takeAnswer(Queued queued, long now) {
        Identity next = queued.identity;
        KafkaException error = queued.error;
        if (error != null) {
            refused(queued, error, now);
        } else if (next != null) {
            queue.removeFirst();
            transactions.done(queued.request, next);
            queued.result.succeed();
        }
    }

    private void refused(Queued queued, KafkaException error, long now) {
        switch (queued.request.verdict(error)) {
            case Repeat ignored -> {
                queued.sent = false;
                queued.attempts++;
                queued.sendAt = Deadline.after(now, options.backoffNanos(queued.attempts));
            }
            case Abortable abortable -> {
                queue.removeFirst();
                queued.result.fail(abortable.error());
                transactions.abortable(abortable.error());
            }
            case Fatal fatal -> {
                queue.removeFirst();
                queued.result.fail(fatal.error());
                transactions.fatal(fatal.error());
            }
        }
    }
}
