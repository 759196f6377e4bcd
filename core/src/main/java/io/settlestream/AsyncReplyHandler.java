package io.settlestream;

import java.util.concurrent.CompletionStage;

/**
 * A {@link ReplyHandler} that answers later. The lane takes its next delivery when the stage completes, as with an
 * {@link AsyncHandler}.
 *
 * @param <T> the decoded value
 * @param <R> the reply's value
 * @param <S> the application's state
 * @since 0.1.0
 */
@FunctionalInterface
public interface AsyncReplyHandler<T, R, S> {

    /**
     * Handles one delivery.
     *
     * @param value the decoded value
     * @param context where the delivery comes from
     * @return completes with the reply; null, or completing exceptionally, is treated as a thrown exception
     * @throws Exception settled by the mount site's {@link ExceptionPolicy}
     */
    CompletionStage<Reply<R>> handle(T value, Context<S> context) throws Exception;
}
