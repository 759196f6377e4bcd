package io.settlestream;

import io.settlestream.kafka.KafkaPublish;
import java.util.Objects;
import java.util.function.Function;

/**
 * A replying handler bound to its topic. It can be included once it is said where its replies go.
 *
 * @param <T> the decoded value
 * @param <R> the reply's value
 * @param <S> the application's state that the handler needs
 * @since 0.1.0
 */
@SuppressWarnings("UnusedTypeParameter") // the compiler holds handlers and applications to them
public final class ReplySubscriber<T, R, S> {

    private final Function<KafkaPublish, Subscriber<T, S>> published;

    ReplySubscriber(Function<KafkaPublish, Subscriber<T, S>> published) {
        this.published = published;
    }

    /** Publishes replies to the topic that {@link Outgoing} names on the reply's type, with the site's defaults. */
    public Subscriber<T, S> reply() {
        return reply(KafkaPublish.create());
    }

    /** Publishes replies as {@code publish} says. */
    public Subscriber<T, S> reply(KafkaPublish publish) {
        return published.apply(Objects.requireNonNull(publish, "publish"));
    }
}
