package io.settlestream.conformance.simulation;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** What handlers and policies have done with each record, in whatever life: what a subscription may have committed past. */
final class Records {

    private final Set<String> met = new HashSet<>();
    private final Set<String> settled = new HashSet<>();
    private final Set<String> failed = new HashSet<>();

    /** How often an attempt at a record has begun, and how often one ended because it could not be decoded. */
    private final Map<String, Integer> begun = new HashMap<>();

    private final Map<String, Integer> undecoded = new HashMap<>();

    /** How often a record was to be given up or to wait on a retry topic, by a handler's or a policy's word. */
    private final Map<String, Integer> givenUp = new HashMap<>();

    private final Map<String, Integer> postponed = new HashMap<>();

    /** Those to be given up by the last word on them, and those of them when somebody looked last. */
    private final Set<String> lastGivenUp = new HashSet<>();

    private final Set<String> givenUpEarlier = new HashSet<>();

    private static String of(SubscriptionPlan subscription, TopicPartition partition, long offset) {
        return subscription.name() + " " + partition + "@" + offset;
    }

    private static String of(SubscriptionPlan subscription, Original original) {
        return subscription.name() + " " + original;
    }

    private static String of(SubscriptionPlan subscription, String id) {
        return subscription.name() + " " + id;
    }

    /** Its value has been looked at: it is in the hands of a handler or of the decode policy. */
    synchronized void met(SubscriptionPlan subscription, String id) {
        met.add(of(subscription, id));
        anew(of(subscription, id));
    }

    synchronized boolean wasMet(SubscriptionPlan subscription, String id) {
        return met.contains(of(subscription, id));
    }

    /** The decode policy decides. */
    synchronized void undecodable(SubscriptionPlan subscription, String id) {
        undecoded.merge(of(subscription, id), 1, Integer::sum);
        switch (subscription.onDecodeFailure()) {
            case DROP -> settled.add(of(subscription, id));
            case FAIL_FAST -> failed.add(of(subscription, id));
            case RETRY -> {}
            case DEAD_LETTER -> givenUp(of(subscription, id));
        }
    }

    /** It stops the service. */
    synchronized void failed(SubscriptionPlan subscription, TopicPartition partition, long offset) {
        failed.add(of(subscription, partition, offset));
    }

    synchronized boolean hasFailed(SubscriptionPlan subscription, TopicPartition partition, long offset) {
        return failed.contains(of(subscription, partition, offset));
    }

    synchronized boolean failedUndecoded(SubscriptionPlan subscription, String id) {
        return failed.contains(of(subscription, id));
    }

    /** A handler, or the policy for what it threw, has done with it, and somebody waited for that. */
    synchronized void settled(SubscriptionPlan subscription, TopicPartition partition, long offset) {
        settled.add(of(subscription, partition, offset));
    }

    synchronized boolean wasSettled(SubscriptionPlan subscription, TopicPartition partition, long offset) {
        return settled.contains(of(subscription, partition, offset));
    }

    synchronized boolean wasDroppedUndecoded(SubscriptionPlan subscription, String id) {
        return settled.contains(of(subscription, id));
    }

    /** An attempt begins. */
    synchronized void begun(SubscriptionPlan subscription, Original original) {
        begun.merge(of(subscription, original), 1, Integer::sum);
        anew(of(subscription, original));
    }

    /** How many attempts at it have begun, in whatever life. */
    synchronized int begunAttempts(SubscriptionPlan subscription, Original original) {
        return begun.getOrDefault(of(subscription, original), 0);
    }

    /** How many of its attempts ended in the codec. */
    synchronized int undecodedAttempts(SubscriptionPlan subscription, String id) {
        return undecoded.getOrDefault(of(subscription, id), 0);
    }

    /** It is to go to the dead letters. */
    synchronized void givenUp(SubscriptionPlan subscription, Original original) {
        givenUp(of(subscription, original));
    }

    private void givenUp(String record) {
        givenUp.merge(record, 1, Integer::sum);
        lastGivenUp.add(record);
    }

    /** Whatever was said of it before, somebody has it in hand again. */
    private void anew(String record) {
        lastGivenUp.remove(record);
        givenUpEarlier.remove(record);
    }

    /** How often it was to go there. */
    synchronized int timesGivenUp(SubscriptionPlan subscription, Original original, @Nullable String id) {
        return givenUp.getOrDefault(of(subscription, original), 0)
                + (id == null ? 0 : givenUp.getOrDefault(of(subscription, id), 0));
    }

    /** It is to wait on the retry topic. */
    synchronized void postponed(SubscriptionPlan subscription, Original original) {
        postponed.merge(of(subscription, original), 1, Integer::sum);
    }

    /** How often it was to wait there. */
    synchronized int timesPostponed(SubscriptionPlan subscription, Original original) {
        return postponed.getOrDefault(of(subscription, original), 0);
    }

    /** Remembers what was to be given up until now. */
    synchronized void look() {
        givenUpEarlier.clear();
        givenUpEarlier.addAll(lastGivenUp);
    }

    /** Whether it was to be given up when somebody looked last. */
    synchronized boolean wasGivenUpEarlier(SubscriptionPlan subscription, Original original, @Nullable String id) {
        return givenUpEarlier.contains(of(subscription, original))
                || id != null && givenUpEarlier.contains(of(subscription, id));
    }
}
