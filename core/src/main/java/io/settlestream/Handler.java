package io.settlestream;

/**
 * Handles one delivery and answers with its outcome. Runs on a lane's thread, a virtual one by default, so it may block.
 *
 * @param <T> the decoded value
 * @param <S> the application's state
 * @since 0.1.0
 */
@FunctionalInterface
public interface Handler<T, S> {

    /**
     * Handles one delivery.
     *
     * @param value the decoded value
     * @param context where the delivery comes from
     * @return the outcome; null is treated as a thrown exception
     * @throws Exception settled by the mount site's {@link ExceptionPolicy}
     */
    HandlerOutcome handle(T value, Context<S> context) throws Exception;
}
