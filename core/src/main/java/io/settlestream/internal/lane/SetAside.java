package io.settlestream.internal.lane;

import io.settlestream.internal.position.OwnedPartition;
import io.settlestream.internal.settle.Delivery;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * Deliveries that workers came to while the user paused their partitions. They stay open and come back with the resume.
 * Guarded by the lanes' lock.
 */
final class SetAside {

    private final List<Delivery> deliveries = new ArrayList<>();

    void add(Delivery delivery) {
        deliveries.add(delivery);
    }

    /** Takes out those of a partition, in the order of their records: workers may have put them aside in another. */
    List<Delivery> release(OwnedPartition partition) {
        List<Delivery> released = new ArrayList<>();
        for (Iterator<Delivery> each = deliveries.iterator(); each.hasNext(); ) {
            Delivery delivery = each.next();
            if (delivery.owner() == partition) {
                released.add(delivery);
                each.remove();
            }
        }
        released.sort(Delivery::compareByArrival);
        return released;
    }

    /** Forgets those that nobody waits for. */
    void purge() {
        deliveries.removeIf(Delivery::cancelled);
    }

    void clear() {
        deliveries.clear();
    }
}
