package io.settlestream.internal.publish;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.function.BooleanSupplier;

/** Threads of a test. The bounds only end a test that has failed already. */
final class Threads {

    private static final Duration BOUND = Duration.ofSeconds(20);

    /** A call on a thread of its own. */
    record Call<T>(Thread thread, FutureTask<T> result) {

        T join() throws InterruptedException {
            thread.join(BOUND);
            assertThat(result.isDone()).as("the call returns").isTrue();
            return result.resultNow();
        }

        Throwable failure() throws InterruptedException {
            thread.join(BOUND);
            assertThat(result.isDone()).as("the call returns").isTrue();
            return result.exceptionNow();
        }
    }

    private Threads() {}

    static <T> Call<T> call(Callable<T> body) {
        FutureTask<T> result = new FutureTask<>(body);
        return new Call<>(Thread.ofPlatform().daemon().start(result), result);
    }

    /** Spins until a condition that another thread brings about holds. */
    static void until(String what, BooleanSupplier condition) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - start).as(what).isLessThan(BOUND.toNanos());
            Thread.onSpinWait();
        }
    }
}
