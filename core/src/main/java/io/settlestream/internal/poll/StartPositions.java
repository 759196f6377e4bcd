package io.settlestream.internal.poll;

import io.settlestream.internal.commit.Commits;
import io.settlestream.internal.health.Counters;
import io.settlestream.internal.health.Episodes;
import io.settlestream.internal.position.OwnedPartition;
import io.settlestream.internal.position.Position;
import io.settlestream.kafka.KafkaPosition;
import io.settlestream.kafka.StartOffset;
import io.settlestream.spi.TimeSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.LogTruncationException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RetriableException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides where partitions start. Belongs to the poll thread.
 *
 * <ol>
 *   <li>At its first assignment to this process, where {@code startAt} says.
 *   <li>At the group's committed offset.
 *   <li>At its beginning, if it did not exist when the service started.
 *   <li>Where {@code startOffset} says.
 * </ol>
 *
 * <p>A retry topic's partitions start at the committed offset, else at the beginning: what is in there was put there by
 * this subscription, and is to be handled.
 *
 * <p>The consumer itself is given no reset policy. So it can never jump on its own, to the end of a log whose beginning
 * was trimmed in particular; it asks by an exception, and the answer is worked out here.
 */
final class StartPositions {

    private static final Logger log = LoggerFactory.getLogger(StartPositions.class);

    private final Consumer<byte[], byte[]> consumer;
    private final SubscriptionPlan plan;
    private final Commits commits;
    private final boolean commitStarts;
    private final SlowStart slowStart;
    private final Counters counters;
    private final Episodes episodes;
    private final LogPlaces places;
    private final TopicsAtStart atStart;

    private volatile @Nullable String problem;

    private final Set<OwnedPartition> unknown = new LinkedHashSet<>();

    /** Partitions of which something was fetched before it was known where they start; it was not taken. */
    private final Set<OwnedPartition> skipped = new HashSet<>();

    /** Partitions that have been started where {@code startAt} says, and are so no more. */
    private final Set<TopicPartition> startedAt = new HashSet<>();

    StartPositions(
            Consumer<byte[], byte[]> consumer,
            SubscriptionPlan plan,
            Commits commits,
            boolean commitStarts,
            SlowStart slowStart,
            Counters counters,
            TimeSource time) {
        this.consumer = consumer;
        this.plan = plan;
        this.commits = commits;
        this.commitStarts = commitStarts;
        this.slowStart = slowStart;
        this.counters = counters;
        this.episodes = new Episodes(time);
        this.places = new LogPlaces(consumer, plan.callTimeout());
        this.atStart = new TopicsAtStart(consumer, plan, places);
    }

    void assigned(OwnedPartition partition) {
        unknown.add(partition);
    }

    void gone(OwnedPartition partition) {
        unknown.remove(partition);
        skipped.remove(partition);
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
        return atStart.known() && unknown.isEmpty();
    }

    /**
     * Whether a partition is read where it should be. The consumer goes to a committed offset by itself, and may fetch
     * from there before the partition has been moved to where it is to start, and before it is known what is noted there.
     * What is not read is read again.
     */
    boolean reads(OwnedPartition partition) {
        boolean known = !unknown.contains(partition);
        if (!known) {
            skipped.add(partition);
        }
        return known;
    }

    /** Works out what is not known yet; what the cluster does not answer in time is asked again in the next round. */
    void resolve() {
        try {
            if (!atStart.known()) {
                atStart.look();
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

    private void resolve(List<OwnedPartition> partitions) {
        Map<TopicPartition, OwnedPartition> byName = new LinkedHashMap<>();
        partitions.forEach(partition -> byName.put(partition.topicPartition(), partition));
        Map<TopicPartition, OffsetAndMetadata> committed =
                plan.group().isPresent() ? consumer.committed(byName.keySet(), plan.callTimeout()) : Map.of();
        Map<TopicPartition, KafkaPosition> wanted = new LinkedHashMap<>();
        Map<TopicPartition, Long> offsets = new HashMap<>();
        Map<OwnedPartition, OffsetAndMetadata> goesOn = new LinkedHashMap<>();
        Map<OwnedPartition, Integer> slowly = new LinkedHashMap<>();
        byName.forEach((name, partition) -> {
            OffsetAndMetadata offset = committed.get(name);
            int unended = offset == null ? 0 : partition.takeOver(offset);
            Optional<KafkaPosition> first = startAt(name);
            if (first.isEmpty() && offset != null) {
                goesOn.put(partition, offset);
                if (plan.capped() && unended > 0) {
                    slowly.put(partition, unended);
                }
                return;
            }
            KafkaPosition position = first.orElseGet(() -> withoutCommitted(name));
            Long end = atStart.end(name);
            if (position instanceof KafkaPosition.Latest && end != null) {
                offsets.put(name, end);
            } else {
                wanted.put(name, position);
            }
        });
        if (goOn(goesOn)) {
            slowly.forEach(slowStart::begin);
        }
        offsets.putAll(places.offsets(wanted));
        start(byName, wanted, offsets);
    }

    /** Goes on where the group has committed. False if that has to be tried again. */
    private boolean goOn(Map<OwnedPartition, OffsetAndMetadata> partitions) {
        if (plan.capped() && commitStarts) {
            Map<OwnedPartition, Position> marks = new LinkedHashMap<>();
            partitions.forEach((partition, offset) -> {
                partition.running(true);
                marks.put(partition, Position.of(offset));
            });
            if (!commits.commitStarts(marks, plan.callTimeout())) {
                return false;
            }
        }
        partitions.forEach((partition, offset) -> {
            if (skipped.remove(partition)) {
                consumer.seek(partition.topicPartition(), offset);
            }
            unknown.remove(partition);
        });
        return true;
    }

    private void start(
            Map<TopicPartition, OwnedPartition> byName,
            Map<TopicPartition, KafkaPosition> wanted,
            Map<TopicPartition, Long> offsets) {
        Map<OwnedPartition, Position> starts = new LinkedHashMap<>();
        byName.forEach((name, partition) -> {
            Long offset = offsets.get(name);
            if (offset != null) {
                partition.running(plan.capped() && commitStarts);
                starts.put(partition, new Position(offset, null));
            }
        });
        if (commitStarts && !commits.commitStarts(starts, plan.callTimeout())) {
            return;
        }
        starts.forEach((partition, position) -> {
            TopicPartition name = partition.topicPartition();
            if (wanted.get(name) instanceof KafkaPosition.Offset(long offset) && offset != position.offset()) {
                movedIntoTheLog(name, offset, position.offset());
            }
            consumer.seek(name, position.offset());
            partition.startAt(position);
            startedAt.add(name);
            skipped.remove(partition);
            unknown.remove(partition);
        });
    }

    /** Where a partition starts whatever is committed; nothing if it has been started before. */
    private Optional<KafkaPosition> startAt(TopicPartition name) {
        if (plan.retries(name) || startedAt.contains(name)) {
            return Optional.empty();
        }
        return plan.startAt()
                .map(position ->
                        position instanceof KafkaPosition.Latest && isNew(name) ? KafkaPosition.earliest() : position);
    }

    private KafkaPosition withoutCommitted(TopicPartition name) {
        if (plan.retries(name) || isNew(name)) {
            return KafkaPosition.earliest();
        }
        return switch (plan.startOffset()) {
            case EARLIEST -> KafkaPosition.earliest();
            case LATEST -> KafkaPosition.latest();
            case COMMITTED ->
                throw new IllegalStateException("subscription " + plan.name() + ": group " + plan.groupName()
                        + " has committed no offset for " + name + " and StartOffset." + StartOffset.COMMITTED
                        + " allows no other start; commit one or choose another start with startOffset(...) or"
                        + " startAt(...)");
        };
    }

    private boolean isNew(TopicPartition name) {
        return atStart.known() && !atStart.had(name);
    }

    private void movedIntoTheLog(TopicPartition partition, long offset, long resumeAt) {
        counters.trimmed.increment();
        log.atWarn()
                .addKeyValue("subscription", plan.name())
                .addKeyValue("partition", partition)
                .addKeyValue("position", offset)
                .addKeyValue("resumeAt", resumeAt)
                .log("position to start at is not in the log; it starts at the nearest that is");
    }

    /**
     * The position of a partition does not exist in its log. Below the log's start, because retention or trimming took
     * it: go on at the start. Above its end, because the log was truncated: go on at the end.
     *
     * <p>One of which it is not known yet where it starts is left alone: it is not read from there.
     *
     * @return where partitions go on; one that is not in it is asked for again
     */
    Map<TopicPartition, Long> outOfRange(OffsetOutOfRangeException e) {
        Map<TopicPartition, Long> moved = new HashMap<>();
        Map<TopicPartition, Long> wanted = new HashMap<>(e.offsetOutOfRangePartitions());
        unknown.forEach(partition -> wanted.remove(partition.topicPartition()));
        try {
            Map<TopicPartition, Long> beginnings = places.beginnings(wanted.keySet());
            Map<TopicPartition, Long> ends = places.ends(wanted.keySet());
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
