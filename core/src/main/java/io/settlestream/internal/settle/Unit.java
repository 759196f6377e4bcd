package io.settlestream.internal.settle;

import io.settlestream.internal.position.OwnedPartition;
import java.util.List;

/** What a worker has in hand at one time: a delivery, or a batch of them. */
public sealed interface Unit permits Delivery, BatchUnit {

    /** Whether somebody waits for the outcome of a record of it that belongs to this assignment of the partition. */
    boolean concerns(OwnedPartition partition);

    /** Whether nobody waits for any outcome of it any more. */
    boolean cancelled();

    /** Whether its handler is not to be interrupted when nobody waits for it: it has asked for the seek that is why. */
    boolean spared();

    /** Its deliveries, one or more. */
    List<Delivery> deliveries();
}
