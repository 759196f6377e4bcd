package io.settlestream.testing.internal.kafka;

import io.settlestream.testing.internal.kafka.Produce.NewRecord;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Partitioner;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;

/**
 * A producer of the in-process Kafka that behaves as {@code KafkaProducer} does: errors have the same class and come the
 * same way, thrown, in the future, or in the report.
 *
 * <p>Three ways lead to an error. What the broker refuses, or what takes longer than {@code delivery.timeout.ms}, is
 * reported, on the producer's thread. What the client itself finds wrong with a record and is an {@link ApiException} comes
 * back at once as a failed future, after the callback was called on the caller's thread. Everything else is thrown.
 */
final class InProcessProducer implements Producer<byte[], byte[]> {

    private final Cluster cluster;
    private final Host host;
    private final ProducerOptions options;
    private final Interceptors interceptors;
    private final @Nullable Partitioner partitioner;
    private final ProducerMetadata metadata;
    private final Accumulator accumulator;
    private final ProducerTransactions transactions;
    private final TransactionRequests requests;
    private final ProducerThread thread;

    InProcessProducer(Cluster cluster, Map<String, Object> configs) {
        ProducerConfig config = ProducerOptions.read(
                configs, cluster.locked(() -> cluster.groups().newClientNumber()));
        this.cluster = cluster;
        this.host = cluster.host();
        try {
            options = ProducerOptions.of(config);
            partitioner = config.getConfiguredInstance(
                    ProducerConfig.PARTITIONER_CLASS_CONFIG,
                    Partitioner.class,
                    Map.of(ProducerConfig.CLIENT_ID_CONFIG, options.clientId()));
            interceptors = new Interceptors(config);
        } catch (UnsupportedOperationException lacking) {
            throw lacking;
        } catch (RuntimeException failure) {
            throw new KafkaException("Failed to construct kafka producer", failure);
        }
        metadata = new ProducerMetadata(cluster, options);
        Sequences sequences = cluster.locked(() -> options.idempotent()
                ? new Sequences(cluster.newProducerId(), (short) 0, options.transactionalId() != null)
                : null);
        transactions = new ProducerTransactions(options, sequences);
        requests = new TransactionRequests(cluster, options, transactions);
        accumulator = new Accumulator(cluster, options, this::wakeUp);
        thread = new ProducerThread(cluster, options, accumulator, sequences, transactions, requests);
        thread.start("kafka-producer-network-thread | " + options.clientId());
    }

    @Override
    public Future<RecordMetadata> send(ProducerRecord<byte[], byte[]> record) {
        return send(record, null);
    }

    @Override
    public Future<RecordMetadata> send(ProducerRecord<byte[], byte[]> record, @Nullable Callback callback) {
        ProducerRecord<byte[], byte[]> intercepted = interceptors.onSend(record);
        TopicPartition partition =
                new TopicPartition(intercepted.topic(), intercepted.partition() == null ? -1 : intercepted.partition());
        try {
            return take(intercepted, callback);
        } catch (ApiException refused) {
            if (callback != null) {
                callback.onCompletion(SentRecord.nowhere(partition), refused);
            }
            interceptors.onSendError(intercepted, partition, refused);
            cluster.change(() -> transactions.failed(refused));
            return new FailedSend(refused);
        } catch (InterruptedException interrupted) {
            interceptors.onSendError(intercepted, partition, interrupted);
            throw new InterruptException(interrupted);
        } catch (RuntimeException failure) {
            interceptors.onSendError(intercepted, partition, failure);
            throw failure;
        }
    }

    private Future<RecordMetadata> take(ProducerRecord<byte[], byte[]> record, @Nullable Callback callback)
            throws InterruptedException {
        requireOpen();
        long deadline = Deadline.inMillis(host, options.maxBlockMs());
        List<PartitionInfo> partitions = metadata.await(record.topic(), record.partition(), deadline, thread);
        int partition = partition(record, partitions);
        int bytes = RecordBytes.alone(record);
        requireSmall(bytes);
        long timestamp = record.timestamp() == null ? host.now().toEpochMilli() : record.timestamp();
        NewRecord content =
                new NewRecord(timestamp, copy(record.key()), copy(record.value()), PartitionLog.copy(record.headers()));
        Callback report = (where, error) -> {
            interceptors.onAcknowledgement(where, error, content.headers());
            if (callback != null) {
                callback.onCompletion(where, error);
            }
        };
        Accumulator.Draft draft = new Accumulator.Draft() {
            @Override
            public SentRecord in(TopicPartition chosen) {
                return new SentRecord(host, chosen, content, report);
            }

            @Override
            public void admit(TopicPartition chosen) {
                transactions.admit(chosen);
            }
        };
        return accumulator.append(
                record.topic(), partition, partitions.size(), bytes, draft, deadline, options.maxBlockMs());
    }

    /** The partition that a record goes to, or -1 if it is whichever records without key go to. */
    private int partition(ProducerRecord<byte[], byte[]> record, List<PartitionInfo> partitions) {
        if (record.partition() != null) {
            return record.partition();
        }
        if (partitioner != null) {
            int chosen = partitioner.partition(
                    record.topic(), record.key(), record.key(), record.value(), record.value(), told(partitions));
            if (chosen < 0) {
                throw new IllegalArgumentException("The partitioner generated an invalid partition number: " + chosen
                        + ". Partition number should always be non-negative.");
            }
            return chosen;
        }
        return record.key() == null || options.ignoresKeys()
                ? -1
                : Utils.toPositive(Utils.murmur2(record.key())) % partitions.size();
    }

    private static org.apache.kafka.common.Cluster told(List<PartitionInfo> partitions) {
        return new org.apache.kafka.common.Cluster("in-process", List.of(Topic.NODE), partitions, Set.of(), Set.of());
    }

    private void requireSmall(int bytes) {
        if (bytes > options.maxRequestSize()) {
            throw new RecordTooLargeException("The message is " + bytes
                    + " bytes when serialized which is larger than " + options.maxRequestSize()
                    + ", which is the value of the " + ProducerConfig.MAX_REQUEST_SIZE_CONFIG + " configuration.");
        }
        if (bytes > options.bufferMemory()) {
            throw new RecordTooLargeException("The message is " + bytes
                    + " bytes when serialized which is larger than the total memory buffer you have configured with the "
                    + ProducerConfig.BUFFER_MEMORY_CONFIG + " configuration.");
        }
    }

    @Override
    public void flush() {
        List<SentRecord> pending = cluster.locked(() -> {
            thread.flush();
            return accumulator.incomplete().stream()
                    .flatMap(batch -> batch.records().stream())
                    .toList();
        });
        host.changed();
        try {
            boolean always = host.await(() -> pending.stream().allMatch(SentRecord::isDone), Long.MAX_VALUE);
            assert always;
        } catch (InterruptedException interrupted) {
            throw new InterruptException("Flush interrupted.", interrupted);
        } finally {
            cluster.change(thread::flushed);
        }
    }

    @Override
    public List<PartitionInfo> partitionsFor(String topic) {
        try {
            return metadata.await(topic, null, Deadline.inMillis(host, options.maxBlockMs()), thread);
        } catch (InterruptedException interrupted) {
            throw new InterruptException(interrupted);
        }
    }

    @Override
    public void initTransactions() {
        requireTransactionManager();
        requireOpen();
        await(() -> transactions.init(requests));
    }

    @Override
    public void beginTransaction() {
        requireTransactionManager();
        requireOpen();
        cluster.change(transactions::begin);
    }

    @Override
    public void sendOffsetsToTransaction(
            Map<TopicPartition, OffsetAndMetadata> offsets, @Nullable ConsumerGroupMetadata member) {
        if (member == null) {
            throw new IllegalArgumentException("Consumer group metadata could not be null");
        }
        if (member.generationId() > 0 && member.memberId().isEmpty()) {
            throw new IllegalArgumentException(
                    "Passed in group metadata " + member + " has generationId > 0 but member.id ");
        }
        requireTransactionManager();
        requireOpen();
        if (!offsets.isEmpty()) {
            await(() -> transactions.addOffsets(requests, offsets, member));
        }
    }

    @Override
    public void commitTransaction() {
        requireTransactionManager();
        requireOpen();
        await(() -> transactions.end(requests, true));
    }

    @Override
    public void abortTransaction() {
        requireTransactionManager();
        requireOpen();
        await(() -> transactions.end(requests, false));
    }

    /** Waits until the producer's thread has done what a call asks for. */
    private void await(Supplier<TransactionResult> call) {
        TransactionResult result = cluster.locked(call);
        wakeUp();
        boolean done;
        try {
            done = host.await(() -> cluster.locked(result::isDone), Deadline.inMillis(host, options.maxBlockMs()));
        } catch (InterruptedException interrupted) {
            throw new InterruptException("Received interrupt while awaiting " + result.operation(), interrupted);
        }
        if (!done) {
            throw new TimeoutException(
                    "Timeout expired after " + options.maxBlockMs() + "ms while awaiting " + result.operation());
        }
        RuntimeException error = cluster.locked(result::take);
        if (error != null) {
            throw error;
        }
    }

    private void requireTransactionManager() {
        if (!options.idempotent()) {
            throw new IllegalStateException("Cannot use transactional methods without enabling transactions by setting"
                    + " the " + ProducerConfig.TRANSACTIONAL_ID_CONFIG + " configuration property");
        }
    }

    /** None: the metrics of Kafka's producer are about its connections and buffers, which are not modelled. */
    @Override
    public Map<MetricName, ? extends Metric> metrics() {
        return Map.of();
    }

    @Override
    public Uuid clientInstanceId(Duration timeout) {
        throw lacking("clientInstanceId");
    }

    @Override
    public void registerMetricForSubscription(KafkaMetric metric) {
        throw lacking("registerMetricForSubscription");
    }

    @Override
    public void unregisterMetricFromSubscription(KafkaMetric metric) {
        throw lacking("unregisterMetricFromSubscription");
    }

    /** How many records are not reported. */
    int unreported() {
        return cluster.locked(() -> accumulator.incomplete().stream()
                .mapToInt(batch -> batch.records().size())
                .sum());
    }

    @Override
    public void close() {
        close(Duration.ofMillis(Long.MAX_VALUE));
    }

    @Override
    public void close(Duration timeout) {
        if (timeout.toMillis() < 0) {
            throw new IllegalArgumentException("The timeout cannot be negative.");
        }
        // A callback that closes its producer cannot wait for the thread that it runs on.
        boolean fromCallback = thread.isCurrent();
        InterruptException interrupted = null;
        if (!timeout.isZero() && !fromCallback) {
            thread.close();
            try {
                boolean unused = host.await(thread::hasEnded, Deadline.inMillis(host, timeout.toMillis()));
            } catch (InterruptedException stopped) {
                interrupted = new InterruptException(stopped);
            }
        }
        if (!thread.hasEnded()) {
            thread.closeNow();
            interrupted = fromCallback ? interrupted : awaitEnd(interrupted);
        }
        interceptors.close();
        if (partitioner != null) {
            Utils.closeQuietly(partitioner, "partitioner");
        }
        if (interrupted != null) {
            throw interrupted;
        }
    }

    /**
     * Ends as if its process had been killed: what was not sent is gone, nobody is called back, and an open transaction
     * stays open until it times out or its id has a new holder.
     */
    void crash() {
        thread.crash();
    }

    private @Nullable InterruptException awaitEnd(@Nullable InterruptException earlier) {
        try {
            boolean always = host.await(thread::hasEnded, Long.MAX_VALUE);
            assert always;
            return earlier;
        } catch (InterruptedException stopped) {
            return earlier == null ? new InterruptException(stopped) : earlier;
        }
    }

    private void wakeUp() {
        thread.wakeUp();
    }

    private void requireOpen() {
        if (cluster.locked(thread::isClosing)) {
            throw new IllegalStateException("Cannot perform operation after producer has been closed");
        }
    }

    private static byte @Nullable [] copy(byte @Nullable [] bytes) {
        return bytes == null ? null : bytes.clone();
    }

    private static UnsupportedOperationException lacking(String method) {
        return new UnsupportedOperationException("The in-process Kafka has no " + method);
    }
}
