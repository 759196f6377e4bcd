package io.settlestream.internal.publish;

import io.settlestream.PublishedRecord;
import io.settlestream.internal.publish.Failures.Stage;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A record on its way through the producer. It ends once, by the first of: the producer's report, the failed future of a
 * producer that makes no report, {@link #withdraw} after the call threw. That one frees the room, tells the listener and
 * then counts the record as reported.
 */
final class PendingRecord implements Callback {

    private static final Logger LOG = LoggerFactory.getLogger(PendingRecord.class);
    private static final VarHandle ENDED;

    static {
        try {
            ENDED = MethodHandles.lookup().findVarHandle(PendingRecord.class, "ended", boolean.class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    private final String topic;
    private final int size;
    private final InFlight inFlight;
    private final KnownTopics topics;
    private final ReportListener listener;

    @SuppressWarnings("unused") // read and written by ENDED
    private volatile boolean ended;

    /** The publishing thread while it is in the call. No other thread can find itself here, so it needs no fence. */
    private @Nullable Thread caller = Thread.currentThread();

    PendingRecord(String topic, int size, InFlight inFlight, KnownTopics topics, ReportListener listener) {
        this.topic = topic;
        this.size = size;
        this.inFlight = inFlight;
        this.topics = topics;
        this.listener = listener;
    }

    @Override
    public void onCompletion(@Nullable RecordMetadata metadata, @Nullable Exception failure) {
        if (failure != null) {
            failed(failure);
        } else if (metadata != null) {
            accepted(metadata);
        }
    }

    /** The call returned. Some failures are known by then, and a producer may tell them by the future alone. */
    void handedOver(Future<RecordMetadata> report) {
        switch (report.state()) {
            case SUCCESS -> accepted(report.resultNow());
            case FAILED -> failed(report.exceptionNow());
            case CANCELLED -> failed(new CancellationException());
            case RUNNING -> {}
        }
        caller = null;
    }

    /** The call threw. Returns false if the listener was told something already. */
    boolean withdraw() {
        if (!end()) {
            return false;
        }
        inFlight.freeRoom(size);
        inFlight.reported();
        return true;
    }

    private void accepted(RecordMetadata metadata) {
        if (end()) {
            tell(() ->
                    listener.accepted(new PublishedRecord(metadata.topic(), metadata.partition(), metadata.offset())));
        }
    }

    private void failed(Throwable failure) {
        if (end()) {
            Stage stage = Thread.currentThread() == caller ? Stage.CALL : Stage.REPORT;
            tell(() -> listener.failed(topics.failure(topic, failure, stage, inFlight.isClosed())));
        }
    }

    private boolean end() {
        return ENDED.compareAndSet(this, false, true);
    }

    private void tell(Runnable report) {
        inFlight.freeRoom(size);
        try {
            report.run();
        } catch (Throwable broken) {
            // Anything thrown from here would end in the producer's thread.
            LOG.atError()
                    .addKeyValue("topic", topic)
                    .setCause(broken)
                    .log("A listener threw on a report of the producer");
        } finally {
            inFlight.reported();
        }
    }
}
