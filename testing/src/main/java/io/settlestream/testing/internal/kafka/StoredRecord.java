package io.settlestream.testing.internal.kafka;

import java.util.List;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/** A record as it lies in a log, with its partition. */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record StoredRecord(
        int partition,
        long offset,
        long timestamp,
        byte @Nullable [] key,
        byte @Nullable [] value,
        List<Header> headers) {}
