package io.settlestream.internal.settle;

import io.settlestream.internal.position.OwnedPartition;
import java.util.List;

/** A batch in a worker's hands. */
public record BatchUnit(List<Delivery> deliveries) implements Unit {

    @Override
    public boolean concerns(OwnedPartition partition) {
        for (Delivery delivery : deliveries) {
            if (delivery.concerns(partition)) {
                return true;
            }
        }
        return false;
    }

    @Override
    public boolean spared() {
        return deliveries.stream().anyMatch(Delivery::spared);
    }

    @Override
    public boolean cancelled() {
        for (Delivery delivery : deliveries) {
            if (!delivery.cancelled()) {
                return false;
            }
        }
        return true;
    }
}
