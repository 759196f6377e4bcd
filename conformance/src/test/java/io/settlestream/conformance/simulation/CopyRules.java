package io.settlestream.conformance.simulation;

import io.settlestream.kafka.RecordCopy;
import io.settlestream.testing.TestKafka;
import io.settlestream.testing.TestRecord;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * Holds dead letters and retry copies to being faithful, to having a reason, and to being as many as were asked for. Looks at
 * each once, and remembers it: other rules ask whether a record's copy is in the log.
 */
final class CopyRules {

    private final RunPlan plan;
    private final TestKafka kafka;
    private final Records records;
    private final AttemptRules attempts;
    private final Violations violations;
    private final Trace trace;

    /** The input as it was written, also what was trimmed since. */
    private final Map<Original, TestRecord> originals = new HashMap<>();

    private final Map<String, Long> read = new HashMap<>();
    private final Map<String, Integer> deadLetters = new HashMap<>();
    /** The attempts that each retry copy of a record tells of. */
    private final Map<String, List<Integer>> postponed = new HashMap<>();

    /** Topics whose writes may be repeated although they have succeeded. */
    private final Set<String> uncertain = new HashSet<>();

    /** Whether attempts may have ended without anybody to see it. */
    private boolean unseen;

    CopyRules(
            RunPlan plan, TestKafka kafka, Records records, AttemptRules attempts, Violations violations, Trace trace) {
        this.plan = plan;
        this.kafka = kafka;
        this.records = records;
        this.attempts = attempts;
        this.violations = violations;
        this.trace = trace;
    }

    /** Answers of this topic may be lost from now on. */
    void uncertain(String topic) {
        uncertain.add(topic);
    }

    /** Something of a member was lost, and attempts with it that may have been the last. */
    void unseen() {
        unseen = true;
    }

    /** What has been written since. */
    void check() {
        if (!plan.recovery()) {
            return;
        }
        for (SubscriptionPlan subscription : plan.subscriptions()) {
            // All of them each time: transactions let records be seen later than others behind them.
            kafka.topic(subscription.topic())
                    .records()
                    .forEach(record -> originals.putIfAbsent(Original.of(record), record));
        }
        // Behind that, as a retry topic may have copies of several groups.
        for (SubscriptionPlan subscription : plan.subscriptions()) {
            subscription.recovery().topics().forEach(topic -> unread(topic).forEach(this::copy));
        }
    }

    private List<TestRecord> unread(String topic) {
        List<TestRecord> unread = new ArrayList<>();
        for (int i = 0; i < kafka.partitions(topic); i++) {
            String partition = topic + "-" + i;
            long from = read.getOrDefault(partition, 0L);
            for (TestRecord record : kafka.topic(topic).records(i)) {
                if (record.offset() >= from) {
                    unread.add(record);
                    read.put(partition, record.offset() + 1);
                }
            }
        }
        return unread;
    }

    static Optional<RecordCopy> copyOf(TestRecord record) {
        return RecordCopy.of(
                new ProducerRecord<>(record.topic(), null, record.key(), record.value(), record.headers()).headers());
    }

    static @Nullable String id(TestRecord record) {
        return record.value() == null ? null : new String(record.value(), StandardCharsets.UTF_8);
    }

    private void copy(TestRecord record) {
        RecordCopy copy = copyOf(record).orElse(null);
        SubscriptionPlan subscription = copy == null
                ? null
                : plan.subscriptions().stream()
                        .filter(each -> copy.group().equals(Optional.of(each.group())))
                        .findFirst()
                        .orElse(null);
        if (copy == null
                || subscription == null
                || !subscription.recovery().topics().contains(record.topic())
                || !subscription.topic().equals(copy.topic())) {
            violations.add("7.3 faithful", record + " does not say where it comes from");
            return;
        }
        Original original = Original.of(copy);
        trace.add("copy: " + record.topic() + "-" + record.partition() + "@" + record.offset() + " of " + original
                + " after " + copy.attempts() + " attempts"
                + copy.due().map(due -> ", due " + due).orElse(""));
        faithful(record, copy, original);
        int made = attempts(subscription, record, original);
        if (copy.attempts() < 1 || copy.attempts() > made) {
            violations.add("7.4 counts", record + " tells of " + copy.attempts() + " attempts, but there were " + made);
        }
        if (subscription.recovery().deadLetterTopic().equals(Optional.of(record.topic()))) {
            deadLetter(subscription, record, original, made);
        } else {
            postponed(subscription, record, copy, original);
        }
    }

    /** How many attempts were made, or may have been counted. */
    private int attempts(SubscriptionPlan subscription, TestRecord record, Original original) {
        String id = id(record);
        return records.begunAttempts(subscription, original)
                + attempts.unmade(subscription, original)
                + (id == null ? 0 : records.undecodedAttempts(subscription, id));
    }

    private void faithful(TestRecord record, RecordCopy copy, Original original) {
        TestRecord of = originals.get(original);
        if (of == null) {
            violations.add("7.3 faithful", record + " is a copy of " + original + ", which never was");
            return;
        }
        boolean same = Arrays.equals(record.key(), of.key())
                && Arrays.equals(record.value(), of.value())
                && headers(record).equals(headers(of))
                && copy.timestamp().equals(of.timestamp())
                && copy.copiedAt().equals(Optional.of(record.timestamp()));
        if (!same) {
            violations.add("7.3 faithful", record + " is not as its original " + of);
        }
        long added = record.headers().stream()
                .filter(header -> RecordCopy.isAdded(header.key()))
                .count();
        long names = record.headers().stream()
                .map(Header::key)
                .filter(RecordCopy::isAdded)
                .distinct()
                .count();
        if (added != names) {
            violations.add("7.3 faithful", record + " has headers of an earlier copy");
        }
    }

    /** Those of the record itself, in order. */
    private static List<String> headers(TestRecord record) {
        return record.headers().stream()
                .filter(header -> !RecordCopy.isAdded(header.key()))
                .map(header -> header.key() + "=" + Arrays.toString(header.value()))
                .toList();
    }

    private void deadLetter(SubscriptionPlan subscription, TestRecord record, Original original, int made) {
        int copies = deadLetters.merge(subscription.name() + " " + original, 1, Integer::sum);
        int asked = records.timesGivenUp(subscription, original, id(record));
        boolean capped = subscription.recovery().isLast(made);
        if (asked == 0 && !capped) {
            violations.add("7.4 never early", record + " was given up after " + made + " attempts");
        }
        // At the cap a failed reply may be the last attempt, which no handler sees; so may one in the codec.
        boolean seen = !capped || asked > 0 && !unseen && !subscription.kind().replies();
        if (seen && copies > asked && !uncertain.contains(record.topic()) && asked > 0) {
            violations.add(
                    "7.2 once", original + " has " + copies + " dead letters, but was given up " + asked + " times");
        }
    }

    private void postponed(SubscriptionPlan subscription, TestRecord record, RecordCopy copy, Original original) {
        List<Integer> copies =
                postponed.computeIfAbsent(subscription.name() + " " + original, name -> new ArrayList<>());
        copies.add(copy.attempts());
        int asked = records.timesPostponed(subscription, original);
        if (copies.size() > asked && !uncertain.contains(record.topic())) {
            violations.add(
                    "7.2 once",
                    original + " has " + copies.size() + " retry copies, but was to wait " + asked + " times");
        }
        if (subscription.recovery().isLast(copy.attempts())) {
            violations.add("7.1 cap", record + " has had its last attempt, but is to have another");
        }
        if (copy.due().isEmpty() || copy.due().get().isBefore(record.timestamp())) {
            violations.add("3.5 delays", record + " is due " + copy.due());
        }
    }

    /** Whether a record was given up and is among the dead letters. */
    boolean isDeadLetter(SubscriptionPlan subscription, Original original) {
        return deadLetters.containsKey(subscription.name() + " " + original);
    }

    /** Whether a record waits on the retry topic, or has waited there, after more than so many attempts. */
    boolean isPostponed(SubscriptionPlan subscription, Original original, int attempts) {
        return postponed.getOrDefault(subscription.name() + " " + original, List.of()).stream()
                .anyMatch(each -> each > attempts);
    }

    /** Whether a record has met the cap of a subscription without dead letters, which drops it. */
    boolean isExhausted(SubscriptionPlan subscription, TestRecord record, Original original) {
        return subscription.recovery().deadLetterTopic().isEmpty()
                && subscription.recovery().isLast(attempts(subscription, record, original));
    }
}
