package io.settlestream.internal.settle;

import io.settlestream.PublishException;
import io.settlestream.PublishedRecord;
import io.settlestream.internal.health.Episodes;
import io.settlestream.internal.health.FailureListener;
import io.settlestream.internal.publish.ReportListener;
import io.settlestream.spi.Scheduler;
import io.settlestream.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes copies of records to one topic, and settles each record when Kafka has accepted its copy: publish, then settle,
 * so that a crash in between can leave a copy twice and never loses one. A write that fails is repeated with back-off for as
 * long as somebody waits for it; its record stays open meanwhile.
 *
 * <p>Copies are handed to the producer in the order in which they are asked for, by a virtual thread that lives while there
 * are any: the producer may block for long, for a topic that does not exist in particular, and no lane shall wait for that.
 *
 * <p>A stop and a revocation wait for a copy as for a reply, but only for its first write, and for none that was asked for
 * while others fail: what is repeated may be repeated for ever, and a missing topic takes a minute to be noticed each time.
 */
public final class CopyWriter {

    private static final Logger log = LoggerFactory.getLogger(CopyWriter.class);

    private static final Backoff BACKOFF = new Backoff(Duration.ofMillis(50), Duration.ofSeconds(5));

    /** Where copies go: a producer. */
    @FunctionalInterface
    public interface Sink {

        /**
         * Sends a record; see {@link io.settlestream.internal.publish.BrokerPublisher#send}.
         *
         * @throws PublishException if it is refused; the listener hears nothing then
         */
        void send(ProducerRecord<byte[], byte[]> record, ReportListener listener) throws InterruptedException;
    }

    private final String subscription;
    private final String what;
    private final String several;
    private final RecordCopies copies;
    private final Sink sink;
    private final LongAdder accepted;
    private final LongAdder stale;
    private final LongAdder failed;
    private final FailureListener failures;
    private final Scheduler scheduler;
    private final Episodes episodes;

    private final ReentrantLock lock = new ReentrantLock();
    /** Guarded by the lock, as is whether a thread works on it. */
    private final ArrayDeque<Copy> queue = new ArrayDeque<>();

    private boolean writing;

    /** Copies whose last write failed. */
    private final Set<Copy> failing = ConcurrentHashMap.newKeySet();

    /**
     * @param what what a copy is called in logs and in health
     * @param several what more than one are called
     * @param accepted counts copies that Kafka has accepted and whose record is settled
     * @param stale counts those whose record nobody waited for any more
     * @param failed counts writes that failed
     * @param failures hears of what is no failed write, such as an {@link Error}
     */
    CopyWriter(
            String subscription,
            String what,
            String several,
            RecordCopies copies,
            Sink sink,
            LongAdder accepted,
            LongAdder stale,
            LongAdder failed,
            FailureListener failures,
            Scheduler scheduler) {
        this.subscription = subscription;
        this.what = what;
        this.several = several;
        this.copies = copies;
        this.sink = sink;
        this.accepted = accepted;
        this.stale = stale;
        this.failed = failed;
        this.failures = failures;
        this.scheduler = scheduler;
        this.episodes = new Episodes(scheduler);
    }

    String topic() {
        return copies.topic();
    }

    /**
     * Publishes a copy of a delivery's record and then settles it. Returns at once.
     *
     * @param attempts how many attempts at the record have ended
     * @param delay from now until the copy is due, or null for one that is not to be handled again
     */
    void write(Delivery delivery, int attempts, Reason reason, @Nullable Duration delay) {
        boolean awaited = failing.stream().allMatch(copy -> copy.delivery.cancelled());
        delivery.owner().copyBegun(delivery.offset());
        if (awaited) {
            delivery.owner().reportAwaited();
        }
        enqueue(new Copy(delivery, copies.copy(delivery, attempts, reason, scheduler.now(), delay), awaited));
    }

    /** What is wrong, if writes fail. Any thread. */
    @Nullable
    String problem() {
        List<Copy> waiting = new ArrayList<>(failing);
        waiting.removeIf(copy -> copy.delivery.cancelled());
        return waiting.stream()
                .min(Comparator.comparingLong(copy -> copy.since))
                .map(oldest -> "topic " + topic() + " has not accepted "
                        + (waiting.size() == 1 ? "1 " + what : waiting.size() + " " + several) + ", that of "
                        + oldest.delivery + " for "
                        + Duration.ofNanos(scheduler.nanoTime() - oldest.since) + ": " + oldest.why)
                .orElse(null);
    }

    private void enqueue(Copy copy) {
        lock.lock();
        try {
            queue.addLast(copy);
            if (writing) {
                return;
            }
            writing = true;
        } finally {
            lock.unlock();
        }
        Thread unused =
                scheduler.start(Scheduler.Kind.VIRTUAL, "settlestream-copies-" + subscription, this::writeQueued);
    }

    private void writeQueued() {
        for (Copy copy = next(); copy != null; copy = next()) {
            try {
                copy.write();
            } catch (Throwable t) {
                // Its record stays open, and the stop that follows must not wait for a report that never comes.
                copy.end();
                failures.failed(t);
            }
        }
    }

    private @Nullable Copy next() {
        lock.lock();
        try {
            Copy next = queue.pollFirst();
            writing = next != null;
            return next;
        } finally {
            lock.unlock();
        }
    }

    private final class Copy implements ReportListener {

        private final Delivery delivery;
        /** Handed from one write to the next by the lock. */
        private ProducerRecord<byte[], byte[]> record;

        private final long since = scheduler.nanoTime();
        private int writes;
        /**
         * Whether a stop waits for its first write, and that is not over. Atomic: the next write may begin, and end, while the
         * report of the first is still acted on.
         */
        private final AtomicBoolean awaited;

        private volatile String why = "";

        Copy(Delivery delivery, ProducerRecord<byte[], byte[]> record, boolean awaited) {
            this.delivery = delivery;
            this.record = record;
            this.awaited = new AtomicBoolean(awaited);
        }

        void write() throws InterruptedException {
            writes++;
            if (delivery.cancelled()) {
                stale.increment();
                end();
                return;
            }
            try {
                sink.send(record, this);
            } catch (PublishException refused) {
                failed(refused);
            }
        }

        @Override
        public void accepted(PublishedRecord published) {
            // Before: who sees that the record is not open any more must see that the position moves, too, or its
            // commit
            // would wait for the longest fetch.
            delivery.owner().copyEnded(delivery.offset());
            (delivery.settle() ? accepted : stale).increment();
            end();
        }

        @Override
        public void failed(PublishException failure) {
            failed.increment();
            why = failure.reason() + " (" + failure.getMessage() + ")";
            if (failure.reason() == PublishException.Reason.CLOSED) {
                // The service stops: the record stays open and is read again.
                end();
                return;
            }
            if (failure.reason() == PublishException.Reason.TOO_LARGE) {
                // What is told about the record must not be what keeps it from being kept.
                record = copies.withoutWords(record);
            }
            failing.add(this);
            episodes.failed(n -> log.atWarn()
                    .addKeyValue("subscription", subscription)
                    .addKeyValue("record", delivery)
                    .addKeyValue("topic", topic())
                    .addKeyValue("reason", failure.reason())
                    .addKeyValue("failures", n)
                    .setCause(failure)
                    .log(what + " not accepted; its record stays open and the write is repeated"));
            // Not before: a stop may look as soon as the report has arrived.
            TimeSource.Timer unused =
                    scheduler.schedule(Duration.ofNanos(BACKOFF.nanosAfter(writes + 1)), () -> enqueue(this));
            reported();
        }

        private void end() {
            failing.remove(this);
            reported();
        }

        /** The first write is over, one way or the other. */
        private void reported() {
            if (awaited.compareAndSet(true, false)) {
                delivery.owner().reportArrived();
            }
        }
    }
}
