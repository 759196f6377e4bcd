package io.settlestream.internal.publish;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;

/**
 * A producer whose every answer a test decides. Unlike Kafka's {@link MockProducer} it reports from any thread, keeps
 * what it has while it is flushed, and can fail each way the real one does.
 */
@SuppressWarnings("UnsynchronizedOverridesSynchronized") // reports come from any thread
final class FakeProducer extends MockProducer<byte[], byte[]> {

    /** How a call of {@code send} ends. */
    sealed interface Answer {
        /** Takes the record; the test reports later. */
        record Takes() implements Answer {}

        /** Reports within the call, as the real producer does with errors it finds itself, and returns a failed future. */
        record Reports(Exception failure) implements Answer {}

        /** Returns a failed future and makes no report. */
        record Returns(Exception failure) implements Answer {}

        /** Throws. */
        record Throws(Throwable failure) implements Answer {}
    }

    /** A record that waits for its report. */
    record Taken(ProducerRecord<byte[], byte[]> record, Callback callback) {

        void accept(long offset) {
            int partition = record.partition() == null ? 0 : record.partition();
            callback.onCompletion(
                    new RecordMetadata(new TopicPartition(record.topic(), partition), offset, 0, 0, 1, 1), null);
        }

        void fail(Exception failure) {
            callback.onCompletion(
                    new RecordMetadata(new TopicPartition(record.topic(), -1), -1, -1, -1, -1, -1), failure);
        }
    }

    final LinkedBlockingQueue<Taken> taken = new LinkedBlockingQueue<>();
    final AtomicInteger metadataCalls = new AtomicInteger();
    final AtomicInteger flushes = new AtomicInteger();
    final CompletableFuture<Duration> closedWith = new CompletableFuture<>();

    volatile UnaryOperator<Answer> answers = answer -> answer;
    volatile int partitions = 3;
    volatile RuntimeException metadataFailure;
    volatile CountDownLatch flushBlockedOn;
    volatile CountDownLatch closeBlockedOn;

    void always(Answer answer) {
        answers = ignored -> answer;
    }

    @Override
    public Future<RecordMetadata> send(ProducerRecord<byte[], byte[]> record, Callback callback) {
        if (closedWith.isDone()) {
            throw new IllegalStateException("Cannot perform operation after producer has been closed");
        }
        CompletableFuture<RecordMetadata> report = new CompletableFuture<>();
        switch (answers.apply(new Answer.Takes())) {
            case Answer.Takes() -> taken.add(new Taken(record, callback));
            case Answer.Reports(Exception failure) -> {
                new Taken(record, callback).fail(failure);
                report.completeExceptionally(failure);
            }
            case Answer.Returns(Exception failure) -> report.completeExceptionally(failure);
            case Answer.Throws(Throwable failure) -> throwAny(failure);
        }
        return report;
    }

    @Override
    public List<PartitionInfo> partitionsFor(String topic) {
        metadataCalls.incrementAndGet();
        RuntimeException failure = metadataFailure;
        if (failure != null) {
            throw failure;
        }
        return IntStream.range(0, partitions)
                .mapToObj(partition -> new PartitionInfo(topic, partition, Node.noNode(), new Node[0], new Node[0]))
                .toList();
    }

    @Override
    public void flush() {
        flushes.incrementAndGet();
        await(flushBlockedOn);
    }

    @Override
    public void close(Duration timeout) {
        await(closeBlockedOn);
        closedWith.complete(timeout);
    }

    @Override
    public boolean closed() {
        return closedWith.isDone();
    }

    private static void await(CountDownLatch latch) {
        if (latch != null) {
            try {
                latch.await();
            } catch (InterruptedException interrupted) {
                throw new InterruptException(interrupted);
            }
        }
    }

    private static void throwAny(Throwable failure) {
        switch (failure) {
            case RuntimeException unchecked -> throw unchecked;
            case Error error -> throw error;
            default -> throw new IllegalArgumentException(failure);
        }
    }
}
