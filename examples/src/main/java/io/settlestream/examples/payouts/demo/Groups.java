package io.settlestream.examples.payouts.demo;

import io.settlestream.examples.payouts.PayoutService.Sources;
import java.util.List;

/**
 * The service's consumer groups in one run of the demo. On a cluster that outlives the run they are new ones, so that
 * no run reads on where another one stopped, and no group of somebody else is touched.
 *
 * @param suffix what their names end with
 */
record Groups(String suffix) {

    /** A topic and the group that reads it with tracked commits. */
    record Reading(String topic, String group) {}

    Reading payouts() {
        return new Reading("payouts", "payouts" + suffix);
    }

    Reading statements() {
        return new Reading("statements", "reconciliation" + suffix);
    }

    /** What must not be lost. */
    List<Reading> tracked() {
        return List.of(payouts(), statements());
    }

    /** What the service reads, in these groups. */
    Sources sources() {
        Sources sources = Sources.create();
        return new Sources(
                sources.payouts().group(payouts().group()),
                sources.pageViews().group("analytics" + suffix),
                sources.statements().group(statements().group()));
    }
}
