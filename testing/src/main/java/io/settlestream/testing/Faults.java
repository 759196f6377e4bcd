package io.settlestream.testing;

import io.settlestream.testing.internal.kafka.Fault;
import io.settlestream.testing.internal.kafka.Faults.Request;
import java.time.Duration;
import java.util.Objects;
import org.apache.kafka.common.errors.ApiException;
import org.jspecify.annotations.Nullable;

/**
 * What shall go wrong with requests to the in-process Kafka: the next one of a kind, the n-th, or several.
 *
 * <pre>{@code
 * kafka.faults().commit("payouts").fail(new RebalanceInProgressException());
 * kafka.faults().produce("payouts.done").nth(3).delay(Duration.ofSeconds(2));
 * kafka.faults().produce("payouts.done").times(50).fail(new NotEnoughReplicasException());
 * }</pre>
 *
 * @since 0.1.0
 */
public final class Faults {

    private final io.settlestream.testing.internal.kafka.Faults faults;

    Faults(io.settlestream.testing.internal.kafka.Faults faults) {
        this.faults = faults;
    }

    /** A commit of offsets by a consumer of a group. */
    public Next commit(String group) {
        return new Next(Request.OFFSET_COMMIT, group, 1, 1);
    }

    /** A batch of records for a topic. */
    public Next produce(String topic) {
        return new Next(Request.PRODUCE, topic, 1, 1);
    }

    /** Records of a topic for a consumer. */
    public Next fetch(String topic) {
        return new Next(Request.FETCH, topic, 1, 1);
    }

    /** The commit or abort of a transaction. */
    public Next endTransaction(String transactionalId) {
        return new Next(Request.END_TRANSACTION, transactionalId, 1, 1);
    }

    /** The offsets that a transaction takes along. */
    public Next transactionOffsets(String transactionalId) {
        return new Next(Request.TRANSACTION_OFFSETS, transactionalId, 1, 1);
    }

    /** A producer's claim to its transactional id. */
    public Next initTransactions(String transactionalId) {
        return new Next(Request.INIT_TRANSACTIONS, transactionalId, 1, 1);
    }

    /** Forgets what has not gone wrong yet. */
    public void clear() {
        faults.clear();
    }

    /** How many faults have not happened yet. */
    public int left() {
        return faults.left();
    }

    /**
     * Which request it is; one of the methods that return nothing says what happens to it.
     *
     * @since 0.1.0
     */
    public final class Next {

        private final Request request;
        private final @Nullable String name;
        private final int nth;
        private final int times;

        private Next(Request request, @Nullable String name, int nth, int times) {
            this.request = request;
            this.name = name;
            this.nth = nth;
            this.times = times;
        }

        /** Not the next request but the n-th; 1 is the next. */
        public Next nth(int n) {
            return new Next(request, name, n, times);
        }

        /** So many requests in a row; {@link Integer#MAX_VALUE} for all until {@link Faults#clear}. */
        public Next times(int count) {
            return new Next(request, name, nth, count);
        }

        /** The broker refuses it with this error and does nothing. */
        public void fail(ApiException error) {
            set(new Fault.Fail(Objects.requireNonNull(error, "error")));
        }

        /** The broker does it, and its answer comes later. */
        public void delay(Duration by) {
            set(new Fault.Delay(by));
        }

        /** The broker does it, and its answer never arrives: to the client the connection breaks. */
        public void loseAnswer() {
            set(new Fault.LoseAnswer());
        }

        private void set(Fault fault) {
            faults.on(request, name, nth, times, fault);
        }
    }
}
