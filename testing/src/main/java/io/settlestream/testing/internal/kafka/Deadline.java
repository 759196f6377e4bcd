package io.settlestream.testing.internal.kafka;

import java.util.concurrent.TimeUnit;

/** Points on a host's clock, where {@link Long#MAX_VALUE} is never. */
final class Deadline {

    private Deadline() {}

    static long in(Host host, long nanos) {
        return after(host.nanoTime(), nanos);
    }

    static long inMillis(Host host, long millis) {
        return in(host, TimeUnit.MILLISECONDS.toNanos(millis));
    }

    static boolean isPast(long deadline, long now) {
        return deadline != Long.MAX_VALUE && deadline - now <= 0;
    }

    static long earlier(long one, long other) {
        if (one == Long.MAX_VALUE || other == Long.MAX_VALUE) {
            return one == Long.MAX_VALUE ? other : one;
        }
        return one - other <= 0 ? one : other;
    }

    /** The sum, or never. The clock may begin anywhere, so that sums may overflow early; they do not in a lifetime. */
    static long after(long now, long nanos) {
        if (nanos >= Long.MAX_VALUE / 2) {
            return Long.MAX_VALUE;
        }
        long sum = now + nanos;
        return sum < now ? Long.MAX_VALUE : sum;
    }
}
