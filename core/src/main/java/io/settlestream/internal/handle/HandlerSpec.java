package io.settlestream.internal.handle;

import io.settlestream.AsyncHandler;
import io.settlestream.AsyncReplyHandler;
import io.settlestream.BatchHandler;
import io.settlestream.Handler;
import io.settlestream.ReplyHandler;
import io.settlestream.codec.Codec;
import io.settlestream.kafka.KafkaPublish;
import org.jspecify.annotations.Nullable;

/** What a subscriber was declared with, before its codec is looked up and its broker is known. */
public sealed interface HandlerSpec {

    /** How values are decoded: by the default codec of {@code type}, or by {@code codec}; one of them is null. */
    record Input(@Nullable Class<?> type, @Nullable Codec<?> codec) {}

    Input input();

    record Single(Input input, Handler<?, ?> handler) implements HandlerSpec {}

    record Async(Input input, AsyncHandler<?, ?> handler) implements HandlerSpec {}

    record Batch(Input input, BatchHandler<?, ?> handler, int maxSize) implements HandlerSpec {}

    record Replying(Input input, ReplyHandler<?, ?, ?> handler, Class<?> replyType, KafkaPublish publish)
            implements HandlerSpec {}

    record ReplyingAsync(Input input, AsyncReplyHandler<?, ?, ?> handler, Class<?> replyType, KafkaPublish publish)
            implements HandlerSpec {}
}
