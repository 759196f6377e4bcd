package io.settlestream.internal.poll;

import io.settlestream.spi.TimeSource;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

/**
 * Assigns the partitions that were named, and those of the retry topic with the same numbers, as soon as they exist. One
 * that does not would make every lookup of its consumer wait until its time is up, so it is not assigned before.
 */
final class ManualAssigner implements Assigner {

    private final Consumer<byte[], byte[]> consumer;
    private final ConsumerRebalanceListener listener;
    private final SubscriptionPlan plan;
    private final TimeSource time;
    private final long intervalNanos;

    private final Set<TopicPartition> missing = new LinkedHashSet<>();
    private final Set<TopicPartition> assigned = new LinkedHashSet<>();

    private boolean looked;
    private long nextLook;

    ManualAssigner(
            Consumer<byte[], byte[]> consumer,
            SubscriptionPlan plan,
            Reading.Partitions source,
            ConsumerRebalanceListener listener,
            TimeSource time) {
        this.consumer = consumer;
        this.plan = plan;
        this.listener = listener;
        this.time = time;
        this.intervalNanos = interval(plan.properties()).toNanos();
        missing.addAll(source.of(source.topic()));
        plan.retryTopic().ifPresent(topic -> missing.addAll(source.of(topic)));
    }

    /** As often as the client itself looks for what is new, and not in a spin. */
    private static Duration interval(Map<String, Object> properties) {
        Object age = properties.get(ConsumerConfig.METADATA_MAX_AGE_CONFIG);
        return Duration.ofMillis(age instanceof Number millis ? Math.max(100, millis.longValue()) : 30_000);
    }

    @Override
    public void begin() {
        // With the first look, which asks the cluster.
    }

    @Override
    public boolean looks() {
        return !looked || (!missing.isEmpty() && nextLook - time.nanoTime() <= 0);
    }

    @Override
    public void look() {
        nextLook = time.nanoTime() + intervalNanos;
        Set<TopicPartition> found = new LinkedHashSet<>();
        Set<String> topics = new LinkedHashSet<>();
        missing.forEach(partition -> topics.add(partition.topic()));
        for (String topic : topics) {
            List<PartitionInfo> partitions = consumer.partitionsFor(topic, plan.callTimeout());
            if (partitions != null) {
                partitions.forEach(each -> found.add(new TopicPartition(topic, each.partition())));
            }
        }
        found.retainAll(missing);
        if (!found.isEmpty()) {
            assigned.addAll(found);
            consumer.assign(assigned);
            missing.removeAll(found);
        }
        if (!looked || !found.isEmpty()) {
            looked = true;
            listener.onPartitionsAssigned(found);
        }
    }

    @Override
    public long untilNextLook() {
        return missing.isEmpty() ? Long.MAX_VALUE : Math.max(0, nextLook - time.nanoTime());
    }

    @Override
    public boolean polls() {
        return !assigned.isEmpty();
    }
}
