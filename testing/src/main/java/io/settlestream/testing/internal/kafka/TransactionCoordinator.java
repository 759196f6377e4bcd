package io.settlestream.testing.internal.kafka;

import io.settlestream.spi.TimeSource.Timer;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.InvalidTxnStateException;
import org.apache.kafka.common.errors.InvalidTxnTimeoutException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.jspecify.annotations.Nullable;

/**
 * The broker's side of transactions, in the second version of their protocol (KIP-890), which brokers speak from 4.0 on.
 *
 * <p>A transactional id has a producer id and an epoch. Everything that a producer asks for carries both, and is refused
 * if the epoch is not the current one. The epoch grows when
 *
 * <ul>
 *   <li>a producer initialises: by one, or by two if it finds a transaction of its predecessor, which is aborted under
 *       the first of them;
 *   <li>a transaction ends: the answer tells the producer the epoch it goes on with, and its markers carry it too, so
 *       that a record of the ended transaction that comes late is refused by the partition;
 *   <li>a transaction takes longer than its producer allowed itself, and is aborted.
 * </ul>
 *
 * <p>A producer whose answer was lost asks again with the epoch before. So a request to end a transaction whose epoch is
 * one behind is taken for a repetition if it asks for the end that the transaction came to. That is also what a producer
 * meets that did not notice that its transaction timed out: its abort succeeds and it can go on, its commit is an invalid
 * transition. One that was fenced is two epochs behind, or finds that no transaction has ended, and learns that it is
 * fenced.
 *
 * <p>With the cluster's lock.
 */
final class TransactionCoordinator {

    /** The broker's {@code transaction.max.timeout.ms}. */
    private static final int MAX_TIMEOUT_MS = 900_000;

    /** Brokers look for transactions that have timed out so often. */
    private static final long TIMEOUT_CHECK_MS = 10_000;

    /** A producer's identity for what it asks for next. */
    record Identity(long producerId, short epoch) {}

    private enum State {
        /** Initialised, and nothing begun. */
        EMPTY,
        ONGOING,
        COMMITTED,
        ABORTED
    }

    private static final class Transaction {
        private Identity identity;
        private int timeoutMs;
        private State state = State.EMPTY;
        private final Set<TopicPartition> partitions = new LinkedHashSet<>();
        private boolean hasOffsets;
        private @Nullable Timer timeout;

        Transaction(Identity identity) {
            this.identity = identity;
        }
    }

    private final Cluster cluster;
    private final Map<String, Transaction> transactions = new LinkedHashMap<>();

    TransactionCoordinator(Cluster cluster) {
        this.cluster = cluster;
    }

    /** Makes a producer the holder of an id: fences the one before it and aborts its transaction. */
    Identity init(String id, int timeoutMs) {
        if (timeoutMs > MAX_TIMEOUT_MS) {
            throw new InvalidTxnTimeoutException(
                    "The transaction timeout is larger than the maximum value allowed by the"
                            + " broker (as configured by transaction.max.timeout.ms).");
        }
        Transaction transaction = transactions.get(id);
        if (transaction == null) {
            transaction = new Transaction(new Identity(cluster.newProducerId(), (short) 0));
            transactions.put(id, transaction);
        } else {
            if (transaction.state == State.ONGOING) {
                end(transaction, false);
            }
            transaction.identity = next(transaction.identity);
        }
        transaction.state = State.EMPTY;
        transaction.timeoutMs = timeoutMs;
        return transaction.identity;
    }

    /**
     * Makes a partition part of a transaction, beginning it if need be.
     *
     * @throws InvalidProducerEpochException if the producer was fenced
     */
    void addPartition(String id, Identity producer, TopicPartition partition) {
        ongoing(id, producer).partitions.add(partition);
    }

    /**
     * Makes offsets part of a transaction, beginning it if need be.
     *
     * @throws InvalidProducerEpochException if the producer was fenced
     * @throws org.apache.kafka.common.KafkaException as the group's coordinator refuses
     */
    void addOffsets(
            String id,
            Identity producer,
            ConsumerGroupMetadata member,
            Map<TopicPartition, OffsetAndMetadata> offsets) {
        ongoing(id, producer).hasOffsets = true;
        cluster.groups().addPending(producer.producerId(), member, offsets);
    }

    /**
     * Ends a transaction.
     *
     * @return how the producer goes on
     * @throws ProducerFencedException if another producer holds the id
     * @throws InvalidTxnStateException if there is no transaction that can end so
     */
    Identity end(String id, Identity producer, boolean commit) {
        Transaction transaction = transactions.get(id);
        if (transaction == null) {
            throw fenced();
        }
        boolean current = producer.equals(transaction.identity);
        boolean again = isNext(transaction.identity, producer)
                && (transaction.state == State.COMMITTED || transaction.state == State.ABORTED);
        if (!current && !again) {
            throw fenced();
        }
        if (again) {
            if (commit != (transaction.state == State.COMMITTED)) {
                throw invalid();
            }
            return transaction.identity;
        }
        if (transaction.state == State.ONGOING) {
            end(transaction, commit);
        } else if (commit) {
            throw invalid();
        } else {
            // Nothing of the transaction has reached the broker, as far as the producer knows: it ends all the same, so
            // that what may still come is refused.
            transaction.identity = next(transaction.identity);
            transaction.state = State.ABORTED;
        }
        return transaction.identity;
    }

    private Transaction ongoing(String id, Identity producer) {
        Transaction transaction = transactions.get(id);
        if (transaction == null || !producer.equals(transaction.identity)) {
            throw new InvalidProducerEpochException("Producer attempted to produce with an old epoch.");
        }
        if (transaction.state != State.ONGOING) {
            transaction.state = State.ONGOING;
            long late = cluster.host().choose("how late a transaction times out, ms", 0, TIMEOUT_CHECK_MS, 0);
            transaction.timeout = cluster.host()
                    .schedule(
                            Duration.ofMillis(transaction.timeoutMs + late),
                            () -> cluster.change(() -> timedOut(transaction, producer)));
        }
        return transaction;
    }

    /** An operator lets a transaction time out now: it is aborted, and its producer learns of that by its next request. */
    void expire(String id) {
        Transaction transaction = known(id);
        if (transaction.state != State.ONGOING) {
            throw new IllegalStateException("No transaction of " + id + " is open, so none can time out");
        }
        end(transaction, false);
    }

    /** Another producer becomes the holder of an id: the one before it is fenced and its transaction aborted. */
    void fence(String id) {
        Identity unused = init(id, known(id).timeoutMs);
    }

    private Transaction known(String id) {
        Transaction transaction = transactions.get(id);
        if (transaction == null) {
            throw new IllegalArgumentException(
                    "No producer has used the transactional id " + id + "; there are " + transactions.keySet());
        }
        return transaction;
    }

    private void timedOut(Transaction transaction, Identity since) {
        if (transaction.state == State.ONGOING && transaction.identity.equals(since)) {
            end(transaction, false);
        }
    }

    private void end(Transaction transaction, boolean commit) {
        Identity ended = transaction.identity;
        transaction.identity = next(ended);
        for (TopicPartition partition : transaction.partitions) {
            PartitionLog log = cluster.log(partition);
            if (log != null) {
                // The last epoch of a producer id has no successor to write the marker; none gets that far.
                log.endTransaction(ended.producerId(), (short) (ended.epoch() + 1), commit);
            }
        }
        if (transaction.hasOffsets) {
            cluster.groups().complete(ended.producerId(), commit);
        }
        if (transaction.timeout != null) {
            transaction.timeout.cancel();
        }
        transaction.timeout = null;
        transaction.partitions.clear();
        transaction.hasOffsets = false;
        transaction.state = commit ? State.COMMITTED : State.ABORTED;
    }

    /** The next epoch, or a new producer id when epochs run out: the last one stays free for markers. */
    private Identity next(Identity identity) {
        return identity.epoch() >= Short.MAX_VALUE - 1
                ? new Identity(cluster.newProducerId(), (short) 0)
                : new Identity(identity.producerId(), (short) (identity.epoch() + 1));
    }

    private static boolean isNext(Identity identity, Identity after) {
        return identity.producerId() == after.producerId() && identity.epoch() == after.epoch() + 1;
    }

    private static ProducerFencedException fenced() {
        return new ProducerFencedException(
                "There is a newer producer with the same transactionalId which fences the current one.");
    }

    private static InvalidTxnStateException invalid() {
        return new InvalidTxnStateException("The producer attempted a transactional operation in an invalid state.");
    }
}
