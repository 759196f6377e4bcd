package io.settlestream.testing.internal.kafka;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.WakeupException;

/** How a consumer waits: until something holds, or its time is up, or somebody wakes, interrupts or crashes it. */
final class Waiting {

    private final Cluster cluster;
    private final String clientId;

    // With the cluster's lock.
    private boolean woken;
    private boolean deaf;
    private boolean crashed;

    Waiting(Cluster cluster, String clientId) {
        this.cluster = cluster;
        this.clientId = clientId;
    }

    /** Ends the wait that is under way, or the next one. Any thread. */
    void wakeUp() {
        cluster.change(() -> woken = true);
    }

    /** From here on no wake-up is heard: the consumer closes. */
    void deafen() {
        cluster.change(() -> deaf = true);
    }

    /** Any thread. */
    void crash() {
        cluster.change(() -> crashed = true);
    }

    void throwIfCrashed() {
        if (cluster.locked(() -> crashed)) {
            throw new ClientCrashed(clientId);
        }
    }

    void throwIfWoken() {
        throwIfCrashed();
        boolean was = cluster.locked(() -> {
            boolean heard = woken && !deaf;
            if (heard) {
                woken = false;
            }
            return heard;
        });
        if (was) {
            throw new WakeupException();
        }
    }

    /** Where Kafka's consumer would have to wait for an answer. */
    void throwIfInterrupted() {
        if (Thread.interrupted()) {
            throw new InterruptException(new InterruptedException());
        }
    }

    /**
     * Waits.
     *
     * @param condition asked with the cluster's lock, also by other threads
     * @return whether it held, before the deadline
     */
    boolean until(BooleanSupplier condition, long deadline) {
        boolean held;
        try {
            held = cluster.host()
                    .await(
                            () -> cluster.locked(() -> (woken && !deaf) || crashed || condition.getAsBoolean()),
                            deadline);
        } catch (InterruptedException e) {
            // Sets the thread's flag again.
            throw new InterruptException(e);
        }
        throwIfWoken();
        return held;
    }

    void sleep(Duration time, long deadline) {
        boolean unused = until(() -> false, Deadline.earlier(deadline, deadline(time)));
    }

    /** When a timeout that begins now is over. */
    long deadline(Duration timeout) {
        if (timeout.isNegative()) {
            throw new IllegalArgumentException("Timeout " + timeout + " must not be negative");
        }
        return Deadline.in(cluster.host(), TimeUnit.NANOSECONDS.convert(timeout));
    }

    long now() {
        return cluster.host().nanoTime();
    }

    boolean past(long deadline) {
        return Deadline.isPast(deadline, now());
    }
}
