package io.settlestream.testing.internal.kafka;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** What a consumer subscribes to, and the partitions it has. */
final class Subscriptions {

    /** Where the partitions come from. */
    sealed interface Source {
        record Nothing() implements Source {}

        /** The application assigns them. */
        record Manual() implements Source {}

        record Topics(Set<String> names) implements Source {}

        /** The client matches the names. */
        record ByPattern(Pattern pattern) implements Source {}

        /** The coordinator matches the names. */
        record ByServerPattern(String pattern) implements Source {}
    }

    private static final String EXCLUSIVE = "Subscription to topics, partitions and pattern are mutually exclusive";

    private Source source = new Source.Nothing();

    @Nullable
    private ConsumerRebalanceListener listener;

    /** The topics that a pattern matches. */
    private Set<String> matched = Set.of();

    private final Map<TopicPartition, Assigned> assigned = new LinkedHashMap<>();

    Source source() {
        return source;
    }

    @Nullable
    ConsumerRebalanceListener listener() {
        return listener;
    }

    void subscribe(Source to, @Nullable ConsumerRebalanceListener hears) {
        if (!(source instanceof Source.Nothing) && source.getClass() != to.getClass()) {
            throw new IllegalStateException(EXCLUSIVE);
        }
        source = to;
        listener = hears;
        matched = Set.of();
    }

    void unsubscribe() {
        source = new Source.Nothing();
        matched = Set.of();
        assigned.clear();
    }

    /** Whether a group assigns the partitions. */
    boolean byGroup() {
        return switch (source) {
            case Source.Nothing s -> false;
            case Source.Manual s -> false;
            case Source.Topics s -> true;
            case Source.ByPattern s -> true;
            case Source.ByServerPattern s -> true;
        };
    }

    void matched(Set<String> names) {
        matched = names;
    }

    /** The names of the topics subscribed to. */
    Set<String> topics() {
        return switch (source) {
            case Source.Nothing s -> Set.of();
            case Source.Manual s -> Set.of();
            case Source.Topics(Set<String> names) -> names;
            case Source.ByPattern s -> matched;
            case Source.ByServerPattern s -> Set.of();
        };
    }

    /** Whether the group may assign a partition of this topic. */
    boolean covers(String topic) {
        return switch (source) {
            case Source.Nothing s -> false;
            case Source.Manual s -> false;
            case Source.Topics(Set<String> names) -> names.contains(topic);
            case Source.ByPattern(Pattern pattern) -> pattern.matcher(topic).matches();
            case Source.ByServerPattern s -> true;
        };
    }

    // --- partitions

    Collection<Assigned> assigned() {
        return assigned.values();
    }

    Set<TopicPartition> partitions() {
        return assigned.keySet();
    }

    @Nullable
    Assigned find(TopicPartition partition) {
        return assigned.get(partition);
    }

    Assigned require(TopicPartition partition, String action) {
        Assigned found = assigned.get(partition);
        if (found == null) {
            throw new IllegalStateException(
                    "No current assignment for partition " + partition + ", so it cannot be " + action);
        }
        return found;
    }

    /** By the application; what was there already keeps its position. */
    void assign(Collection<TopicPartition> partitions) {
        if (!(source instanceof Source.Nothing || source instanceof Source.Manual)) {
            throw new IllegalStateException(EXCLUSIVE);
        }
        source = new Source.Manual();
        become(partitions);
    }

    /** Has these partitions; what was there already keeps its position. */
    void become(Collection<TopicPartition> partitions) {
        Set<TopicPartition> wanted = new LinkedHashSet<>(partitions);
        assigned.keySet().retainAll(wanted);
        wanted.forEach(partition -> assigned.computeIfAbsent(partition, Assigned::new));
    }

    /** Moves a partition behind all others, so that the next fetch begins with another. */
    void moveToEnd(TopicPartition partition) {
        Assigned moved = assigned.remove(partition);
        if (moved != null) {
            assigned.put(partition, moved);
        }
    }

    /** The positions, as they are committed. */
    Map<TopicPartition, OffsetAndMetadata> consumed() {
        Map<TopicPartition, OffsetAndMetadata> all = new LinkedHashMap<>();
        for (Assigned partition : assigned.values()) {
            if (partition.where() instanceof Assigned.Where.At(long offset, Integer epoch)) {
                all.put(partition.partition(), Offsets.committable(offset, epoch));
            }
        }
        return all;
    }
}
