package io.settlestream.examples.charges;

import java.util.concurrent.TimeoutException;

/** The payment gateway that takes charges. */
@FunctionalInterface
public interface Gateway {

    /**
     * Takes a charge once, however often it is asked to with the same id: after a crash a charge may come again.
     *
     * @return whether the gateway took the charge; if not, it is busy and may be asked again
     * @throws TimeoutException if it does not answer
     * @throws IllegalArgumentException if it will never take this charge
     */
    boolean take(long chargeId, long cents) throws TimeoutException, InterruptedException;
}
