package io.settlestream.internal.handle;

import io.settlestream.internal.settle.BatchUnit;
import io.settlestream.internal.settle.Delivery;
import java.util.List;

/** Decodes a batch, runs its handler and settles its elements. Never throws; runs on the lane's thread. */
@FunctionalInterface
public interface BatchRunner {

    /**
     * What is left to do after an attempt.
     *
     * @param again the deliveries that are to run again
     * @param later the deliveries that are to run again after a delay
     * @param failed whether an element stays open and the service is stopping because of it
     */
    record Result(List<Delivery> again, List<Later> later, boolean failed) {}

    /**
     * A delivery that is to run again after a delay.
     *
     * @param delivery the delivery
     * @param nanos the delay
     */
    record Later(Delivery delivery, long nanos) {}

    /** Runs one attempt. */
    Result run(BatchUnit batch);
}
