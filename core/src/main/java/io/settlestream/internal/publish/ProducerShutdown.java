package io.settlestream.internal.publish;

import io.settlestream.spi.Scheduler;
import io.settlestream.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.producer.Producer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The end of a producer, in bounded time. {@link Producer#flush} has no timeout, and {@link Producer#close} joins the
 * producer's thread without one; so both run on threads of their own, and what is waited for here is our count of records
 * and our clock.
 */
final class ProducerShutdown {

    private static final Logger LOG = LoggerFactory.getLogger(ProducerShutdown.class);

    /** With nothing in flight the producer only ends its thread; a request for metadata may still be on its way. */
    private static final Duration CLEAN_CLOSE = Duration.ofSeconds(1);

    /** The producer's thread can be caught in a name lookup or in a plug-in; then it ends on its own, later. */
    private static final Duration CLOSE_BOUND = Duration.ofSeconds(5);

    private final Producer<byte[], byte[]> producer;
    private final InFlight inFlight;
    private final Scheduler scheduler;

    ProducerShutdown(Producer<byte[], byte[]> producer, InFlight inFlight, Scheduler scheduler) {
        this.producer = producer;
        this.inFlight = inFlight;
        this.scheduler = scheduler;
    }

    /** Returns how many records were not reported in time. */
    int run(Duration flushTimeout) {
        CompletableFuture<Boolean> none = inFlight.none();
        if (!none.isDone()) {
            // Without a flush the last batches would wait for linger.ms.
            Thread flush = onItsOwnThread("flush", producer::flush);
            await(none, flushTimeout);
            scheduler.interrupt(flush);
        }
        int unknown = inFlight.records();
        if (unknown > 0) {
            LOG.atWarn()
                    .addKeyValue("records", unknown)
                    .addKeyValue("flushTimeout", flushTimeout)
                    .log("Kafka has not reported all records in time; whether it has them is not known");
        }
        close(unknown == 0 ? CLEAN_CLOSE : Duration.ZERO);
        return unknown;
    }

    private void close(Duration timeout) {
        CompletableFuture<Boolean> closed = new CompletableFuture<>();
        onItsOwnThread("close", () -> {
            try {
                producer.close(timeout);
            } finally {
                closed.complete(true);
            }
        });
        if (!await(closed, CLOSE_BOUND)) {
            LOG.atWarn().addKeyValue("bound", CLOSE_BOUND).log("The producer is still closing and is left to it");
        }
    }

    private Thread onItsOwnThread(String call, Runnable task) {
        return scheduler.start(Scheduler.Kind.DAEMON, "settlestream-producer-" + call, () -> {
            try {
                task.run();
            } catch (RuntimeException failure) {
                LOG.atDebug()
                        .addKeyValue("call", call)
                        .setCause(failure)
                        .log("The producer failed while it was shut down");
            }
        });
    }

    /** Waits for {@code done}; false when the time is up first, or on an interrupt, which stays set. */
    private boolean await(CompletableFuture<Boolean> done, Duration bound) {
        TimeSource.Timer timer = scheduler.schedule(bound, () -> done.complete(false));
        try {
            return scheduler.await(done);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return false;
        } catch (ExecutionException impossible) {
            throw new IllegalStateException(impossible);
        } finally {
            timer.cancel();
        }
    }
}
