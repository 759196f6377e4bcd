package io.settlestream.internal.handle;

import io.settlestream.DecodeException;
import io.settlestream.DecodePolicy;
import io.settlestream.ExceptionPolicy;
import io.settlestream.codec.Codec;
import io.settlestream.internal.health.Counters;
import io.settlestream.internal.health.FailureListener;
import io.settlestream.internal.settle.Delivery;
import io.settlestream.internal.settle.Recovery;
import io.settlestream.internal.settle.Settlement;
import io.settlestream.spi.AppObserver;
import io.settlestream.spi.Scheduler;

/** What a subscription's handlers run with. */
public record HandlerEnvironment(
        String subscription,
        Codec<?> codec,
        ExceptionPolicy onException,
        DecodePolicy onDecodeFailure,
        Settlement settlement,
        Recovery recovery,
        Counters counters,
        FailureListener failures,
        Scheduler scheduler,
        AppObserver observer) {

    /** The value of a record. A codec written without null checks may still give null, which is no value. */
    Object decode(Delivery delivery) {
        Object value = codec.decode(delivery.record().value());
        if (value == null) {
            throw new DecodeException("the codec gave null instead of a value", null);
        }
        return value;
    }
}
