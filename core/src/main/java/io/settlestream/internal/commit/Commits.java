package io.settlestream.internal.commit;

import io.settlestream.internal.position.OwnedPartition;
import io.settlestream.internal.position.Position;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What becomes of a subscription's positions. Belongs to the poll thread. */
public sealed interface Commits permits Committer, NoCommits {

    /** Nanoseconds until {@link #tick} wants to be called. */
    long untilNextTick();

    /** Whether some position is ahead of what is committed, and should not be. */
    boolean behind(Collection<OwnedPartition> partitions);

    /** The last failure of a commit, if none has succeeded since, or one that is not answered. Any thread. */
    @Nullable
    String problem();

    /** Begins a commit in the background if it is time for one and positions have moved. */
    void tick(Collection<OwnedPartition> partitions);

    /**
     * Commits positions that have moved and waits for the answer.
     *
     * @return whether nothing is left to commit; a failure has been noted
     */
    boolean commitNow(Collection<OwnedPartition> partitions, Duration timeout);

    /** Commits where partitions start. True if that has succeeded. */
    boolean commitStarts(Map<OwnedPartition, Position> starts, Duration timeout);
}
