package io.settlestream.internal.settle;

import io.settlestream.internal.health.Counters;
import io.settlestream.spi.Scheduler;

/** Recoveries for tests of other things. */
public final class Recoveries {

    private Recoveries() {}

    /** One that never gives a record up and has nowhere to send it. */
    public static Recovery none(Counters counters, Scheduler scheduler) {
        return of(new Recovery.Plan(null, null, null, "group", false), counters, scheduler);
    }

    /** One that does as planned, for records that need not be written anywhere. */
    public static Recovery of(Recovery.Plan plan, Counters counters, Scheduler scheduler) {
        return new Recovery(
                "orders",
                plan,
                (record, listener) -> {
                    throw new AssertionError("nothing is to be written to " + record.topic());
                },
                counters,
                failure -> {
                    throw new AssertionError(failure);
                },
                scheduler);
    }
}
