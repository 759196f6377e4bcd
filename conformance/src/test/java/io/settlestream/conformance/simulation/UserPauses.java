package io.settlestream.conformance.simulation;

import io.settlestream.Context;
import io.settlestream.ControlException;
import io.settlestream.testing.TestKafka;
import io.settlestream.testing.TestSubscription;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;

/** Pauses and resumes subscriptions and partitions as a user does, and holds them to beginning nothing meanwhile. */
final class UserPauses {

    /** Of a whole subscription, in the place of a partition. */
    static final String ALL = "all of it";

    private final TestKafka kafka;
    private final Violations violations;
    private final Trace trace;

    /** What is paused, by life and subscription. */
    private final Map<String, Set<String>> paused = new HashMap<>();

    UserPauses(TestKafka kafka, Violations violations, Trace trace) {
        this.kafka = kafka;
        this.violations = violations;
        this.trace = trace;
    }

    private Set<String> paused(Life life, SubscriptionPlan subscription) {
        return paused.computeIfAbsent(life + " " + subscription.name(), name -> new HashSet<>());
    }

    /** A handler is called with this; on its thread. */
    synchronized void enter(Life life, SubscriptionPlan subscription, Context<?> context) {
        String partition = context.topic() + "-" + context.partition();
        Set<String> now = paused(life, subscription);
        if (!context.cancelled() && (now.contains(ALL) || now.contains(partition))) {
            violations.add(
                    "9.5 paused",
                    partition + "@" + context.offset() + " of " + subscription.name() + " in " + life
                            + " is begun, although " + now + " is paused");
        }
    }

    /** Pauses something of a member, or resumes it. */
    void change(SplittableRandom random, Member member, SubscriptionPlan subscription) {
        if (!paused(member.current(), subscription).isEmpty() && random.nextInt(3) > 0) {
            resume(member, subscription);
            return;
        }
        String topic =
                subscription.read().get(random.nextInt(subscription.read().size()));
        int partition = random.nextInt(kafka.partitions(topic));
        boolean all = random.nextInt(3) == 0;
        String what = all ? ALL : topic + "-" + partition;
        ask(member, subscription, what, "paused", control -> {
            if (all) {
                control.pause();
            } else {
                control.pause(topic, partition);
            }
            add(member.current(), subscription, what);
        });
    }

    /** From now on this is paused. */
    synchronized void add(Life life, SubscriptionPlan subscription, String what) {
        paused(life, subscription).add(what);
    }

    private synchronized Set<String> clear(Life life, SubscriptionPlan subscription) {
        Set<String> were = Set.copyOf(paused(life, subscription));
        paused(life, subscription).clear();
        return were;
    }

    /** Lets all of a subscription go on. */
    void resume(Member member, SubscriptionPlan subscription) {
        for (String what :
                clear(member.current(), subscription).stream().sorted().toList()) {
            ask(member, subscription, what, "resumed", control -> {
                if (what.equals(ALL)) {
                    control.resume();
                } else {
                    int dash = what.lastIndexOf('-');
                    control.resume(what.substring(0, dash), Integer.parseInt(what.substring(dash + 1)));
                }
            });
        }
    }

    /** What a control does. */
    private interface Request {
        void to(TestSubscription control);
    }

    private void ask(Member member, SubscriptionPlan subscription, String what, String done, Request request) {
        String where = member + " " + subscription.name() + ": " + what + " is ";
        try {
            request.to(member.app().subscription(subscription.name()));
            trace.add(where + done);
        } catch (ControlException refused) {
            trace.add(where + "not " + done + ": " + refused.getMessage());
        }
    }
}
