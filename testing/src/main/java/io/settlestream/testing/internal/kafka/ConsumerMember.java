package io.settlestream.testing.internal.kafka;

import io.settlestream.spi.TimeSource;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** A member of a {@link ConsumerGroup}, as the coordinator knows it. */
final class ConsumerMember {

    /**
     * What a member asks for.
     *
     * @param topics the names it subscribes to
     * @param pattern a regular expression for more of them, or empty
     * @param assignor the server-side assignor it would like, or empty
     */
    record Wish(
            String memberId,
            Optional<String> instanceId,
            Set<String> topics,
            String pattern,
            String assignor,
            Duration sessionTimeout,
            Duration rebalanceTimeout) {}

    private final String id;
    private final boolean bare;
    private Wish wish;

    /** Behind the group's as long as partitions are to be given back. */
    int epoch;

    /** What the assignor wants it to have. */
    Set<TopicPartition> target = Set.of();

    /** What it has been told to have, and null before it has been told anything. */
    @Nullable
    Set<TopicPartition> told;

    /** What nobody else may have, because it has it or has not given it back yet. */
    Set<TopicPartition> owned = Set.of();

    /** Whether it gave its place up for a while: a static member that closed. */
    boolean away;

    TimeSource.@Nullable Timer revocation;

    ConsumerMember(String id, Wish wish, boolean bare) {
        this.id = id;
        this.wish = wish;
        this.bare = bare;
    }

    String id() {
        return id;
    }

    boolean bare() {
        return bare;
    }

    Wish wish() {
        return wish;
    }

    void wish(Wish again) {
        wish = again;
    }
}
