package io.settlestream.internal.lane;

import io.settlestream.internal.position.OwnedPartition;
import io.settlestream.internal.settle.Delivery;
import java.util.Collection;
import java.util.Comparator;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Deliveries of partitions that were paused and are resumed, which go before everything queued: retries first, and
 * otherwise in the order of their records. Guarded by the lanes' lock.
 *
 * <p>A worker may have the next record of the partition in its hands already when the partition is resumed. So that it
 * does not overtake these, the partition is let go only when the first of them is taken; what a worker comes to before
 * that is added here.
 */
final class Resumed {

    private final PriorityQueue<Delivery> deliveries =
            new PriorityQueue<>(4, Comparator.comparing(Resumed::isFresh).thenComparing(Delivery::compareByArrival));

    private static boolean isFresh(Delivery delivery) {
        return !delivery.handedOver();
    }

    /** Adds what was kept of a partition, and lets the partition go if there is nothing. */
    void add(OwnedPartition partition, Collection<Delivery> kept) {
        deliveries.addAll(kept);
        if (deliveries.stream().noneMatch(delivery -> delivery.owner() == partition)) {
            partition.letGo();
        }
    }

    /** Takes out the first. */
    @Nullable
    Delivery poll() {
        Delivery first = deliveries.poll();
        if (first != null) {
            first.owner().letGo();
        }
        return first;
    }

    /** Takes out the first if it has had an attempt, or if it has had none. */
    @Nullable
    Delivery poll(boolean fresh) {
        Delivery first = deliveries.peek();
        return first != null && isFresh(first) == fresh ? poll() : null;
    }

    boolean isEmpty() {
        return deliveries.isEmpty();
    }

    /** Forgets those that nobody waits for. */
    void purge() {
        deliveries.removeIf(Delivery::cancelled);
    }

    void clear() {
        deliveries.clear();
    }
}
