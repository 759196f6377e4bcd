package io.settlestream.testing.internal.kafka;

import io.settlestream.testing.internal.kafka.TransactionCoordinator.Identity;
import java.util.Map;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.FencedInstanceIdException;
import org.apache.kafka.common.errors.GroupAuthorizationException;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.errors.IllegalGenerationException;
import org.apache.kafka.common.errors.InvalidPidMappingException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.InvalidTxnStateException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.StaleMemberEpochException;
import org.apache.kafka.common.errors.TransactionAbortableException;
import org.apache.kafka.common.errors.TransactionalIdAuthorizationException;
import org.apache.kafka.common.errors.UnknownMemberIdException;
import org.apache.kafka.common.errors.UnknownProducerIdException;

/** What a producer asks the coordinator for, and what it makes of the coordinator's errors. */
sealed interface TransactionRequest {

    record Init() implements TransactionRequest {}

    record Offsets(Map<TopicPartition, OffsetAndMetadata> offsets, ConsumerGroupMetadata member)
            implements TransactionRequest {}

    record End(boolean commit) implements TransactionRequest {}

    /** What an error means to the producer. */
    sealed interface Verdict {}

    /** The request is sent again, for as long as the producer lives. */
    record Repeat() implements Verdict {}

    /** The transaction can only be aborted. */
    record Abortable(RuntimeException error) implements Verdict {}

    /** The producer can only be closed. */
    record Fatal(RuntimeException error) implements Verdict {}

    /** What Kafka's errors call the request. */
    default String operation() {
        return switch (this) {
            case Init ignored -> "InitProducerId";
            case Offsets ignored -> "AddOffsetsToTxn";
            case End end -> "EndTxn(" + end.commit() + ")";
        };
    }

    default Faults.Request kind() {
        return switch (this) {
            case Init ignored -> Faults.Request.INIT_TRANSACTIONS;
            case Offsets ignored -> Faults.Request.TRANSACTION_OFFSETS;
            case End ignored -> Faults.Request.END_TRANSACTION;
        };
    }

    /** With the cluster's lock: has it done. */
    default Identity perform(TransactionCoordinator coordinator, ProducerOptions options, Identity producer) {
        String id = options.requireTransactionalId();
        return switch (this) {
            case Init ignored -> coordinator.init(id, options.transactionTimeoutMs());
            case Offsets add -> {
                coordinator.addOffsets(id, producer, add.member(), add.offsets());
                yield producer;
            }
            case End end -> coordinator.end(id, producer, end.commit());
        };
    }

    default Verdict verdict(KafkaException error) {
        if (error instanceof RetriableException) {
            return new Repeat();
        }
        if (error instanceof InvalidProducerEpochException || error instanceof ProducerFencedException) {
            return new Fatal(new ProducerFencedException(
                    "There is a newer producer with the same transactionalId which fences the current one."));
        }
        return switch (this) {
            case Init ignored -> ofInit(error);
            case Offsets ignored -> ofOffsets(error);
            case End end -> ofEnd(error, end.commit());
        };
    }

    private static Verdict ofInit(KafkaException error) {
        return switch (error) {
            case TransactionalIdAuthorizationException ignored -> new Abortable(error);
            case ClusterAuthorizationException ignored -> new Abortable(error);
            case TransactionAbortableException ignored -> new Abortable(error);
            default ->
                new Fatal(new KafkaException("Unexpected error in InitProducerIdResponse; " + error.getMessage()));
        };
    }

    private static Verdict ofOffsets(KafkaException error) {
        return switch (error) {
            case UnknownMemberIdException ignored -> mismatch(error);
            case IllegalGenerationException ignored -> mismatch(error);
            case GroupIdNotFoundException ignored -> mismatch(error);
            case StaleMemberEpochException ignored -> mismatch(error);
            case GroupAuthorizationException ignored -> new Abortable(error);
            case FencedInstanceIdException ignored -> new Abortable(error);
            case TransactionAbortableException ignored -> new Abortable(error);
            case UnknownProducerIdException ignored -> new Abortable(error);
            case TransactionalIdAuthorizationException ignored -> new Fatal(error);
            case InvalidTxnStateException ignored -> new Fatal(error);
            case InvalidPidMappingException ignored -> new Fatal(error);
            default ->
                new Fatal(new KafkaException("Unexpected error in TxnOffsetCommitResponse: " + error.getMessage()));
        };
    }

    private static Verdict mismatch(KafkaException error) {
        return new Abortable(new CommitFailedException(
                "Transaction offset Commit failed due to consumer group metadata mismatch: " + error.getMessage()));
    }

    private static Verdict ofEnd(KafkaException error, boolean commit) {
        return switch (error) {
            case TransactionalIdAuthorizationException ignored -> new Fatal(error);
            case InvalidTxnStateException ignored -> new Fatal(error);
            case InvalidPidMappingException ignored -> new Fatal(error);
            case UnknownProducerIdException ignored -> new Abortable(error);
            case TransactionAbortableException ignored ->
                commit ? new Abortable(error) : new Fatal(new KafkaException("Failed to abort transaction", error));
            default -> new Fatal(new KafkaException("Unhandled error in EndTxnResponse: " + error.getMessage()));
        };
    }
}
