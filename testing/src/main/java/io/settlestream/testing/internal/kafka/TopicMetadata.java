package io.settlestream.testing.internal.kafka;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;

/**
 * What a client knows of topics. It looks again when that is {@code metadata.max.age.ms} old, when it is about to join,
 * and at once when a topic that it misses appears: Kafka's client asks for those again and again.
 */
final class TopicMetadata {

    private static final Node NODE = new Node(1, "in-process", 9092);

    private final Cluster cluster;
    private final Duration maxAge;

    /** How many partitions each topic had. */
    private Map<String, Integer> sizes = Map.of();

    private long seenAt;

    TopicMetadata(Cluster cluster, Duration maxAge) {
        this.cluster = cluster;
        this.maxAge = maxAge;
        this.seenAt = cluster.host().nanoTime() - maxAge.toNanos();
    }

    void refresh() {
        sizes = cluster.locked(() -> sizesNow(cluster));
        seenAt = cluster.host().nanoTime();
    }

    /** When it is too old, on the host's clock. */
    long expiresAt() {
        return seenAt + maxAge.toNanos();
    }

    /** With the lock: whether to look again. */
    boolean stale(Collection<String> wanted) {
        return cluster.host().nanoTime() - expiresAt() >= 0
                || wanted.stream().anyMatch(topic -> !sizes.containsKey(topic) && cluster.topic(topic) != null);
    }

    Set<String> names() {
        return sizes.keySet();
    }

    /** Of these topics, those that exist and how many partitions they have. */
    Map<String, Integer> sizes(Collection<String> topics) {
        Map<String, Integer> some = new LinkedHashMap<>();
        topics.forEach(topic -> {
            Integer size = sizes.get(topic);
            if (size != null) {
                some.put(topic, size);
            }
        });
        return some;
    }

    /** As assignors want it. */
    org.apache.kafka.common.Cluster forAssignor() {
        List<PartitionInfo> all = new ArrayList<>();
        sizes.forEach((topic, size) -> all.addAll(infos(topic, size)));
        return new org.apache.kafka.common.Cluster("in-process", List.of(NODE), all, Set.of(), Set.of());
    }

    /** With the lock. */
    static Map<String, Integer> sizesNow(Cluster cluster) {
        Map<String, Integer> now = new LinkedHashMap<>();
        for (String name : cluster.topicNames()) {
            List<? extends LogView> partitions = cluster.topic(name);
            if (partitions != null) {
                now.put(name, partitions.size());
            }
        }
        return now;
    }

    static List<PartitionInfo> infos(String topic, int size) {
        List<PartitionInfo> infos = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            infos.add(new PartitionInfo(topic, i, NODE, new Node[] {NODE}, new Node[] {NODE}));
        }
        return infos;
    }
}
