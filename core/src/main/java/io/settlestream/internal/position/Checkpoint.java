package io.settlestream.internal.position;

import java.util.Optional;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;

/**
 * A position to commit, with what is noted next to it.
 *
 * @param position the place
 * @param version of the partition's notes; another one is another checkpoint, though the place may be the same
 * @param note as it is written
 */
public record Checkpoint(Position position, long version, String note) {

    /** As the client takes it. */
    public OffsetAndMetadata toCommit() {
        return new OffsetAndMetadata(position.offset(), Optional.ofNullable(position.leaderEpoch()), note);
    }
}
