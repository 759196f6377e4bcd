package io.settlestream;

import java.util.concurrent.CompletionStage;

/**
 * Handles one delivery and answers later. The lane takes its next delivery when the stage completes; use more workers to
 * have more in flight. That also holds for a delivery that was given up: the stage is neither interrupted nor cancelled, so
 * work that can take long should ask {@link Context#cancelled()}. A stage that never completes keeps its worker.
 *
 * @param <T> the decoded value
 * @param <S> the application's state
 * @since 0.1.0
 */
@FunctionalInterface
public interface AsyncHandler<T, S> {

    /**
     * Handles one delivery.
     *
     * @param value the decoded value
     * @param context where the delivery comes from
     * @return the outcome; null is treated as a thrown exception
     * @throws Exception settled by the mount site's {@link ExceptionPolicy}
     */
    CompletionStage<? extends HandlerOutcome> handle(T value, Context<S> context) throws Exception;
}
