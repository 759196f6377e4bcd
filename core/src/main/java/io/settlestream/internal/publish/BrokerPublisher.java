package io.settlestream.internal.publish;

import io.settlestream.PublishException;
import io.settlestream.PublishException.Reason;
import io.settlestream.internal.codec.Codecs;
import io.settlestream.internal.config.ProducerSettings;
import io.settlestream.internal.publish.Failures.Stage;
import io.settlestream.kafka.KafkaPublish;
import io.settlestream.spi.Scheduler;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One broker's producer and its publishing sites. Opens the producer when something is published first, so that a service
 * that only consumes opens none.
 *
 * <p>Thread-safe. It ends in two steps: {@link #closeSites} lets nothing more in, {@link #flushAndClose} waits for what
 * is on its way.
 */
public final class BrokerPublisher {

    private static final Logger LOG = LoggerFactory.getLogger(BrokerPublisher.class);

    private final Supplier<Producer<byte[], byte[]>> opener;
    private final ProducerSettings settings;
    private final Codecs codecs;
    private final Scheduler scheduler;
    private final InFlight inFlight;
    private final KnownTopics topics = new KnownTopics();

    /** Held while the producer is opened, and to decide who closes it. */
    private final ReentrantLock lifecycle = new ReentrantLock();

    private volatile @Nullable Producer<byte[], byte[]> producer;
    private @Nullable CompletableFuture<Integer> closing;

    /**
     * Opens nothing yet.
     *
     * @param opener makes the producer; called once, unless it throws
     */
    public BrokerPublisher(
            Supplier<Producer<byte[], byte[]>> opener, ProducerSettings settings, Codecs codecs, Scheduler scheduler) {
        this.opener = opener;
        this.settings = settings;
        this.codecs = codecs;
        this.scheduler = scheduler;
        this.inFlight = new InFlight(settings.bufferMemory() / 3, scheduler);
    }

    /** A publishing site. All sites share the producer and the bound in front of it. */
    public PublishSite site(KafkaPublish publish) {
        return new PublishSite(this, publish, codecs, scheduler);
    }

    /**
     * Opens the producer if it is not open.
     *
     * @throws IllegalStateException if this is closed
     */
    public void open() {
        if (openUnlessClosed() == null) {
            throw new IllegalStateException("The broker's publisher is closed");
        }
    }

    /**
     * Sends a record as it is: a copy for a dead-letter or retry topic, whose value may be null, or what a site made of a
     * message. Returns when the producer has taken it.
     *
     * @param queueTimeout how long to wait for room in front of the producer, or null to wait as long as it takes
     * @param listener hears once what became of the record if this returns normally, maybe before it returns; never if
     *     this throws
     * @throws PublishException if the record is refused, or was not taken
     * @throws InterruptedException if interrupted while waiting; the record is not sent
     */
    public void send(ProducerRecord<byte[], byte[]> record, @Nullable Duration queueTimeout, ReportListener listener)
            throws InterruptedException {
        String topic = record.topic();
        Producer<byte[], byte[]> open = producerFor(topic);
        try {
            topics.require(open, topic, record.partition());
        } catch (PublishException refused) {
            throw refused;
        } catch (RuntimeException failure) {
            throw topics.failure(topic, failure, Stage.CALL, inFlight.isClosed());
        }
        int size = sizeOf(record);
        switch (inFlight.enter(size, queueTimeout)) {
            case ENTERED -> handOver(open, record, size, listener);
            case FULL -> throw queueFull(topic, size, queueTimeout);
            case CLOSED -> throw Failures.closed(topic);
        }
    }

    /** From now on a publish fails with {@link Reason#CLOSED}, and so does what is waiting for room. Idempotent. */
    public void closeSites() {
        inFlight.close();
    }

    /** How many records were sent and not reported. */
    public int unreported() {
        return inFlight.records();
    }

    /** The bytes of these records, as {@link RecordSize} counts them. */
    long bytesInFlight() {
        return inFlight.bytes();
    }

    /**
     * Waits until every record is reported or the time is up, then closes the producer without waiting longer. Closes the
     * sites if they are not closed. A second call waits for the first and returns the same. An interrupt ends the wait as
     * if the time were up.
     *
     * @return how many records' acceptance is not known
     */
    public int flushAndClose(Duration flushTimeout) {
        closeSites();
        CompletableFuture<Integer> unknown = new CompletableFuture<>();
        CompletableFuture<Integer> earlier;
        lifecycle.lock();
        try {
            earlier = closing;
            if (earlier == null) {
                closing = unknown;
            }
        } finally {
            lifecycle.unlock();
        }
        if (earlier != null) {
            return scheduler.join(earlier);
        }
        Producer<byte[], byte[]> open = producer;
        int left = 0;
        try {
            if (open != null) {
                left = new ProducerShutdown(open, inFlight, scheduler).run(flushTimeout);
            }
        } finally {
            unknown.complete(left);
        }
        return left;
    }

    private @Nullable Producer<byte[], byte[]> openUnlessClosed() {
        Producer<byte[], byte[]> open = producer;
        if (open != null) {
            return inFlight.isClosed() ? null : open;
        }
        lifecycle.lock();
        try {
            if (inFlight.isClosed()) {
                return null;
            }
            open = producer;
            if (open == null) {
                open = opener.get();
                producer = open;
                LOG.atDebug().log("Producer opened");
            }
            return open;
        } finally {
            lifecycle.unlock();
        }
    }

    private Producer<byte[], byte[]> producerFor(String topic) {
        Producer<byte[], byte[]> open;
        try {
            open = openUnlessClosed();
        } catch (RuntimeException failure) {
            throw Failures.notOpened(topic, failure);
        }
        if (open == null) {
            throw Failures.closed(topic);
        }
        return open;
    }

    private int sizeOf(ProducerRecord<byte[], byte[]> record) {
        long size = RecordSize.of(record);
        long limit = Math.min(settings.maxRequestSize(), settings.bufferMemory());
        if (size > limit) {
            throw new PublishException(
                    Reason.TOO_LARGE,
                    record.topic(),
                    "A record for topic " + record.topic() + " takes " + size + " bytes, and the producer allows "
                            + limit + ": send less, or raise "
                            + (limit == settings.maxRequestSize() ? "max.request.size" : "buffer.memory")
                            + " and, if need be, the topic's max.message.bytes.",
                    null);
        }
        return (int) size;
    }

    private void handOver(
            Producer<byte[], byte[]> open, ProducerRecord<byte[], byte[]> record, int size, ReportListener listener)
            throws InterruptedException {
        PendingRecord pending = new PendingRecord(record.topic(), size, inFlight, topics, listener);
        Future<RecordMetadata> report;
        try {
            report = open.send(record, pending);
        } catch (InterruptException interrupted) {
            if (pending.withdraw()) {
                throw Failures.interrupted(interrupted);
            }
            return;
        } catch (RuntimeException failure) {
            if (pending.withdraw()) {
                throw topics.failure(record.topic(), failure, Stage.CALL, inFlight.isClosed());
            }
            return;
        } catch (Error failure) {
            pending.withdraw();
            throw failure;
        }
        pending.handedOver(report);
    }

    private PublishException queueFull(String topic, int size, @Nullable Duration queueTimeout) {
        return new PublishException(
                Reason.QUEUE_FULL,
                topic,
                "No room in front of the producer for a record of " + size + " bytes for topic " + topic + " within "
                        + queueTimeout + ": " + inFlight.bytes() + " of " + inFlight.capacity() + " bytes are taken by "
                        + inFlight.records() + " records that Kafka has not reported. It takes records slower than they"
                        + " are published: publish less, wait longer (queueTimeout), or raise buffer.memory.",
                null);
    }
}
