package io.settlestream.conformance.simulation;

import io.settlestream.testing.TestKafka;
import io.settlestream.testing.TestRecord;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;

/**
 * Holds what groups have committed to the rules: never behind where it was, never past the end of the log, never past a
 * record that is not done with. Asked again and again; each record is looked at once, when a group has committed past it.
 */
final class PositionRules {

    private final RunPlan plan;
    private final TestKafka kafka;
    private final Records records;
    private final Violations violations;
    private final Trace trace;
    private final Map<String, Long> committed = new HashMap<>();

    PositionRules(RunPlan plan, TestKafka kafka, Records records, Violations violations, Trace trace) {
        this.plan = plan;
        this.kafka = kafka;
        this.records = records;
        this.violations = violations;
        this.trace = trace;
    }

    /** All partitions, now. */
    void check() {
        for (SubscriptionPlan subscription : plan.subscriptions()) {
            Map<TopicPartition, Long> offsets =
                    kafka.group(subscription.group()).committed();
            for (int i = 0; i < kafka.partitions(subscription.topic()); i++) {
                TopicPartition partition = new TopicPartition(subscription.topic(), i);
                Long offset = offsets.get(partition);
                if (offset != null) {
                    check(subscription, partition, offset);
                }
            }
        }
    }

    private void check(SubscriptionPlan subscription, TopicPartition partition, long now) {
        String name = subscription.name() + " " + partition;
        long before = committed.getOrDefault(name, 0L);
        if (now == before) {
            return;
        }
        if (now < before && !subscription.tracked() && failed(subscription, partition, now)) {
            // Rule 2.3: a record that was handed over and failed the service is not committed when the service stops.
            committed.put(name, now);
            return;
        }
        if (now < before) {
            violations.add("3.3 never back", name + " was committed up to " + before + " and is now up to " + now);
            return;
        }
        long end = kafka.endOffset(partition.topic(), partition.partition());
        trace.add("committed: " + name + " up to " + now + " of " + end);
        if (now > end) {
            violations.add("3.1 log end", name + " is committed up to " + now + ", past its end " + end);
        }
        Set<String> replies = replies(subscription);
        for (TestRecord record : kafka.topic(partition.topic()).records(partition.partition())) {
            if (record.offset() >= before && record.offset() < now && !done(subscription, record, replies)) {
                violations.add(
                        subscription.tracked() ? "3.1 never past an open record" : "2.1 never past what nobody has met",
                        name + " is committed up to " + now + ", past " + record);
            }
        }
        committed.put(name, now);
    }

    private boolean done(SubscriptionPlan subscription, TestRecord record, Set<String> replies) {
        TopicPartition partition = new TopicPartition(record.topic(), record.partition());
        String id = record.value() == null ? null : new String(record.value(), StandardCharsets.UTF_8);
        if (!subscription.tracked()) {
            // A tombstone is met in the codec, where it has no name.
            return id == null || records.wasMet(subscription, id);
        }
        return records.wasSettled(subscription, partition, record.offset())
                || id != null && records.wasDroppedUndecoded(subscription, id)
                || replies.contains(SimulatedService.where(partition, record.offset()));
    }

    private boolean failed(SubscriptionPlan subscription, TopicPartition partition, long offset) {
        return records.hasFailed(subscription, partition, offset)
                || kafka.topic(partition.topic()).records(partition.partition()).stream()
                        .filter(record -> record.offset() == offset && record.value() != null)
                        .anyMatch(record -> records.failedUndecoded(
                                subscription, new String(record.value(), StandardCharsets.UTF_8)));
    }

    private Set<String> replies(SubscriptionPlan subscription) {
        Set<String> replies = new HashSet<>();
        if (subscription.kind().replies()) {
            kafka.topic(subscription.replyTopic()).records().forEach(record -> replies.add(record.value(String.class)));
        }
        return replies;
    }

    /** At rest: all that can be read is committed, and so (see above) done with. */
    void atRest() {
        check();
        for (SubscriptionPlan subscription : plan.subscriptions()) {
            for (int i = 0; i < kafka.partitions(subscription.topic()); i++) {
                OptionalLong now = kafka.group(subscription.group()).committed(subscription.topic(), i);
                long end = kafka.endOffset(subscription.topic(), i);
                if (now.isPresent() ? now.getAsLong() != end : end != kafka.startOffset(subscription.topic(), i)) {
                    violations.add(
                            "3.2 up to it",
                            subscription.name() + " " + subscription.topic() + "-" + i + " is committed up to " + now
                                    + " at rest, but ends at " + end);
                }
            }
        }
    }
}
