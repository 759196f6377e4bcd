package io.settlestream.it;

import io.settlestream.internal.runtime.SystemEnvironment;
import io.settlestream.spi.AppEnvironment;
import io.settlestream.spi.KafkaClients;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Kafka's clients, counted, and a producer that reports when and what a test wants it to. */
final class ReportingClients implements KafkaClients {

    final AtomicInteger consumers = new AtomicInteger();
    final AtomicInteger producers = new AtomicInteger();

    /** Records handed to the producer. */
    final AtomicInteger sent = new AtomicInteger();

    /** Reports that the service has heard. */
    final AtomicInteger reported = new AtomicInteger();

    private final AppEnvironment system = SystemEnvironment.create();
    private final Map<Integer, RuntimeException> failures = new ConcurrentHashMap<>();
    private final ArrayDeque<Runnable> held = new ArrayDeque<>();
    private boolean holding;

    AppEnvironment environment() {
        return new AppEnvironment(this, system.scheduler());
    }

    /** Keeps reports back from now on. */
    synchronized void hold() {
        holding = true;
    }

    synchronized int held() {
        return held.size();
    }

    /** Gives the oldest report that is held. */
    void releaseOne() {
        Runnable report;
        synchronized (this) {
            report = held.remove();
        }
        report.run();
    }

    /** Gives all reports that are held, and holds no more. */
    void release() {
        List<Runnable> reports;
        synchronized (this) {
            holding = false;
            reports = new ArrayList<>(held);
            held.clear();
        }
        reports.forEach(Runnable::run);
    }

    /** Makes the n-th send fail, counted from 1; the record does not get to Kafka. */
    void fail(int n, RuntimeException failure) {
        failures.put(n, failure);
    }

    @Override
    public Consumer<byte[], byte[]> consumer(Map<String, Object> properties) {
        consumers.incrementAndGet();
        return system.clients().consumer(properties);
    }

    @Override
    public Producer<byte[], byte[]> producer(Map<String, Object> properties) {
        producers.incrementAndGet();
        return new ReportingProducer(properties);
    }

    private void arrived(Runnable report) {
        synchronized (this) {
            if (holding) {
                held.add(report);
                return;
            }
        }
        report.run();
    }

    private final class ReportingProducer extends KafkaProducer<byte[], byte[]> {

        ReportingProducer(Map<String, Object> properties) {
            super(properties, new ByteArraySerializer(), new ByteArraySerializer());
        }

        @Override
        public Future<RecordMetadata> send(ProducerRecord<byte[], byte[]> record, Callback callback) {
            CompletableFuture<RecordMetadata> future = new CompletableFuture<>();
            Callback report = (metadata, failure) -> arrived(() -> {
                reported.incrementAndGet();
                callback.onCompletion(metadata, failure);
                if (failure == null) {
                    future.complete(metadata);
                } else {
                    future.completeExceptionally(failure);
                }
            });
            RuntimeException failure = failures.remove(sent.incrementAndGet());
            if (failure != null) {
                Thread.startVirtualThread(() -> report.onCompletion(null, failure));
            } else {
                super.send(record, report);
            }
            return future;
        }
    }
}
