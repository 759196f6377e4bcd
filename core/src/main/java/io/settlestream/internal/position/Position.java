package io.settlestream.internal.position;

import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.jspecify.annotations.Nullable;

/**
 * A place in a partition from which a group would go on reading.
 *
 * @param offset the next offset to read
 * @param leaderEpoch the epoch of the record in front of it, if known
 */
public record Position(long offset, @Nullable Integer leaderEpoch) {

    public static Position of(OffsetAndMetadata offset) {
        return new Position(offset.offset(), offset.leaderEpoch().orElse(null));
    }
}
