package io.settlestream.testing.internal.kafka;

import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** A partition that a consumer reads. */
final class Assigned {

    /** Where it reads on. */
    sealed interface Where {
        /** To be asked of the group. */
        record Unknown() implements Where {}

        /** To be asked of the log. */
        record Resetting(Reset to) implements Where {}

        /** Known. */
        record At(long offset, @Nullable Integer leaderEpoch) implements Where {}
    }

    private final TopicPartition partition;
    private Where where = new Where.Unknown();
    boolean paused;

    /** Not fetched while a listener has not heard of it, or hears that it goes. */
    boolean held;

    /** A fetch failed, or its answer takes time: nothing comes before this, on the host's clock. */
    @Nullable
    Long notBefore;

    /** What comes then is the answer, and not another try. */
    boolean late;

    /** Where the log ended for this reader at its last fetch, if there was one. */
    @Nullable
    Long end;

    Assigned(TopicPartition partition) {
        this.partition = partition;
    }

    TopicPartition partition() {
        return partition;
    }

    Where where() {
        return where;
    }

    void where(Where now) {
        where = now;
    }

    boolean readable() {
        return !paused && !held && where instanceof Where.At;
    }

    boolean at(long offset) {
        return where instanceof Where.At at && at.offset() == offset;
    }
}
