package io.settlestream;

import io.settlestream.codec.Codec;
import io.settlestream.internal.handle.HandlerSpec;
import io.settlestream.kafka.KafkaSource;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A handler bound to what it reads, ready to be {@link Scope#include included} in an application.
 *
 * <pre>{@code
 * Subscriber<Charge, Clients> takeCharge = Subscriber.on(KafkaTopic.of("charges").commit(Commit.tracked()), Charge.class)
 *         .handle((charge, ctx) ->
 *                 ctx.state().gateway().charge(charge) ? HandlerOutcome.ack() : HandlerOutcome.retry());
 * }</pre>
 *
 * @param <T> the decoded value
 * @param <S> the application's state that the handler needs
 * @since 0.1.0
 */
@SuppressWarnings("UnusedTypeParameter") // the compiler holds handlers and applications to them
public final class Subscriber<T, S> {

    private final KafkaSource<?> source;
    private final HandlerSpec spec;

    private Subscriber(KafkaSource<?> source, HandlerSpec spec) {
        this.source = source;
        this.spec = spec;
    }

    /**
     * Starts a subscriber of {@code source} whose values are decoded by the default codec for {@code type}: as they are
     * for {@code byte[]}, UTF-8 for {@code String}, else by a {@link io.settlestream.codec.CodecProvider} on the class
     * path, such as {@code settlestream-jackson}.
     */
    public static <T> Draft<T> on(KafkaSource<?> source, Class<T> type) {
        return new Draft<>(source, Objects.requireNonNull(type, "type"), null);
    }

    /** Starts a subscriber of {@code source} whose values are decoded by {@code codec}. */
    public static <T> Draft<T> on(KafkaSource<?> source, Codec<T> codec) {
        return new Draft<>(source, null, Objects.requireNonNull(codec, "codec"));
    }

    KafkaSource<?> source() {
        return source;
    }

    HandlerSpec spec() {
        return spec;
    }

    /**
     * A subscriber that still needs its handler.
     *
     * @param <T> the decoded value
     * @since 0.1.0
     */
    public static final class Draft<T> {

        private final KafkaSource<?> source;
        private final HandlerSpec.Input input;

        private Draft(KafkaSource<?> source, @Nullable Class<T> type, @Nullable Codec<T> codec) {
            this.source = Objects.requireNonNull(source, "source");
            this.input = new HandlerSpec.Input(type, codec);
        }

        /** Handles deliveries one by one; the handler may block. */
        public <S> Subscriber<T, S> handle(Handler<T, S> handler) {
            return new Subscriber<>(source, new HandlerSpec.Single(input, Objects.requireNonNull(handler, "handler")));
        }

        /** Handles deliveries one by one; the handler answers later. */
        public <S> Subscriber<T, S> handleAsync(AsyncHandler<T, S> handler) {
            return new Subscriber<>(source, new HandlerSpec.Async(input, Objects.requireNonNull(handler, "handler")));
        }

        /** Handles batches; {@link BatchSubscriber#batch} then names the largest size. */
        public <S> BatchSubscriber<T, S> handleBatch(BatchHandler<T, S> handler) {
            Objects.requireNonNull(handler, "handler");
            return new BatchSubscriber<>(
                    maxSize -> new Subscriber<>(source, new HandlerSpec.Batch(input, handler, maxSize)));
        }

        /** Handles deliveries one by one and publishes replies; {@link ReplySubscriber#reply} then says where to. */
        public <R, S> ReplySubscriber<T, R, S> handleReply(Class<R> replyType, ReplyHandler<T, R, S> handler) {
            Objects.requireNonNull(handler, "handler");
            Objects.requireNonNull(replyType, "replyType");
            return new ReplySubscriber<>(
                    publish -> new Subscriber<>(source, new HandlerSpec.Replying(input, handler, replyType, publish)));
        }

        /** As {@link #handleReply}, with a handler that answers later. */
        public <R, S> ReplySubscriber<T, R, S> handleReplyAsync(
                Class<R> replyType, AsyncReplyHandler<T, R, S> handler) {
            Objects.requireNonNull(handler, "handler");
            Objects.requireNonNull(replyType, "replyType");
            return new ReplySubscriber<>(publish ->
                    new Subscriber<>(source, new HandlerSpec.ReplyingAsync(input, handler, replyType, publish)));
        }
    }
}
