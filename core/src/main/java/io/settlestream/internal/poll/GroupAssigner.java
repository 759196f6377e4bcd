package io.settlestream.internal.poll;

import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;

/** A member of a group is told its partitions by the group, also those that appear later. */
final class GroupAssigner implements Assigner {

    private final Consumer<byte[], byte[]> consumer;
    private final SubscriptionPlan plan;
    private final ConsumerRebalanceListener listener;

    GroupAssigner(Consumer<byte[], byte[]> consumer, SubscriptionPlan plan, ConsumerRebalanceListener listener) {
        this.consumer = consumer;
        this.plan = plan;
        this.listener = listener;
    }

    @Override
    public void begin() {
        switch (plan.source()) {
            case Reading.Topics topics ->
                consumer.subscribe(plan.retryTopic().map(topics::and).orElse(topics.topics()), listener);
            case Reading.Matching matching ->
                consumer.subscribe(plan.retryTopic().map(matching::and).orElse(matching.pattern()), listener);
            case Reading.Partitions partitions ->
                throw new IllegalArgumentException(partitions + " are not read as a member of a group");
        }
    }

    @Override
    public boolean looks() {
        return false;
    }

    @Override
    public void look() {}

    @Override
    public long untilNextLook() {
        return Long.MAX_VALUE;
    }

    @Override
    public boolean polls() {
        return true;
    }
}
