package io.settlestream.conformance.simulation;

import io.settlestream.Context;
import io.settlestream.Health;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.kafka.common.TopicPartition;

/**
 * Holds the deliveries of all handlers to the rules about one record at a time, attempts, order and ownership.
 *
 * <p>Handlers do not see assignments come and go, so each delivery carries how many rebalances its member had seen. What
 * was delivered before the last one may have been given up and come again, so only the rule of one at a time is held
 * against it.
 */
final class DeliveryRules {

    /** How a delivery left its handler. */
    enum End {
        /** Acked, dropped, or dropped by policy. */
        SETTLED,
        /** It comes again: by its own wish or by policy. */
        AGAIN,
        /** It comes again after a delay, and its lane goes on meanwhile. */
        DELAYED,
        /** A copy of it is on the way to the dead letters, and settles it. */
        GIVEN_UP,
        /** A copy of it is on the way to the retry topic, and settles it. */
        POSTPONED,
        /** Its reply is on the way. */
        REPLYING,
        /** The service stops because of it. */
        FAILED
    }

    private static final class Delivery {
        final Context<?> context;
        final TopicPartition partition;
        final long offset;
        final int attempt;
        final long rebalances;
        final String lane;
        boolean running = true;
        boolean open = true;
        boolean replied;
        boolean copying;
        boolean again;
        boolean late;
        Instant due = Instant.MIN;

        Delivery(Context<?> context, long rebalances, String lane) {
            this.context = context;
            this.partition = new TopicPartition(context.topic(), context.partition());
            this.offset = context.offset();
            this.attempt = context.attempt();
            this.rebalances = rebalances;
            this.lane = lane;
        }

        @Override
        public String toString() {
            return partition + "@" + offset + " attempt " + attempt;
        }
    }

    private final Violations violations;
    private final InstantSource clock;
    private final Map<String, TreeMap<Long, Delivery>> books = new HashMap<>();
    /** Where each lane has been, in the present assignments. */
    private final Map<String, Delivery> newest = new HashMap<>();

    /** How many calls came although they were given up, by life, subscription and rebalance. */
    private final Map<String, Integer> late = new HashMap<>();

    /** What each handler's thread has seen given up, and in which rebalance. */
    private final Map<String, Long> seenGivenUp = new HashMap<>();

    private long count;

    DeliveryRules(Violations violations, InstantSource clock) {
        this.violations = violations;
        this.clock = clock;
    }

    /** A handler is called with these; on its thread. */
    synchronized void enter(Life life, SubscriptionPlan subscription, List<? extends Context<?>> contexts) {
        Optional<Health.Subscription> health = life.health(subscription.name());
        long rebalances = health.map(each -> each.counts().rebalances()).orElse(-1L);
        givenUp(life, subscription, contexts, rebalances);
        List<Delivery> call = new ArrayList<>();
        for (Context<?> context : contexts) {
            Delivery delivery = new Delivery(context, rebalances, lane(subscription, context));
            String where = delivery + " of " + subscription.name() + " in " + life;
            if (!context.cancelled() && health.isPresent() && !Life.owns(health.get(), delivery.partition)) {
                violations.add("3.8 revoked", where + " was given to a handler although its partition was not owned");
            }
            TreeMap<Long, Delivery> book = book(life, subscription, delivery.partition);
            Delivery earlier = book.get(delivery.offset);
            if (context.cancelled()) {
                // The record may have come again meanwhile; without a drain timeout that did not wait for this one.
                if (earlier != null
                        && earlier.running
                        && !earlier.context.cancelled()
                        && subscription.drainTimeout().isPositive()) {
                    violations.add("1.3 one at a time", where + ", given up, while " + earlier + " ran");
                }
                continue;
            }
            if (earlier != null) {
                followsItself(earlier, delivery, where);
            }
            inOrder(life, subscription, delivery, call, where);
            book.put(delivery.offset, delivery);
            call.add(delivery);
            count++;
        }
    }

    /**
     * A worker has a record in hand from the moment in which it is admitted, and it may be given up in the next, before its
     * handler begins: no check could come late enough. So one such call for each worker is nobody's fault, unless the worker
     * took the record after it had seen that the partition was given up. What was queued must not come at all.
     */
    private void givenUp(
            Life life, SubscriptionPlan subscription, List<? extends Context<?>> contexts, long rebalances) {
        if (contexts.stream().anyMatch(Context::cancelled)) {
            int times = late.merge(life + " " + subscription.name() + " " + rebalances, 1, Integer::sum);
            if (times > subscription.workers()) {
                violations.add(
                        "3.8 given up",
                        subscription.name() + " in " + life + " has given " + times
                                + " calls to its handlers after their partitions were given up, and has "
                                + subscription.workers() + " workers; the last was "
                                + contexts.get(0).topic() + "-"
                                + contexts.get(0).partition() + "@"
                                + contexts.get(0).offset());
            }
        }
        for (Context<?> context : contexts) {
            if (context.cancelled() && sees(life, subscription, context, rebalances)) {
                violations.add(
                        "3.8 given up",
                        context.topic() + "-" + context.partition() + "@" + context.offset() + " of "
                                + subscription.name() + " in " + life
                                + " was given to a handler by a worker that had met its partition given up before");
            }
        }
        contexts.stream()
                .filter(Context::cancelled)
                .forEach(context -> seenGivenUp.put(worker(life, subscription, context), rebalances));
    }

    /** Whether this thread has seen the partition given up since the last rebalance. */
    private boolean sees(Life life, SubscriptionPlan subscription, Context<?> context, long rebalances) {
        Long seen = seenGivenUp.get(worker(life, subscription, context));
        return seen != null && seen == rebalances;
    }

    private static String worker(Life life, SubscriptionPlan subscription, Context<?> context) {
        return life + " " + subscription.name() + " " + context.topic() + "-" + context.partition() + " on "
                + Thread.currentThread().threadId();
    }

    private void followsItself(Delivery earlier, Delivery delivery, String where) {
        if (earlier.running && !earlier.context.cancelled()) {
            violations.add("1.3 one at a time", where + " while " + earlier + " still ran");
        }
        if (earlier.rebalances != delivery.rebalances || earlier.context.cancelled()) {
            return;
        }
        if (!earlier.open && !earlier.replied) {
            violations.add("1.2 settled", where + " although " + earlier + " was settled in the same assignment");
        } else if (delivery.attempt != earlier.attempt + 1) {
            violations.add("3.4 attempts", where + " follows " + earlier);
        } else if (clock.instant().isBefore(earlier.due)) {
            violations.add("3.5 delays", where + " comes before " + earlier.due + ", when it is due");
        }
    }

    private void inOrder(
            Life life, SubscriptionPlan subscription, Delivery delivery, List<Delivery> call, String where) {
        if (subscription.order() == SubscriptionPlan.Order.NONE && subscription.workers() > 1) {
            return;
        }
        for (Delivery other : book(life, subscription, delivery.partition).values()) {
            boolean sameAssignment = other.rebalances == delivery.rebalances && !other.context.cancelled();
            if (!sameAssignment || !other.lane.equals(delivery.lane) || other.offset == delivery.offset) {
                continue;
            }
            if (other.running && !call.contains(other)) {
                violations.add("5.1 one after the other", where + " while " + other + " ran in its lane");
            } else if (other.open && other.again && delivery.attempt == 1 && !comesWith(subscription)) {
                violations.add("3.4 retries first", where + " although " + other + " waits for its next attempt");
            }
        }
        if (delivery.attempt == 1) {
            Delivery last = newest.put(
                    life + " " + subscription.name() + " " + delivery.lane + " of " + delivery.partition, delivery);
            if (last != null
                    && last.rebalances == delivery.rebalances
                    && !last.context.cancelled()
                    && last.offset >= delivery.offset) {
                violations.add("5.1 in order", where + " after " + last);
            }
        }
    }

    /** Whether a failed reply, which comes late, may come back behind others of its lane. */
    private static boolean comesWith(SubscriptionPlan subscription) {
        return subscription.kind().replies() && !subscription.awaitReport();
    }

    /** A handler is done with one. */
    synchronized void leave(Life life, SubscriptionPlan subscription, Context<?> context, End end) {
        leave(life, subscription, context, end, Duration.ZERO);
    }

    /**
     * A handler is done with one.
     *
     * @param delay how long it waits, if it is delayed
     */
    synchronized void leave(Life life, SubscriptionPlan subscription, Context<?> context, End end, Duration delay) {
        TopicPartition partition = new TopicPartition(context.topic(), context.partition());
        Delivery delivery = book(life, subscription, partition).get(context.offset());
        if (delivery == null || delivery.context != context) {
            return; // a given-up delivery whose record was delivered again
        }
        delivery.running = false;
        delivery.due = clock.instant().plus(delay);
        delivery.late = context.cancelled();
        if (delivery.late) {
            long rebalances = life.health(subscription.name())
                    .map(each -> each.counts().rebalances())
                    .orElse(-1L);
            // A call that was answered elsewhere is of no consequence: that thread is no worker's.
            seenGivenUp.put(worker(life, subscription, context), rebalances);
        }
        delivery.open = end == End.AGAIN || end == End.DELAYED || end == End.FAILED;
        delivery.copying = end == End.GIVEN_UP || end == End.POSTPONED;
        delivery.again = end == End.AGAIN;
        delivery.replied = end == End.REPLYING;
    }

    /**
     * Whether a record was last delivered by this life in its present assignments, and is done with: settled, or, under
     * Auto, handed over.
     *
     * @param rebalances how many the life had seen when it began to stop
     */
    synchronized boolean doneHere(
            Life life, SubscriptionPlan subscription, TopicPartition partition, long offset, long rebalances) {
        Delivery delivery = book(life, subscription, partition).get(offset);
        if (delivery == null || delivery.rebalances < rebalances) {
            return false;
        }
        return !delivery.copying && (!subscription.tracked() || !delivery.open && !delivery.replied && !delivery.late);
    }

    /** How many records were given to handlers so far. */
    synchronized long count() {
        return count;
    }

    private TreeMap<Long, Delivery> book(Life life, SubscriptionPlan subscription, TopicPartition partition) {
        return books.computeIfAbsent(life + " " + subscription.name() + " " + partition, key -> new TreeMap<>());
    }

    private static String lane(SubscriptionPlan subscription, Context<?> context) {
        byte[] key = context.key();
        boolean byKey = subscription.order() == SubscriptionPlan.Order.RECORD_KEY && key != null;
        return context.topic() + (byKey ? " key " + Arrays.toString(key) : "-" + context.partition());
    }
}
