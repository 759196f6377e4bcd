package io.settlestream.testing.internal.kafka;

import io.settlestream.testing.internal.kafka.Produce.Answer;
import io.settlestream.testing.internal.kafka.Produce.Appended;
import io.settlestream.testing.internal.kafka.Produce.Refused;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.DuplicateSequenceException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownProducerIdException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A producer's own thread: sends batches when they are due, repeats what may be repeated, and tells reports.
 *
 * <p>It works in steps. With the cluster's lock it takes answers that have arrived, gives up what is too old, and sends
 * what is ready; without it, it then calls back the application. Between steps it waits until something changes or
 * becomes due.
 *
 * <p>Of one partition one batch is under way at a time. Kafka's producer has up to five, which shows only in how fast it
 * is and, if it is not idempotent, in that a repeated batch may land behind a later one; that disorder does not happen
 * here.
 */
final class ProducerThread implements TransactionRequests.Batches {

    private static final Logger LOG = LoggerFactory.getLogger(ProducerThread.class);

    /** Slowest answer that chance may choose. */
    private static final long SLOWEST_ANSWER_MS = 20;

    private final Cluster cluster;
    private final Host host;
    private final ProducerOptions options;
    private final Accumulator accumulator;
    private final @Nullable Sequences sequences;
    private final ProducerTransactions transactions;
    private final TransactionRequests requests;
    private final Reports reports;
    private final Map<TopicPartition, Batch> underWay = new LinkedHashMap<>();

    /** How many callers wait in {@code flush}. */
    private int flushing;

    private boolean awake;
    private boolean closing;
    private boolean forced;
    private volatile boolean ended;
    private @Nullable Thread thread;

    ProducerThread(
            Cluster cluster,
            ProducerOptions options,
            Accumulator accumulator,
            @Nullable Sequences sequences,
            ProducerTransactions transactions,
            TransactionRequests requests) {
        this.cluster = cluster;
        this.host = cluster.host();
        this.options = options;
        this.accumulator = accumulator;
        this.sequences = sequences;
        this.transactions = transactions;
        this.requests = requests;
        this.reports = new Reports(cluster, accumulator);
    }

    void start(String name) {
        thread = host.start(name, this::run);
    }

    boolean isCurrent() {
        return Thread.currentThread() == thread;
    }

    /** Has a look at what there is to do. With or without the lock. */
    void wakeUp() {
        cluster.change(() -> awake = true);
    }

    /** With the lock: from now on batches go although they have room, until {@link #flushed}. */
    void flush() {
        flushing++;
        awake = true;
    }

    void flushed() {
        flushing--;
    }

    /** Takes no more records, and ends when all are reported. */
    void close() {
        cluster.change(() -> {
            accumulator.close();
            closing = true;
            awake = true;
        });
    }

    /** Ends now; what is not reported fails. */
    void closeNow() {
        cluster.change(() -> forced = true);
        close();
    }

    /** Ends now and calls nobody back. */
    void crash() {
        reports.silence();
        closeNow();
    }

    boolean isClosing() {
        return closing;
    }

    boolean hasEnded() {
        return ended;
    }

    private void run() {
        try {
            boolean goOn = true;
            while (goOn) {
                long next = cluster.locked(this::step);
                reports.tell();
                goOn = cluster.locked(() -> !isDone());
                if (goOn) {
                    boolean unused = host.await(() -> cluster.locked(() -> awake), next);
                }
            }
        } catch (InterruptedException stopped) {
            LOG.atDebug().addKeyValue("client", options.clientId()).log("The producer's thread was interrupted");
        }
        cluster.change(this::abandon);
        reports.tell();
        ended = true;
        host.changed();
    }

    private boolean isDone() {
        return forced
                || (closing
                        && accumulator.incomplete().isEmpty()
                        && !transactions.state().isOngoing());
    }

    /** Does what is due, and says when there is something to do next. */
    private long step() {
        awake = false;
        if (forced) {
            return Long.MAX_VALUE;
        }
        long now = host.nanoTime();
        takeAnswers(now);
        giveUp(now);
        if (closing && accumulator.incomplete().isEmpty()) {
            abortWhatIsOpen();
        }
        long next = requests.step(now, this);
        if (requests.letRecordsPass()) {
            next = Deadline.earlier(next, sendReady(now));
        }
        for (Batch batch : underWay.values()) {
            next = Deadline.earlier(next, batch.answerAt());
        }
        for (Batch batch : accumulator.incomplete()) {
            next = Deadline.earlier(next, expiry(batch));
        }
        return reports.isEmpty() ? next : now;
    }

    private void abortWhatIsOpen() {
        TransactionState state = transactions.state();
        if (state.isOngoing() && !state.isCompleting()) {
            try {
                TransactionResult unread = transactions.end(requests, false);
                LOG.atDebug().addKeyValue("operation", unread.operation()).log("Closing aborts the open transaction");
            } catch (KafkaException | IllegalStateException hopeless) {
                LOG.atDebug().setCause(hopeless).log("The open transaction cannot be aborted");
                forced = true;
            }
        }
    }

    private void takeAnswers(long now) {
        for (Iterator<Batch> batches = underWay.values().iterator(); batches.hasNext(); ) {
            Batch batch = batches.next();
            Answer answer = batch.answer();
            if (answer != null && Deadline.isPast(batch.answerAt(), now)) {
                batches.remove();
                switch (answer) {
                    case Appended where -> reports.appended(batch, where);
                    case Refused refused -> refused(batch, refused, now);
                }
            }
        }
    }

    private void giveUp(long now) {
        for (Batch batch : List.copyOf(accumulator.incomplete())) {
            if (Deadline.isPast(expiry(batch), now) && !reports.has(batch)) {
                boolean sent = batch.attempts() > 0 || underWay.get(batch.partition()) == batch;
                underWay.remove(batch.partition(), batch);
                accumulator.remove(batch);
                long age = TimeUnit.NANOSECONDS.toMillis(now - batch.created());
                fail(
                        batch,
                        new TimeoutException("Expiring " + batch.records().size() + " record(s) for "
                                + batch.partition() + ":" + age + " ms has passed since batch creation"),
                        sent);
            }
        }
    }

    private long expiry(Batch batch) {
        return Deadline.after(batch.created(), TimeUnit.MILLISECONDS.toNanos(options.deliveryTimeoutMs()));
    }

    private long sendReady(long now) {
        long next = Long.MAX_VALUE;
        for (TopicPartition partition : List.copyOf(accumulator.partitions())) {
            Batch head = accumulator.head(partition);
            if (head == null || underWay.containsKey(partition)) {
                continue;
            }
            long ready = readyAt(head, now);
            if (Deadline.isPast(ready, now)) {
                accumulator.remove(head);
                underWay.put(partition, head);
                send(head, now);
            } else {
                next = Deadline.earlier(next, ready);
            }
        }
        return next;
    }

    private long readyAt(Batch head, long now) {
        if (head.attempts() > 0) {
            return head.retryAt();
        }
        boolean goes = accumulator.isHeadFull(head.partition())
                || accumulator.isMemoryShort()
                || flushing > 0
                || closing
                || transactions.state().isCompleting();
        return goes ? now : Deadline.after(head.created(), options.lingerNanos());
    }

    private void send(Batch batch, long now) {
        if (sequences != null && batch.sender() == null) {
            batch.sendAs(sequences.next(batch.partition(), batch.records().size()));
        }
        Fault fault =
                cluster.faults().take(Faults.Request.PRODUCE, batch.partition().topic());
        long arrives = Deadline.after(
                now,
                TimeUnit.MILLISECONDS.toNanos(host.choose("answer to a produce request, ms", 0, SLOWEST_ANSWER_MS, 0)));
        Answer answer = switch (fault) {
            case Fault.Fail fail -> new Refused(fail.error());
            case Fault.LoseAnswer ignored -> {
                Answer lost = append(batch);
                LOG.atDebug().addKeyValue("answer", lost).log("The answer to a produce request is lost");
                yield new Refused(FaultErrors.disconnected());
            }
            case Fault.Delay delay -> {
                arrives = Deadline.after(now, delay.by().toNanos());
                yield append(batch);
            }
            case null -> append(batch);
        };
        if (options.acks() == 0) {
            batch.answered(new Appended(-1, -1), now);
            return;
        }
        long patience = Duration.ofMillis(options.requestTimeoutMs()).toNanos();
        if (arrives - now > patience) {
            batch.answered(new Refused(FaultErrors.timedOut()), Deadline.after(now, patience));
        } else {
            batch.answered(answer, arrives);
        }
    }

    private Answer append(Batch batch) {
        Answer answer = cluster.produce(batch.partition(), batch.request(), options.transactionalId());
        host.changed();
        return answer;
    }

    private void refused(Batch batch, Refused refused, long now) {
        ApiException error = refused.error();
        if (error instanceof DuplicateSequenceException) {
            reports.appended(batch, new Appended(-1, -1));
        } else if (error instanceof RecordTooLargeException && batch.records().size() > 1) {
            takeBack(batch);
            accumulator.complete(batch);
            accumulator.putBack(batch.split());
        } else if (batch.attempts() < options.retries() && isWorthRepeating(batch, error)) {
            batch.retryAt(Deadline.after(now, options.backoffNanos(batch.attempts() + 1)));
            accumulator.putBack(List.of(batch));
        } else {
            // An error that could be repeated says nothing of whether the records were appended; nor does any other of
            // an
            // attempt before, whose answer may have been lost. Without a transaction the client therefore never uses
            // the
            // numbers of a failed batch again.
            boolean unknown = error instanceof RetriableException || options.transactionalId() == null;
            if (!unknown) {
                takeBack(batch);
            }
            failRecords(batch, refused, unknown);
        }
    }

    private boolean isWorthRepeating(Batch batch, ApiException error) {
        boolean counted = error instanceof OutOfOrderSequenceException || error instanceof UnknownProducerIdException;
        if (counted && sequences != null && options.transactionalId() == null) {
            // There is a gap that nothing will fill, so the numbers begin again.
            sequences.startAnew();
            batch.sendAs(null);
            return true;
        }
        return error instanceof RetriableException;
    }

    private void takeBack(Batch batch) {
        if (sequences != null && batch.sender() != null) {
            sequences.takeBack(batch.partition(), batch.sender());
            batch.sendAs(null);
        }
    }

    private void failRecords(Batch batch, Refused refused, boolean unknown) {
        Map<Integer, String> invalid = refused.invalid();
        ApiException error = refused.error();
        if (invalid.isEmpty()) {
            fail(batch, error, unknown);
            return;
        }
        KafkaException spoiled = new KafkaException(
                "Failed to append record because it was part of a batch which had one more more invalid records");
        IntFunction<RuntimeException> errors = index -> {
            String why = invalid.get(index);
            if (why == null) {
                return spoiled;
            }
            return invalid.size() == 1 ? FaultErrors.saying(error, why) : new InvalidRecordException(why);
        };
        reports.failed(batch, errors, () -> failed(error, unknown));
    }

    /** Fails a batch; {@code unknown} if its records may lie in the log all the same. */
    private void fail(Batch batch, RuntimeException error, boolean unknown) {
        reports.failed(batch, index -> error, () -> failed(error, unknown));
    }

    private void failed(RuntimeException error, boolean unknown) {
        transactions.failed(error);
        if (unknown) {
            transactions.lostCount();
        }
    }

    @Override
    public boolean areIncomplete() {
        return !accumulator.incomplete().isEmpty();
    }

    @Override
    public void abandonUnsent(RuntimeException why) {
        for (Batch batch : accumulator.queued()) {
            if (batch.sender() == null) {
                abandon(batch, why);
            }
        }
    }

    @Override
    public void abandonAll(RuntimeException why) {
        accumulator.queued().forEach(batch -> abandon(batch, why));
        List.copyOf(underWay.values()).forEach(batch -> abandon(batch, why));
    }

    private void abandon(Batch batch, RuntimeException why) {
        accumulator.remove(batch);
        underWay.remove(batch.partition(), batch);
        reports.failed(batch, index -> why, () -> {});
    }

    private void abandon() {
        accumulator.close();
        closing = true;
        requests.abandon(new KafkaException("The producer closed forcefully"));
        abandonAll(new KafkaException("Producer is closed forcefully."));
    }
}
