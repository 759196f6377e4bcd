package io.settlestream.internal.commit;

import io.settlestream.internal.position.OwnedPartition;
import io.settlestream.internal.position.Position;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Of a subscription without a group: there is nowhere to commit to. */
public enum NoCommits implements Commits {
    INSTANCE;

    @Override
    public long untilNextTick() {
        return Long.MAX_VALUE;
    }

    @Override
    public boolean behind(Collection<OwnedPartition> partitions) {
        return false;
    }

    @Override
    public @Nullable String problem() {
        return null;
    }

    @Override
    public void tick(Collection<OwnedPartition> partitions) {}

    @Override
    public boolean commitNow(Collection<OwnedPartition> partitions, Duration timeout) {
        return true;
    }

    @Override
    public boolean commitStarts(Map<OwnedPartition, Position> starts, Duration timeout) {
        return true;
    }
}
