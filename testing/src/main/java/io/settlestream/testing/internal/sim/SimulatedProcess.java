package io.settlestream.testing.internal.sim;

import io.settlestream.spi.Scheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/**
 * The scheduler of one application in a simulation. It dies as a process does: from one moment on none of its threads runs
 * and none of its timers fires, and nothing of it is unwound.
 */
public final class SimulatedProcess implements Scheduler {

    private final Simulation simulation;
    private final String name;
    private volatile boolean dead;

    SimulatedProcess(Simulation simulation, String name) {
        this.simulation = simulation;
        this.name = name;
    }

    /** Stops all of its threads and timers where they are. */
    public void die() {
        simulation.die(this);
    }

    void markDead() {
        dead = true;
    }

    boolean belongsTo(Simulation other) {
        return simulation == other;
    }

    boolean dead() {
        return dead;
    }

    @Override
    public boolean ended() {
        return dead || simulation.closed();
    }

    @Override
    public Thread start(Kind kind, String threadName, Runnable body) {
        return simulation.start(this, kind, threadName, body);
    }

    @Override
    public void park(Object blocker) {
        simulation.park(blocker);
    }

    @Override
    public void unpark(Thread thread) {
        simulation.unpark(thread);
    }

    @Override
    public void interrupt(Thread thread) {
        simulation.interrupt(thread);
    }

    @Override
    public <T> T await(CompletableFuture<T> future) throws InterruptedException, ExecutionException {
        Thread self = Thread.currentThread();
        if (!simulation.isStrand(self)) {
            return future.get();
        }
        if (!future.isDone()) {
            CompletableFuture<?> unused = future.whenComplete((value, failure) -> simulation.unpark(self));
            while (!future.isDone()) {
                if (Thread.interrupted()) {
                    throw new InterruptedException("interrupted while waiting for a future");
                }
                simulation.park(future);
            }
        }
        return future.get();
    }

    @Override
    public <T> T join(CompletableFuture<T> future) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return await(future);
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (ExecutionException e) {
                    throw new CompletionException(e.getCause());
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public long nanoTime() {
        return simulation.nanoTime();
    }

    @Override
    public Instant now() {
        return simulation.now();
    }

    @Override
    public Timer schedule(Duration delay, Runnable task) {
        return simulation.schedule(this, delay, task);
    }

    @Override
    public String toString() {
        return name;
    }
}
