package io.settlestream.examples.payouts;

/** The bank that carries out payouts. */
@FunctionalInterface
public interface Bank {

    /**
     * Pays out once, however often it is asked to with the same id: after a crash a payout may be asked for again.
     *
     * @return whether the bank took the payout; if not, it may be asked again
     */
    boolean pay(long payoutId, long amountCents) throws InterruptedException;
}
