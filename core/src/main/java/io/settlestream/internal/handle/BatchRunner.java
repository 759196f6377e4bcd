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
     * @param failed whether an element stays open and the service is stopping because of it
     */
    record Result(List<Delivery> again, boolean failed) {}

    /** Runs one attempt. */
    Result run(BatchUnit batch);
}
