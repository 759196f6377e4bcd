package io.settlestream.conformance.simulation;

import io.settlestream.Context;
import io.settlestream.DecodePolicy;
import io.settlestream.kafka.RecordCopy;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;

/**
 * Holds attempts to what can be told of a record over all lives: never more of them than the cap allows, never a number that
 * the record has not earned, no copy of somebody else's, and none before it is due.
 *
 * <p>What a life is about to hand out is noted first, so that its death can be counted; a life that dies in between, or
 * while it gives a record up, leaves one attempt too many. So each life that ended may have counted one, of a record that
 * it has not begun itself.
 */
final class AttemptRules {

    /** How often at most the codec refuses a record that it takes later. */
    private static final int UNDECODED = 3;

    private final Records records;
    private final InstantSource clock;
    private final Violations violations;

    /** What each life has begun. */
    private final Map<String, Set<Original>> begun = new HashMap<>();

    /** What lives that have ended, or were thrown out of the group, had begun until then. */
    private final Map<String, List<Set<Original>>> ended = new HashMap<>();

    AttemptRules(Records records, InstantSource clock, Violations violations) {
        this.records = records;
        this.clock = clock;
        this.violations = violations;
    }

    /** A life ends, or loses its partitions. */
    synchronized void ended(Life life, SubscriptionPlan subscription) {
        ended.computeIfAbsent(subscription.name(), name -> new ArrayList<>())
                .add(Set.copyOf(begun.getOrDefault(life + " " + subscription.name(), Set.of())));
    }

    /** How many attempts at a record may have been counted that nobody has made. */
    synchronized int unmade(SubscriptionPlan subscription, Original original) {
        return (int) ended.getOrDefault(subscription.name(), List.of()).stream()
                .filter(life -> !life.contains(original))
                .count();
    }

    /** A handler is called with this; on its thread. */
    synchronized void enter(Life life, SubscriptionPlan subscription, Context<?> context) {
        if (context.cancelled()) {
            return;
        }
        Original original = Original.of(context);
        String where = original + " attempt " + context.attempt() + " of " + subscription.name() + " in " + life;
        int before = records.begunAttempts(subscription, original)
                + (subscription.onDecodeFailure() == DecodePolicy.Fixed.RETRY ? UNDECODED : 0)
                + unmade(subscription, original);
        begun.computeIfAbsent(life + " " + subscription.name(), name -> new HashSet<>())
                .add(original);
        records.begun(subscription, original);
        if (context.attempt() > before + 1) {
            violations.add("7.4 never early", where + " although only " + before + " attempts were made before");
        }
        int most = subscription.recovery().maxAttempts().orElse(Integer.MAX_VALUE);
        if (context.attempt() > most) {
            violations.add("7.1 cap", where + ", more than " + most);
        }
        context.origin().ifPresent(copy -> copy(subscription, context, copy, where));
    }

    private void copy(SubscriptionPlan subscription, Context<?> context, RecordCopy copy, String where) {
        TopicPartition partition = new TopicPartition(context.topic(), context.partition());
        if (!copy.group().equals(Optional.of(subscription.group()))) {
            violations.add("3.5 own copies", where + " is a copy of group " + copy.group() + " in " + partition);
        }
        if (copy.due().isEmpty() || clock.instant().isBefore(copy.due().get())) {
            violations.add("3.5 delays", where + " comes before its copy is due, " + copy.due());
        }
        if (context.attempt() <= copy.attempts()) {
            violations.add("7.4 counts", where + " although its copy says " + copy.attempts() + " attempts");
        }
    }
}
