package io.settlestream.internal.poll;

import io.settlestream.internal.commit.Committer;
import io.settlestream.internal.health.Counters;
import io.settlestream.internal.health.Episodes;
import io.settlestream.internal.position.OwnedPartition;
import io.settlestream.internal.position.Position;
import io.settlestream.kafka.StartOffset;
import io.settlestream.spi.TimeSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.LogTruncationException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RetriableException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides where partitions start: at the group's committed offset, else where the subscription says. Belongs to the poll
 * thread.
 *
 * <p>The consumer itself is given no reset policy. So it can never jump on its own, to the end of a log whose beginning
 * was trimmed in particular; it asks by an exception, and the answer is worked out here.
 */
final class StartPositions {

    private static final Logger log = LoggerFactory.getLogger(StartPositions.class);

    private final Consumer<byte[], byte[]> consumer;
    private final SubscriptionPlan plan;
    private final Committer committer;
    private final boolean commitStarts;
    private final Counters counters;
    private final Episodes episodes;

    private volatile @Nullable String problem;

    private final Set<OwnedPartition> unknown = new LinkedHashSet<>();

    /** How many partitions the topic had when the service started, or -1 as long as nobody could say. */
    private int partitionsAtStart = -1;
    /** Where they ended then, for a subscription that starts at the end: so a partition that comes later starts there. */
    private Map<TopicPartition, Long> endsAtStart = Map.of();

    StartPositions(
            Consumer<byte[], byte[]> consumer,
            SubscriptionPlan plan,
            Committer committer,
            boolean commitStarts,
            Counters counters,
            TimeSource time) {
        this.consumer = consumer;
        this.plan = plan;
        this.committer = committer;
        this.commitStarts = commitStarts;
        this.counters = counters;
        this.episodes = new Episodes(time);
    }

    void assigned(OwnedPartition partition) {
        unknown.add(partition);
    }

    void gone(OwnedPartition partition) {
        unknown.remove(partition);
    }

    /** Why it is not known where partitions start, if the cluster does not say. Any thread. */
    @Nullable
    String problem() {
        return problem;
    }

    /** Whether partitions are assigned of which it is not known where they start. */
    boolean anyUnknown() {
        return !unknown.isEmpty();
    }

    /** Whether it is known where each assigned partition starts. */
    boolean allKnown() {
        return partitionsAtStart >= 0 && unknown.isEmpty();
    }

    /** Works out what is not known yet; what the cluster does not answer in time is asked again in the next round. */
    void resolve() {
        try {
            if (partitionsAtStart < 0) {
                countPartitions();
            }
            if (!unknown.isEmpty()) {
                resolve(new ArrayList<>(unknown));
            }
            problem = null;
        } catch (RetriableException e) {
            problem = "cluster does not say where partitions start: " + e;
            episodes.failed(n -> log.atWarn()
                    .addKeyValue("subscription", plan.name())
                    .addKeyValue("failures", n)
                    .addKeyValue("cause", e.toString())
                    .log("cluster does not say where partitions start; asking again"));
        }
    }

    private void countPartitions() {
        List<PartitionInfo> found = consumer.partitionsFor(plan.topic(), plan.callTimeout());
        List<PartitionInfo> partitions = found == null ? List.of() : found;
        if (plan.startOffset() == StartOffset.LATEST) {
            endsAtStart = offsets(
                    partitions.stream()
                            .filter(partition -> partition.leader() != null)
                            .map(partition -> new TopicPartition(partition.topic(), partition.partition()))
                            .toList(),
                    false);
        }
        partitionsAtStart = partitions.size();
        if (partitionsAtStart == 0) {
            log.atWarn()
                    .addKeyValue("subscription", plan.name())
                    .addKeyValue("topic", plan.topic())
                    .log("topic does not exist; it is joined when it appears");
        }
    }

    private void resolve(List<OwnedPartition> partitions) {
        Map<TopicPartition, OwnedPartition> byName = new LinkedHashMap<>();
        partitions.forEach(partition -> byName.put(partition.topicPartition(), partition));
        Map<TopicPartition, OffsetAndMetadata> committed = consumer.committed(byName.keySet(), plan.callTimeout());
        Map<OwnedPartition, Position> starts = new LinkedHashMap<>();
        Set<TopicPartition> atBeginning = new HashSet<>();
        Set<TopicPartition> atEnd = new HashSet<>();
        byName.forEach((name, partition) -> {
            OffsetAndMetadata offset = committed.get(name);
            if (offset != null) {
                partition.committed(Position.of(offset));
                unknown.remove(partition);
            } else if (name.partition() >= partitionsAtStart) {
                atBeginning.add(name);
            } else {
                switch (plan.startOffset()) {
                    case EARLIEST -> atBeginning.add(name);
                    case LATEST -> {
                        Long end = endsAtStart.get(name);
                        if (end == null) {
                            atEnd.add(name);
                        } else {
                            start(byName, name, end, starts);
                        }
                    }
                    case COMMITTED ->
                        throw new IllegalStateException("subscription " + plan.name() + ": group "
                                + plan.group() + " has committed no offset for " + name + " and StartOffset."
                                + StartOffset.COMMITTED + " allows no other start; commit one or choose another start"
                                + " with KafkaTopic.startOffset(...)");
                }
            }
        });
        offsets(atBeginning, true).forEach((name, offset) -> start(byName, name, offset, starts));
        offsets(atEnd, false).forEach((name, offset) -> start(byName, name, offset, starts));
        if (commitStarts && !committer.commitStarts(starts, plan.callTimeout())) {
            return;
        }
        starts.forEach((partition, position) -> {
            consumer.seek(partition.topicPartition(), position.offset());
            partition.startAt(position);
            unknown.remove(partition);
        });
    }

    private static void start(
            Map<TopicPartition, OwnedPartition> byName,
            TopicPartition name,
            long offset,
            Map<OwnedPartition, Position> starts) {
        OwnedPartition partition = byName.get(name);
        if (partition != null) {
            starts.put(partition, new Position(offset, null));
        }
    }

    private Map<TopicPartition, Long> offsets(Collection<TopicPartition> partitions, boolean beginning) {
        if (partitions.isEmpty()) {
            return Map.of();
        }
        return beginning
                ? consumer.beginningOffsets(partitions, plan.callTimeout())
                : consumer.endOffsets(partitions, plan.callTimeout());
    }

    /**
     * The position of a partition does not exist in its log. Below the log's start, because retention or trimming took
     * it: go on at the start. Above its end, because the log was truncated: go on at the end.
     *
     * @return where partitions go on; one that is not in it is asked for again
     */
    Map<TopicPartition, Long> outOfRange(OffsetOutOfRangeException e) {
        Map<TopicPartition, Long> moved = new HashMap<>();
        Map<TopicPartition, Long> wanted = new HashMap<>(e.offsetOutOfRangePartitions());
        try {
            Map<TopicPartition, Long> beginnings = consumer.beginningOffsets(wanted.keySet(), plan.callTimeout());
            Map<TopicPartition, Long> ends = consumer.endOffsets(wanted.keySet(), plan.callTimeout());
            wanted.forEach((partition, offset) -> {
                long beginning = beginnings.getOrDefault(partition, offset);
                long end = ends.getOrDefault(partition, offset);
                long resumeAt = Math.max(beginning, Math.min(offset, end));
                if (e instanceof LogTruncationException truncation
                        && truncation.divergentOffsets().containsKey(partition)) {
                    resumeAt = truncation.divergentOffsets().get(partition).offset();
                }
                counters.trimmed.increment();
                log.atWarn()
                        .addKeyValue("subscription", plan.name())
                        .addKeyValue("partition", partition)
                        .addKeyValue("position", offset)
                        .addKeyValue("logStart", beginning)
                        .addKeyValue("logEnd", end)
                        .addKeyValue("resumeAt", resumeAt)
                        .log(
                                resumeAt < offset
                                        ? "position is past the log's end: the log was truncated, or is another one"
                                        : "position is not in the log any more: records were trimmed before they were"
                                                + " read");
                consumer.seek(partition, resumeAt);
                moved.put(partition, resumeAt);
            });
        } catch (RetriableException again) {
            log.atDebug()
                    .addKeyValue("subscription", plan.name())
                    .setCause(again)
                    .log("asking again");
        }
        return moved;
    }
}
