package io.settlestream.examples.payouts;

import java.util.ArrayList;
import java.util.List;

/** A bank that refuses the first payout it is asked for, takes all others, and notes which ones. Thread-safe. */
final class FlakyBank implements Bank {

    private final List<Long> paid = new ArrayList<>();
    private boolean failed;

    @Override
    public synchronized boolean pay(long payoutId, long amountCents) {
        if (!failed) {
            failed = true;
            return false;
        }
        paid.add(payoutId);
        return true;
    }

    /** The payouts it has made, in their order. */
    synchronized List<Long> paid() {
        return List.copyOf(paid);
    }
}
