package io.settlestream.testing.internal.kafka;

import io.settlestream.testing.internal.kafka.Produce.Appended;
import io.settlestream.testing.internal.kafka.Produce.NewRecord;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** A record that the producer has taken, and the future of its report. */
final class SentRecord implements Future<RecordMetadata> {

    /** What is reported: where the record lies, or why it does not. */
    private record Report(RecordMetadata metadata, @Nullable RuntimeException error) {}

    private final Host host;
    private final TopicPartition partition;
    private final NewRecord record;
    private final Callback callback;

    /** Written by the producer's thread before {@link #told}. */
    private @Nullable Report report;

    /** Set when the callbacks of the whole batch have returned, which is when Kafka's futures complete. */
    private volatile boolean told;

    SentRecord(Host host, TopicPartition partition, NewRecord record, Callback callback) {
        this.host = host;
        this.partition = partition;
        this.record = record;
        this.callback = callback;
    }

    NewRecord record() {
        return record;
    }

    /** Reports where the record lies: at this place in the batch. Without the cluster's lock. */
    void succeed(Appended where, int index) {
        long offset = where.baseOffset() < 0 ? -1 : where.baseOffset();
        RecordMetadata metadata = new RecordMetadata(
                partition,
                offset,
                index,
                where.logAppendTime() >= 0 ? where.logAppendTime() : record.timestamp(),
                size(record.key()),
                size(record.value()));
        tell(new Report(metadata, null));
    }

    /** Reports why the record was not appended. Without the cluster's lock. */
    void fail(RuntimeException error) {
        tell(new Report(nowhere(partition), error));
    }

    /** The producer is gone and calls nobody back. */
    void lose() {
        report = new Report(nowhere(partition), new KafkaException("The producer has crashed"));
    }

    /** Lets those who wait for the future see the report. */
    void complete() {
        told = true;
    }

    /** What a failed record's report says about its place. */
    static RecordMetadata nowhere(TopicPartition partition) {
        return new RecordMetadata(partition, -1, -1, -1, -1, -1);
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        return false;
    }

    @Override
    public boolean isCancelled() {
        return false;
    }

    @Override
    public boolean isDone() {
        return told;
    }

    @Override
    public RecordMetadata get() throws InterruptedException, ExecutionException {
        boolean always = host.await(this::isDone, Long.MAX_VALUE);
        assert always;
        return result();
    }

    @Override
    public RecordMetadata get(long timeout, TimeUnit unit)
            throws InterruptedException, ExecutionException, TimeoutException {
        if (!host.await(this::isDone, Deadline.in(host, unit.toNanos(timeout)))) {
            throw new TimeoutException("Timeout after waiting for " + unit.toMillis(timeout) + " ms.");
        }
        return result();
    }

    private RecordMetadata result() throws ExecutionException {
        Report made = report;
        if (made == null) {
            throw new IllegalStateException("The report of a record for " + partition + " is missing");
        }
        if (made.error() != null) {
            throw new ExecutionException(made.error());
        }
        return made.metadata();
    }

    private void tell(Report made) {
        report = made;
        callback.onCompletion(made.metadata(), made.error());
    }

    private static int size(byte @Nullable [] bytes) {
        return bytes == null ? -1 : bytes.length;
    }
}
