package io.settlestream.conformance.simulation;

import io.settlestream.kafka.RecordCopy;
import io.settlestream.testing.TestKafka;
import io.settlestream.testing.TestRecord;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Holds what groups have committed to the rules: never behind where it was, never past the end of the log, never past a
 * record that is not done with. Asked again and again; each record is looked at once, when a group has committed past it.
 */
final class PositionRules {

    private final RunPlan plan;
    private final TestKafka kafka;
    private final Records records;
    private final CopyRules copies;
    private final Violations violations;
    private final Trace trace;
    private final Map<String, Long> committed = new HashMap<>();

    PositionRules(
            RunPlan plan, TestKafka kafka, Records records, CopyRules copies, Violations violations, Trace trace) {
        this.plan = plan;
        this.kafka = kafka;
        this.records = records;
        this.copies = copies;
        this.violations = violations;
        this.trace = trace;
    }

    /** All partitions, now. */
    void check() {
        copies.check();
        for (SubscriptionPlan subscription : plan.subscriptions()) {
            Map<TopicPartition, Long> offsets =
                    kafka.group(subscription.group()).committed();
            for (String topic : subscription.read()) {
                for (int i = 0; i < kafka.partitions(topic); i++) {
                    TopicPartition partition = new TopicPartition(topic, i);
                    Long offset = offsets.get(partition);
                    if (offset != null) {
                        check(subscription, partition, offset);
                    }
                }
            }
        }
        records.look();
    }

    private void check(SubscriptionPlan subscription, TopicPartition partition, long now) {
        String name = subscription.name() + " " + partition;
        long before = committed.getOrDefault(name, 0L);
        if (now == before) {
            return;
        }
        if (now < before && !subscription.tracked() && failed(subscription, partition, now)) {
            // Rules 2.1 and 2.3: a record that was handed over is not committed if it fails the service, or before it
            // is
            // among the dead letters, also where it was committed while its handler ran.
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
        String id = CopyRules.id(record);
        if (!subscription.tracked()) {
            // A tombstone is met in the codec, where it has no name.
            return (id == null || records.wasMet(subscription, id)) && !lost(subscription, record, partition, id);
        }
        return records.wasSettled(subscription, partition, record.offset())
                || id != null && records.wasDroppedUndecoded(subscription, id)
                || replies.contains(SimulatedService.where(partition, record.offset()))
                || copied(subscription, record);
    }

    /** Rule 2.1: what is given up before the position has passed it is passed when it is among the dead letters. */
    private boolean lost(
            SubscriptionPlan subscription, TestRecord record, TopicPartition partition, @Nullable String id) {
        Original original = Original.of(record);
        return records.wasGivenUpEarlier(subscription, original, id)
                && !records.wasSettled(subscription, partition, record.offset())
                && !copies.isDeadLetter(subscription, original);
    }

    /** Whether a record, or a copy of one, lives on as another copy, or is none of this subscription's. */
    private boolean copied(SubscriptionPlan subscription, TestRecord record) {
        boolean isCopy = !record.topic().equals(subscription.topic());
        RecordCopy copy = isCopy ? CopyRules.copyOf(record).orElse(null) : null;
        if (copy != null && !copy.group().equals(Optional.of(subscription.group()))) {
            return true;
        }
        Original original = copy == null ? Original.of(record) : Original.of(copy);
        return copies.isDeadLetter(subscription, original)
                || copies.isPostponed(subscription, original, copy == null ? 0 : copy.attempts())
                || copies.isExhausted(subscription, record, original);
    }

    private boolean failed(SubscriptionPlan subscription, TopicPartition partition, long offset) {
        return records.hasFailed(subscription, partition, offset)
                || kafka.topic(partition.topic()).records(partition.partition()).stream()
                        .filter(record -> record.offset() == offset)
                        .anyMatch(record -> failed(subscription, record));
    }

    private boolean failed(SubscriptionPlan subscription, TestRecord record) {
        String id = CopyRules.id(record);
        return records.timesGivenUp(subscription, Original.of(record), id) > 0
                || id != null && records.failedUndecoded(subscription, id);
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
            subscription.read().forEach(topic -> atRest(subscription, topic));
        }
    }

    private void atRest(SubscriptionPlan subscription, String topic) {
        for (int i = 0; i < kafka.partitions(topic); i++) {
            OptionalLong now = kafka.group(subscription.group()).committed(topic, i);
            long end = kafka.endOffset(topic, i);
            if (now.isPresent() ? now.getAsLong() != end : end != kafka.startOffset(topic, i)) {
                violations.add(
                        "3.2 up to it",
                        subscription.name() + " " + topic + "-" + i + " is committed up to " + now
                                + " at rest, but ends at " + end);
            }
        }
    }
}
