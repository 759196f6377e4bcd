package io.settlestream.examples.payouts.demo;

import java.time.Duration;

/** Waiting between two looks at what other processes do. */
final class Pause {

    private Pause() {}

    static void of(Duration duration) {
        try {
            Thread.sleep(duration);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DemoException("The demo was interrupted.", e);
        }
    }
}
