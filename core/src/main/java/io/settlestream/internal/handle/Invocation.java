package io.settlestream.internal.handle;

import io.settlestream.AsyncHandler;
import io.settlestream.Context;
import io.settlestream.Handler;
import io.settlestream.HandlerOutcome;
import io.settlestream.internal.settle.Delivery;
import io.settlestream.internal.settle.HandBack;
import io.settlestream.spi.Scheduler;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/** Calls one kind of handler and waits for its answer. */
@FunctionalInterface
interface Invocation {

    /** Calls the handler; null if the delivery is settled later, by whoever hears the report of its reply. */
    @Nullable
    HandlerOutcome call(Object value, Delivery delivery, HandBack lanes) throws Exception;

    @SuppressWarnings("unchecked") // what was declared with the value's type is called with values of that type
    static Invocation sync(Handler<?, ?> handler) {
        Handler<Object, Object> typed = (Handler<Object, Object>) handler;
        return (value, delivery, lanes) -> present(typed.handle(value, delivery), "an outcome");
    }

    @SuppressWarnings("unchecked")
    static Invocation async(AsyncHandler<?, ?> handler, Scheduler scheduler) {
        AsyncHandler<Object, Object> typed = (AsyncHandler<Object, Object>) handler;
        return (value, delivery, lanes) ->
                present(await(typed.handle(value, (Context<Object>) delivery), delivery, scheduler), "an outcome");
    }

    /**
     * Waits for a stage on the lane's thread. Ends by an interrupt, unless that says that the delivery was given up: then
     * it waits on and throws the interrupt at the end. What the stage stands for still runs, so the delivery must stay
     * in the worker's hands, where a redelivery of the record and health find it. Cancelling the stage would only end it,
     * not the work behind it.
     */
    static <T> T await(@Nullable CompletionStage<T> stage, Delivery delivery, Scheduler scheduler) throws Exception {
        CompletableFuture<T> answer = present(stage, "a stage").toCompletableFuture();
        InterruptedException givenUp = null;
        while (true) {
            try {
                T value = scheduler.await(answer);
                if (givenUp != null) {
                    throw givenUp;
                }
                return value;
            } catch (InterruptedException e) {
                if (e == givenUp || !delivery.cancelled()) {
                    throw e;
                }
                givenUp = e;
            } catch (ExecutionException e) {
                if (e.getCause() instanceof Exception cause) {
                    throw cause;
                }
                if (e.getCause() instanceof Error cause) {
                    throw cause;
                }
                throw e;
            }
        }
    }

    /** A handler written without null checks may still return null. */
    static <T> T present(@Nullable T answer, String what) {
        if (answer == null) {
            throw new NullPointerException("the handler returned null instead of " + what);
        }
        return answer;
    }
}
