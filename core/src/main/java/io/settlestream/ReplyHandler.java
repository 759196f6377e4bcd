package io.settlestream;

/**
 * Handles one delivery and answers with a message to publish, or with an outcome alone. The delivery settles when Kafka
 * has accepted the message.
 *
 * @param <T> the decoded value
 * @param <R> the reply's value
 * @param <S> the application's state
 * @since 0.1.0
 */
@FunctionalInterface
public interface ReplyHandler<T, R, S> {

    /**
     * Handles one delivery.
     *
     * @param value the decoded value
     * @param context where the delivery comes from
     * @return the reply; null is treated as a thrown exception
     * @throws Exception settled by the mount site's {@link ExceptionPolicy}
     */
    Reply<R> handle(T value, Context<S> context) throws Exception;
}
