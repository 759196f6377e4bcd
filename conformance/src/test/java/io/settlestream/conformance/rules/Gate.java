package io.settlestream.conformance.rules;

import io.settlestream.testing.TestClock;
import java.time.Duration;

/** Holds handlers up until it is opened, in the time of the Kafka that they run on. */
final class Gate {

    private static final Duration LOOK = Duration.ofMillis(5);

    private final TestClock clock;
    private volatile boolean open;

    Gate(TestClock clock) {
        this.clock = clock;
    }

    void open() {
        open = true;
    }

    /**
     * Waits until it is open.
     *
     * @throws InterruptedException if the delivery is given up meanwhile
     */
    void pass() throws InterruptedException {
        while (!open) {
            clock.sleep(LOOK);
        }
    }
}
