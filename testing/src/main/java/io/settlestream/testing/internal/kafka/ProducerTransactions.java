package io.settlestream.testing.internal.kafka;

import static io.settlestream.testing.internal.kafka.TransactionState.ABORTABLE_ERROR;
import static io.settlestream.testing.internal.kafka.TransactionState.ABORTING_TRANSACTION;
import static io.settlestream.testing.internal.kafka.TransactionState.COMMITTING_TRANSACTION;
import static io.settlestream.testing.internal.kafka.TransactionState.FATAL_ERROR;
import static io.settlestream.testing.internal.kafka.TransactionState.INITIALIZING;
import static io.settlestream.testing.internal.kafka.TransactionState.IN_TRANSACTION;
import static io.settlestream.testing.internal.kafka.TransactionState.READY;
import static io.settlestream.testing.internal.kafka.TransactionState.UNINITIALIZED;

import io.settlestream.testing.internal.kafka.TransactionCoordinator.Identity;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.InvalidPidMappingException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.InvalidTxnStateException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TransactionAbortableException;
import org.apache.kafka.common.errors.TransactionalIdAuthorizationException;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.jspecify.annotations.Nullable;

/**
 * The state of a producer's transactions and its errors: what may be called when, and what a failure leaves behind. A
 * producer without transactional id stays {@link TransactionState#UNINITIALIZED}, unless an error is fatal to it.
 *
 * <p>An error is told twice. The call or record that met it gets the error itself. Later calls get it as the cause of a
 * {@link KafkaException}, except that fencing and old epochs keep their class. After an abortable error only an abort is
 * possible, after a fatal one only to close.
 *
 * <p>A call that waits too long throws, and what it asked for goes on: until that is done, only the same call may be
 * made, which then waits for the first one's result.
 *
 * <p>Unlike Kafka's producer this one does not keep a record whose {@code send} throws because there is no transaction.
 * There, the record stays in the buffer and joins, or blocks, the next transaction.
 *
 * <p>With the cluster's lock, by callers and by the producer's thread.
 */
final class ProducerTransactions {

    /** A change of state that a call began and that its request ends. */
    private record Transition(TransactionResult result, TransactionState to, String call) {}

    private final ProducerOptions options;
    private final @Nullable Sequences sequences;
    private TransactionState state = UNINITIALIZED;
    private @Nullable RuntimeException lastError;
    private @Nullable Transition transition;

    /** Whether something of the transaction may have reached the broker, so that it must be told of its end. */
    private boolean started;

    ProducerTransactions(ProducerOptions options, @Nullable Sequences sequences) {
        this.options = options;
        this.sequences = sequences;
    }

    TransactionState state() {
        return state;
    }

    @Nullable
    RuntimeException lastError() {
        return lastError;
    }

    boolean isStarted() {
        return started;
    }

    Identity identity() {
        Sequences known = requireSequences();
        return new Identity(known.producerId(), known.epoch());
    }

    TransactionResult init(TransactionRequests requests) {
        requireTransactional();
        requireNoError();
        return begun(INITIALIZING, "initTransactions", requests, new TransactionRequest.Init());
    }

    void begin() {
        requireTransactional();
        requireNoneUnderWay("beginTransaction");
        requireNoError();
        become(IN_TRANSACTION, null);
    }

    TransactionResult addOffsets(
            TransactionRequests requests,
            Map<TopicPartition, OffsetAndMetadata> offsets,
            ConsumerGroupMetadata member) {
        requireTransactional();
        requireNoneUnderWay("sendOffsetsToTransaction");
        requireNoError();
        if (state != IN_TRANSACTION) {
            throw new IllegalStateException(
                    "Cannot send offsets if a transaction is not in progress (currentState= " + state + ")");
        }
        started = true;
        return requests.add(new TransactionRequest.Offsets(new LinkedHashMap<>(offsets), member));
    }

    TransactionResult end(TransactionRequests requests, boolean commit) {
        requireTransactional();
        return begun(
                commit ? COMMITTING_TRANSACTION : ABORTING_TRANSACTION,
                commit ? "commitTransaction" : "abortTransaction",
                requests,
                new TransactionRequest.End(commit));
    }

    /** Throws if no record may be sent now; otherwise the transaction has one. */
    void admit(TopicPartition partition) {
        requireNoError();
        requireNoneUnderWay("send");
        if (options.transactionalId() == null) {
            return;
        }
        if (state == UNINITIALIZED || state == INITIALIZING) {
            throw new IllegalStateException("Cannot add partition " + partition
                    + " to transaction before completing a call to initTransactions");
        }
        if (state != IN_TRANSACTION) {
            throw new IllegalStateException(
                    "Cannot add partition " + partition + " to transaction while in state  " + state);
        }
        started = true;
    }

    /** A record has failed. */
    void failed(RuntimeException error) {
        if (sequences == null) {
            return;
        }
        if (error instanceof ClusterAuthorizationException
                || error instanceof TransactionalIdAuthorizationException
                || error instanceof ProducerFencedException
                || error instanceof UnsupportedVersionException
                || error instanceof InvalidPidMappingException) {
            fatal(error);
        } else if (options.transactionalId() != null) {
            boolean exhausted = error instanceof RetriableException || error instanceof InvalidTxnStateException;
            abortable(
                    exhausted
                            ? new TransactionAbortableException(
                                    "Transaction Request was aborted after exhausting retries.", error)
                            : error);
        }
    }

    /** What became of a record is not known and will not be, so that its number cannot be used again. */
    void lostCount() {
        if (sequences != null && options.transactionalId() == null) {
            sequences.startAnew();
        } else if (sequences != null) {
            abortable(new KafkaException("The client hasn't received acknowledgment for some previously sent messages"
                    + " and can no longer retry them. It is safe to abort the transaction and continue."));
        }
    }

    void abortable(RuntimeException error) {
        // A transaction that is being aborted has no further to fall.
        if (state != ABORTING_TRANSACTION) {
            become(ABORTABLE_ERROR, error);
        }
    }

    void fatal(RuntimeException error) {
        become(FATAL_ERROR, error);
        if (transition != null) {
            transition.result().fail(error);
        }
    }

    /** The broker has done what it was asked, and this is how the producer goes on. */
    void done(TransactionRequest request, Identity next) {
        switch (request) {
            case TransactionRequest.Offsets ignored -> {}
            case TransactionRequest.Init ignored -> goOn(next);
            case TransactionRequest.End ignored -> goOn(next);
        }
    }

    /** There was nothing to tell the broker. */
    void endedEmpty() {
        if (state != FATAL_ERROR) {
            goOn(identity());
        }
    }

    private void goOn(Identity next) {
        requireSequences().become(next.producerId(), next.epoch());
        become(READY, null);
        started = false;
    }

    private TransactionResult begun(
            TransactionState to, String call, TransactionRequests requests, TransactionRequest request) {
        Transition earlier = transition;
        if (earlier != null && !earlier.result().isTaken()) {
            if (earlier.to() != to) {
                throw underWay(call, earlier);
            }
            return earlier.result();
        }
        transition = null;
        if (to != ABORTING_TRANSACTION || state != ABORTABLE_ERROR) {
            requireNoError();
        }
        become(to, null);
        TransactionResult result = requests.add(request);
        transition = new Transition(result, to, call);
        return result;
    }

    private void become(TransactionState next, @Nullable RuntimeException error) {
        if (!state.mayBecome(next)) {
            throw new IllegalStateException("TransactionalId " + options.transactionalId()
                    + ": Invalid transition attempted from state " + state + " to state " + next);
        }
        state = next;
        lastError = error;
    }

    private void requireTransactional() {
        if (options.transactionalId() == null) {
            throw new IllegalStateException("Transactional method invoked on a non-transactional producer.");
        }
    }

    private void requireNoneUnderWay(String call) {
        Transition earlier = transition;
        if (earlier != null && !earlier.result().isTaken()) {
            throw underWay(call, earlier);
        }
        transition = null;
    }

    private static IllegalStateException underWay(String call, Transition earlier) {
        return new IllegalStateException("Cannot attempt operation `" + call + "` because the previous call to `"
                + earlier.call() + "` timed out and must be retried");
    }

    private void requireNoError() {
        RuntimeException error = lastError;
        if (!state.isError() || error == null) {
            return;
        }
        Identity self = identity();
        String who = "Producer with transactionalId '" + options.transactionalId() + "' and (producerId="
                + self.producerId() + ", epoch=" + self.epoch() + ")";
        switch (error) {
            case ProducerFencedException ignored ->
                throw new ProducerFencedException(
                        who + " has been fenced by another producer with the same transactionalId");
            case InvalidProducerEpochException ignored ->
                throw new InvalidProducerEpochException(who + " attempted to produce with an old epoch");
            case IllegalStateException ignored ->
                throw new IllegalStateException(
                        who + " cannot execute transactional method because of previous invalid state transition"
                                + " attempt",
                        error);
            default ->
                throw new KafkaException("Cannot execute transactional method because we are in an error state", error);
        }
    }

    private Sequences requireSequences() {
        if (sequences == null) {
            throw new IllegalStateException("A producer that is not idempotent has no identity");
        }
        return sequences;
    }
}
