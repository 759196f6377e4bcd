package io.settlestream;

import io.settlestream.kafka.KafkaPublish;

/**
 * Where an application names what it reads from and writes to one broker. Given to {@link App#withBroker}; used only
 * while that call runs: later every method throws an {@link IllegalStateException}.
 *
 * @param <S> the application's state
 * @since 0.1.0
 */
public interface Scope<S> {

    /**
     * Adds a subscription. The handler may need the application's state type or any supertype of it. A topic that is read
     * in the same group already is refused at startup, since each would get only a part of the records.
     */
    Mount include(Subscriber<?, ? super S> subscriber);

    /**
     * Declares a publishing site. The publisher can be handed to whatever will use it; it works from the moment the
     * broker is connected, before {@code afterStartup} hooks, until the service has drained. It leads to one run of the
     * application at a time: a second start is refused while the first still runs. {@link KafkaPublish#transform} and
     * {@link KafkaPublish#awaitReport} are for replies, and refused here at startup.
     */
    Publisher publisher(KafkaPublish publish);
}
