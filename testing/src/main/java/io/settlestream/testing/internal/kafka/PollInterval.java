package io.settlestream.testing.internal.kafka;

import io.settlestream.spi.TimeSource;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Watches over {@code max.poll.interval.ms}. With the cluster's lock. */
final class PollInterval {

    private final Groups groups;
    private final Host host;
    private final long interval;
    private final Runnable exceeded;
    private long polledAt;
    private boolean polling;
    private TimeSource.@Nullable Timer timer;

    PollInterval(Cluster cluster, Duration interval, Runnable exceeded) {
        this.groups = cluster.groups();
        this.host = cluster.host();
        this.interval = interval.toNanos();
        this.exceeded = exceeded;
    }

    void polled() {
        polledAt = host.nanoTime();
        if (timer == null) {
            check();
        }
    }

    /** Whether the consumer waits inside of a poll, which is as good as polling. */
    void polling(boolean waits) {
        polling = waits;
        polledAt = host.nanoTime();
    }

    void stop() {
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
    }

    private void check() {
        long left = polling ? interval : polledAt + interval - host.nanoTime();
        if (left > 0) {
            timer = groups.later(Duration.ofNanos(left), this::check);
        } else {
            timer = null;
            exceeded.run();
        }
    }
}
