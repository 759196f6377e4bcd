package io.settlestream.conformance.simulation;

import java.util.HashSet;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;

/** What handlers and policies have done with each record, in whatever life: what a subscription may have committed past. */
final class Records {

    private final Set<String> met = new HashSet<>();
    private final Set<String> settled = new HashSet<>();
    private final Set<String> failed = new HashSet<>();

    private static String of(SubscriptionPlan subscription, TopicPartition partition, long offset) {
        return subscription.name() + " " + partition + "@" + offset;
    }

    private static String of(SubscriptionPlan subscription, String id) {
        return subscription.name() + " " + id;
    }

    /** Its value has been looked at: it is in the hands of a handler or of the decode policy. */
    synchronized void met(SubscriptionPlan subscription, String id) {
        met.add(of(subscription, id));
    }

    synchronized boolean wasMet(SubscriptionPlan subscription, String id) {
        return met.contains(of(subscription, id));
    }

    /** The decode policy decides. */
    synchronized void undecodable(SubscriptionPlan subscription, String id) {
        switch (subscription.onDecodeFailure()) {
            case DROP -> settled.add(of(subscription, id));
            case FAIL_FAST -> failed.add(of(subscription, id));
            case RETRY -> {}
            case DEAD_LETTER -> throw new AssertionError("no plan has this");
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
}
