package io.settlestream.spi;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.LockSupport;

/**
 * What an application runs on: its time, its threads, and how they wait. Thread-safe.
 *
 * <p>Every thread of the framework is started here, and whatever waits in the framework waits here, so that a test can
 * run a whole application one step at a time. The defaults are the JVM's own threads. A wait may end for no reason; whoever
 * waits looks again at what it waits for.
 *
 * @since 0.1.0
 */
public interface Scheduler extends TimeSource {

    /** What a thread is. */
    enum Kind {
        /** A platform thread that keeps the JVM alive. */
        PLATFORM,
        /** A platform thread that does not keep the JVM alive. */
        DAEMON,
        /** A virtual thread. */
        VIRTUAL
    }

    /** Starts a thread. */
    default Thread start(Kind kind, String name, Runnable body) {
        return switch (kind) {
            // Said, because a thread that a virtual one or a daemon starts would be a daemon else.
            case PLATFORM -> Thread.ofPlatform().daemon(false).name(name).start(body);
            case DAEMON -> Thread.ofPlatform().daemon().name(name).start(body);
            case VIRTUAL -> Thread.ofVirtual().name(name).start(body);
        };
    }

    /**
     * Waits until another thread {@linkplain #unpark unparks} or {@linkplain #interrupt interrupts} this one, or for no
     * reason; at once if one of that has happened since it last waited. An interrupt stays set.
     *
     * @param blocker what it waits for, as debuggers and thread dumps show it
     */
    default void park(Object blocker) {
        LockSupport.park(blocker);
    }

    /** Lets a thread go on that is parked, or makes its next {@link #park} return at once. */
    default void unpark(Thread thread) {
        LockSupport.unpark(thread);
    }

    /** Interrupts a thread of this scheduler. */
    default void interrupt(Thread thread) {
        thread.interrupt();
    }

    /**
     * Waits for a future, as {@link CompletableFuture#get()} does.
     *
     * @throws ExecutionException if the future failed
     * @throws InterruptedException if interrupted while waiting
     */
    default <T> T await(CompletableFuture<T> future) throws InterruptedException, ExecutionException {
        return future.get();
    }

    /**
     * Waits for a future, as {@link CompletableFuture#join()} does.
     *
     * @throws java.util.concurrent.CompletionException if the future failed
     */
    default <T> T join(CompletableFuture<T> future) {
        return future.join();
    }

    /** Whether the process that this stands for is no more, as after a crash in a test: nobody is told of what it does. */
    default boolean ended() {
        return false;
    }
}
