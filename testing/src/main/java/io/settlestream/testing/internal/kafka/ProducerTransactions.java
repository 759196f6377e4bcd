package io.settlestream.testing.internal.kafka;

import java.util.Map;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** A producer's side of its transactions. */
final class ProducerTransactions {

    private final ProducerOptions options;

    ProducerTransactions(Cluster cluster, ProducerOptions options, @Nullable Sequences sequences) {
        this.options = options;
    }

    void init(Runnable requireOpen, ProducerThread thread) {
        requireTransactional();
    }

    void begin(Runnable requireOpen) {
        requireTransactional();
    }

    void sendOffsets(
            Map<TopicPartition, OffsetAndMetadata> offsets,
            ConsumerGroupMetadata member,
            Runnable requireOpen,
            ProducerThread thread) {
        requireTransactional();
    }

    void end(boolean commit, Runnable requireOpen, ProducerThread thread) {
        requireTransactional();
    }

    void admit(TopicPartition partition) {}

    void failed(RuntimeException error) {}

    void lostCount(Sequences sequences) {
        sequences.startAnew();
    }

    boolean mayProduce() {
        return true;
    }

    boolean isCompleting() {
        return false;
    }

    boolean endsOnClose() {
        return true;
    }

    void abandon(RuntimeException why) {}

    long step(long now, Accumulator accumulator, Consumer<RuntimeException> abandonQueued) {
        return Long.MAX_VALUE;
    }

    private void requireTransactional() {
        if (options.transactionalId() == null) {
            throw new IllegalStateException("Cannot use transactional methods without enabling transactions by setting"
                    + " the " + ProducerConfig.TRANSACTIONAL_ID_CONFIG + " configuration property");
        }
        throw new UnsupportedOperationException("The in-process Kafka has no transactions yet");
    }
}
