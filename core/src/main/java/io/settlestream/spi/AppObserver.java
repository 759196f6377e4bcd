package io.settlestream.spi;

import io.settlestream.Context;
import io.settlestream.HandlerOutcome;
import io.settlestream.PublishException;
import java.util.List;

/**
 * Hears what an application's handlers are called with and what they answer. For tests: it is called on the lane's thread,
 * in the path of every record, and must not throw.
 *
 * @since 0.1.0
 */
public interface AppObserver {

    /** Hears nothing. */
    AppObserver NONE = new AppObserver() {};

    /** The application has made its state. */
    default void madeState(Object state) {}

    /** A handler is about to be called with this value. */
    default void called(String subscription, Context<?> delivery, Object value) {}

    /**
     * A handler has answered. For an element of a batch, this is what its entry of the answer says. A reply is acked when
     * Kafka has accepted it, and this is called then, on the thread that brings the report.
     */
    default void answered(String subscription, Context<?> delivery, HandlerOutcome outcome) {}

    /** A handler has answered with a reply, which is published now. */
    default void replying(String subscription, Context<?> delivery) {}

    /** Kafka has not accepted a handler's reply. Called on the thread that brings the report, or refuses to send. */
    default void replyFailed(String subscription, Context<?> delivery, PublishException failure) {}

    /** A handler has thrown. The exception policy decides what follows. */
    default void threw(String subscription, Context<?> delivery, Throwable cause) {}

    /** A record could not be decoded. The decode policy decides what follows. */
    default void undecodable(String subscription, Context<?> delivery, Throwable cause) {}

    /** A batch handler is about to be called with these values; {@code deliveries} in the same order. */
    default void calledBatch(String subscription, List<? extends Context<?>> deliveries, List<Object> values) {}
}
