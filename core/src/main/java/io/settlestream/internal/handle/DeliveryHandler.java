package io.settlestream.internal.handle;

import io.settlestream.internal.settle.Delivery;
import io.settlestream.internal.settle.Disposition;
import io.settlestream.internal.settle.HandBack;

/** Decodes a delivery, runs its handler and settles it. Never throws; runs on the lane's thread. */
@FunctionalInterface
public interface DeliveryHandler {

    /**
     * Runs one attempt.
     *
     * @param lanes where the delivery goes if it is found later that it must run again
     */
    Disposition run(Delivery delivery, HandBack lanes);
}
