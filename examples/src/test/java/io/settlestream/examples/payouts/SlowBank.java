package io.settlestream.examples.payouts;

import io.settlestream.testing.TestClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A bank that takes some of the test's time for each payout, and notes what it was asked for. Thread-safe. */
final class SlowBank implements Bank {

    private final TestClock clock;
    private final Duration delay;
    private final List<Long> asked = new ArrayList<>();

    SlowBank(TestClock clock, Duration delay) {
        this.clock = clock;
        this.delay = delay;
    }

    @Override
    public boolean pay(long payoutId, long amountCents) throws InterruptedException {
        note(payoutId);
        clock.sleep(delay);
        return true;
    }

    private synchronized void note(long payoutId) {
        asked.add(payoutId);
    }

    /** What it was asked for, in that order. */
    synchronized List<Long> asked() {
        return List.copyOf(asked);
    }
}
