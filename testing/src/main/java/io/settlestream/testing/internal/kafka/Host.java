package io.settlestream.testing.internal.kafka;

import io.settlestream.spi.TimeSource;
import java.util.function.BooleanSupplier;

/**
 * What the in-process Kafka lives in: time, threads that wait, and chance. Virtual and reproducible in tests of an
 * application, real in some tests of the in-process Kafka itself.
 */
public interface Host extends TimeSource {

    /**
     * Starts a daemon thread of the in-process Kafka, such as a producer's.
     *
     * @param name the thread's name
     */
    Thread start(String name, Runnable body);

    /**
     * Blocks the calling thread until a condition holds or the time is up. Never called with the cluster's lock.
     *
     * @param condition read-only and quick; it may take the cluster's lock and no other. Asked by the calling thread, and
     *     by whichever thread calls {@link #changed()}
     * @param deadline on the clock of {@link #nanoTime()}; {@link Long#MAX_VALUE} for none
     * @return whether the condition held
     * @throws InterruptedException if the thread is interrupted before or while it waits
     */
    boolean await(BooleanSupplier condition, long deadline) throws InterruptedException;

    /** Says that state has changed, so that those who wait look again. Called with or without the cluster's lock. */
    void changed();

    /**
     * Decides something that Kafka leaves open: how many records a fetch brings, when an answer arrives.
     *
     * @param what names the decision, for the trace of a run
     * @param low the least possible value
     * @param high the greatest possible value, at least {@code low}
     * @param usual what it is when nothing is left to chance
     * @return a value from {@code low} to {@code high}, both included
     */
    long choose(String what, long low, long high, long usual);
}
