package io.settlestream.conformance.simulation;

import io.settlestream.Health;
import io.settlestream.testing.TestKafka;
import io.settlestream.testing.TestRecord;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.common.TopicPartition;

/**
 * Holds a clean stop to repeating nothing: the record that comes next is none that the stopped life has done with. And to
 * waiting for nothing where all that is open waits for the end of a delay.
 */
final class StopRules {

    /** Enough for the last commit and for leaving groups. */
    private static final Duration NO_TIME = Duration.ofSeconds(1);

    private final RunPlan plan;
    private final TestKafka kafka;
    private final DeliveryRules deliveries;
    private final Violations violations;

    StopRules(RunPlan plan, TestKafka kafka, DeliveryRules deliveries, Violations violations) {
        this.plan = plan;
        this.kafka = kafka;
        this.deliveries = deliveries;
        this.violations = violations;
    }

    /**
     * What a member owned.
     *
     * @param onlyDelays whether all that was open waited for the end of a delay
     */
    record Before(List<Owned> owned, boolean onlyDelays, Instant at, long deliveries) {}

    private record Owned(SubscriptionPlan subscription, TopicPartition partition, long rebalances) {}

    Before before(Member member) {
        List<Owned> owned = new ArrayList<>();
        for (Health.Subscription each : member.app().health().subscriptions()) {
            SubscriptionPlan subscription = plan.subscription(each.name());
            for (Health.Partition partition : each.partitions()) {
                owned.add(new Owned(
                        subscription,
                        new TopicPartition(partition.topic(), partition.partition()),
                        each.counts().rebalances()));
            }
        }
        boolean onlyDelays = member.app().health().subscriptions().stream()
                .allMatch(each -> each.stuckHandlers().isEmpty()
                        && each.partitions().stream()
                                .allMatch(partition -> partition.openRecords() == partition.delayedRecords()));
        return new Before(owned, onlyDelays, kafka.clock().now(), deliveries.count());
    }

    /** However it has ended. */
    void inTime(Member member, Before before) {
        Duration took = Duration.between(before.at, kafka.clock().now());
        if (before.onlyDelays && before.deliveries == deliveries.count() && took.compareTo(NO_TIME) > 0) {
            violations.add("10.3 waits for nothing", member + " took " + took + " to stop, and nothing was in hand");
        }
    }

    /** A clean one has ended. */
    void after(Member member, Before before) {
        for (Owned owned : before.owned) {
            TopicPartition partition = owned.partition;
            long committed = kafka.group(owned.subscription.group())
                    .committed(partition.topic(), partition.partition())
                    .orElse(0);
            Optional<TestRecord> next = kafka.topic(partition.topic()).records(partition.partition()).stream()
                    .filter(record -> record.offset() >= committed)
                    .findFirst();
            if (next.isPresent()
                    && deliveries.doneHere(
                            member.current(),
                            owned.subscription,
                            partition,
                            next.get().offset(),
                            owned.rebalances)) {
                violations.add(
                        "10.3 a clean stop repeats nothing",
                        member + " had done with " + next.get() + ", but stopped with " + committed + " committed");
            }
        }
    }
}
