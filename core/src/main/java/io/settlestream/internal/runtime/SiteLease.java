package io.settlestream.internal.runtime;

import java.util.ArrayList;
import java.util.List;

/**
 * The publishing sites of an application while one run of it has them. Applications that were derived from one another
 * share sites, so each site is taken for itself.
 */
final class SiteLease {

    private final List<BrokerSpec.Site> taken = new ArrayList<>();

    private SiteLease() {}

    /** Takes all sites of an application; adds a problem if another run has one of them. */
    static SiteLease take(AppSpec app, List<String> problems) {
        SiteLease lease = new SiteLease();
        for (BrokerSpec broker : app.brokers()) {
            for (BrokerSpec.Site site : broker.sites()) {
                if (!site.take()) {
                    problems.add("publisher of " + broker.broker() + ": the application is running already, and what"
                            + " scope.publisher(...) has handed out leads to one run at a time. Stop that run first, or"
                            + " put together another application for this one");
                    return lease;
                }
                lease.taken.add(site);
            }
        }
        return lease;
    }

    void end() {
        taken.forEach(BrokerSpec.Site::leave);
    }
}
