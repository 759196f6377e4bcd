package io.settlestream.internal.publish;

import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/** A header to send. Kafka keeps its own class for this to itself. */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record PlainHeader(String key, byte @Nullable [] value) implements Header {

    /** Says nothing of what it holds. */
    @Override
    public String toString() {
        return "PlainHeader[" + key + "]";
    }
}
