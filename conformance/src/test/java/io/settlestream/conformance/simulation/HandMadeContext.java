package io.settlestream.conformance.simulation;

import io.settlestream.Context;
import io.settlestream.Publisher;
import io.settlestream.SubscriptionControl;
import io.settlestream.kafka.KafkaPosition;
import io.settlestream.kafka.RecordCopy;
import java.time.Instant;
import java.util.Optional;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/** A delivery that nobody has made: of a record of {@code in0}, or of a copy of one on {@code again}. */
record HandMadeContext(Life state, long offset, int attempt, boolean cancelled, Optional<RecordCopy> origin)
        implements Context<Life> {

    HandMadeContext(Life state, long offset, int attempt, boolean cancelled) {
        this(state, offset, attempt, cancelled, Optional.empty());
    }

    @Override
    public String topic() {
        return origin.isEmpty() ? "in0" : "again";
    }

    @Override
    public int partition() {
        return 0;
    }

    @Override
    public Instant timestamp() {
        return Instant.EPOCH;
    }

    @Override
    public byte @Nullable [] key() {
        return null;
    }

    @Override
    public Headers headers() {
        throw new UnsupportedOperationException("headers");
    }

    @Override
    public KafkaPosition position() {
        return KafkaPosition.offset(offset);
    }

    @Override
    public void seek(KafkaPosition position) {
        throw new UnsupportedOperationException("seek");
    }

    @Override
    public SubscriptionControl subscription() {
        throw new UnsupportedOperationException("subscription");
    }

    @Override
    public Publisher publisher() {
        throw new UnsupportedOperationException("publisher");
    }
}
