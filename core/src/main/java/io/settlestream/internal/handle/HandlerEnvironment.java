package io.settlestream.internal.handle;

import io.settlestream.DecodePolicy;
import io.settlestream.ExceptionPolicy;
import io.settlestream.codec.Codec;
import io.settlestream.internal.health.Counters;
import io.settlestream.internal.health.FailureListener;
import io.settlestream.internal.settle.Settlement;
import io.settlestream.spi.TimeSource;

/** What a subscription's handlers run with. */
public record HandlerEnvironment(
        String subscription,
        Codec<?> codec,
        ExceptionPolicy onException,
        DecodePolicy onDecodeFailure,
        Settlement settlement,
        Counters counters,
        FailureListener failures,
        TimeSource time) {}
