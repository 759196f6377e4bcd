package io.settlestream.conformance.simulation;

import io.settlestream.Health;
import java.util.HashMap;
import java.util.Map;

/**
 * Holds what a member has open of a partition to its share of the limit and one poll. What was fetched while it owned fewer
 * partitions was within a larger share, and may stay open.
 */
final class InFlightRules {

    /** What was seen of one subscription in one life. */
    private record Seen(long rebalances, Map<String, Long> open) {}

    private final Violations violations;
    private final Map<String, Seen> seen = new HashMap<>();

    InFlightRules(Violations violations) {
        this.violations = violations;
    }

    void check(Life life, SubscriptionPlan subscription, Health.Subscription now) {
        String name = life + " " + subscription.name();
        Seen before = seen.get(name);
        boolean same = before != null && before.rebalances == now.counts().rebalances();
        // Where partitions came and went meanwhile, it may have been the only one for a moment.
        long share = subscription.inFlightBound(same ? now.partitions().size() : 1);
        Map<String, Long> open = new HashMap<>();
        for (Health.Partition partition : now.partitions()) {
            String where = partition.topic() + "-" + partition.partition();
            long most = Math.max(share, same ? before.open.getOrDefault(where, 0L) : 0);
            if (partition.openRecords() > most) {
                violations.add(
                        "5.2 in flight",
                        name + " has " + partition.openRecords() + " open records of " + where + ", more than " + most);
            }
            open.put(where, partition.openRecords());
        }
        seen.put(name, new Seen(now.counts().rebalances(), open));
    }
}
