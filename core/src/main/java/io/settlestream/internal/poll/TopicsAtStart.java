package io.settlestream.internal.poll;

import io.settlestream.kafka.KafkaPosition;
import io.settlestream.kafka.StartOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What there was to read when the service started: everything in a partition that appears later was written after the
 * start, so it is read from its beginning on. Belongs to the poll thread.
 */
final class TopicsAtStart {

    private static final Logger log = LoggerFactory.getLogger(TopicsAtStart.class);

    /** Kafka's own topics, which its consumer leaves out of what a pattern matches ({@code exclude.internal.topics}). */
    private static final Set<String> INTERNAL =
            Set.of("__consumer_offsets", "__transaction_state", "__share_group_state");

    private final Consumer<byte[], byte[]> consumer;
    private final SubscriptionPlan plan;
    private final LogPlaces places;

    private boolean known;

    /** How many partitions each topic had; a topic that did not exist is not in it. */
    private final Map<String, Integer> sizes = new HashMap<>();

    /** Where partitions ended, for a subscription that starts at the end: so a partition that comes later starts there. */
    private Map<TopicPartition, Long> ends = Map.of();

    TopicsAtStart(Consumer<byte[], byte[]> consumer, SubscriptionPlan plan, LogPlaces places) {
        this.consumer = consumer;
        this.plan = plan;
        this.places = places;
    }

    /** Whether the cluster has said what there is. */
    boolean known() {
        return known;
    }

    /** Whether a partition was there. */
    boolean had(TopicPartition partition) {
        return partition.partition() < sizes.getOrDefault(partition.topic(), 0);
    }

    /** Where a partition ended; null if that was not asked, or could not be said because it had no leader. */
    @Nullable
    Long end(TopicPartition partition) {
        return ends.get(partition);
    }

    /**
     * Asks the cluster what there is.
     *
     * @throws org.apache.kafka.common.errors.RetriableException if it does not say in time
     */
    void look() {
        List<String> missing = new ArrayList<>();
        List<TopicPartition> absent = new ArrayList<>();
        List<PartitionInfo> partitions = new ArrayList<>();
        switch (plan.source()) {
            case Reading.Topics(List<String> topics) ->
                topics.forEach(topic -> partitions.addAll(partitions(topic, missing)));
            case Reading.Matching matching ->
                consumer.listTopics(plan.callTimeout()).forEach((topic, found) -> {
                    if (matching.reads(topic) && !INTERNAL.contains(topic)) {
                        partitions.addAll(found);
                    }
                });
            case Reading.Partitions named -> {
                absent.addAll(named.of(named.topic()));
                List<PartitionInfo> found = partitions(named.topic(), new ArrayList<>());
                found.forEach(each -> absent.remove(name(each)));
                found.stream()
                        .filter(each -> named.numbers().contains(each.partition()))
                        .forEach(partitions::add);
            }
        }
        plan.retryTopic().ifPresent(topic -> partitions(topic, missing));
        if (startsAtTheEnd()) {
            ends = places.ends(partitions.stream()
                    .filter(partition -> partition.leader() != null)
                    .map(TopicsAtStart::name)
                    .toList());
        }
        partitions.forEach(partition -> sizes.merge(partition.topic(), partition.partition() + 1, Math::max));
        known = true;
        warn("topic", missing, "topic does not exist; it is joined when it appears");
        warn("partition", absent, "partition does not exist; it is joined when it appears");
        if (partitions.isEmpty() && plan.source() instanceof Reading.Matching) {
            warn("pattern", List.of(plan.source()), "no topic matches; those that appear are joined");
        }
    }

    private boolean startsAtTheEnd() {
        return plan.startOffset() == StartOffset.LATEST
                || plan.startAt().filter(KafkaPosition.Latest.class::isInstance).isPresent();
    }

    private List<PartitionInfo> partitions(String topic, List<String> missing) {
        List<PartitionInfo> found = consumer.partitionsFor(topic, plan.callTimeout());
        if (found == null || found.isEmpty()) {
            missing.add(topic);
            return List.of();
        }
        return found;
    }

    /** Once for all that is missing of a kind. */
    private void warn(String kind, List<?> missing, String message) {
        if (!missing.isEmpty()) {
            log.atWarn()
                    .addKeyValue("subscription", plan.name())
                    .addKeyValue(kind, missing.stream().map(Object::toString).collect(Collectors.joining(", ")))
                    .log(message);
        }
    }

    private static TopicPartition name(PartitionInfo partition) {
        return new TopicPartition(partition.topic(), partition.partition());
    }
}
