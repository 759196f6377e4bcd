package io.settlestream.examples.payouts;

import java.util.ArrayList;
import java.util.List;

/** An analytics store that fails the first call, takes all others, and notes the pages. Thread-safe. */
final class FlakyAnalytics implements AnalyticsStore {

    private final List<String> counted = new ArrayList<>();
    private boolean failed;

    @Override
    public synchronized boolean add(String page) {
        if (!failed) {
            failed = true;
            return false;
        }
        counted.add(page);
        return true;
    }

    /** The pages whose views it has counted, in their order. */
    synchronized List<String> counted() {
        return List.copyOf(counted);
    }
}
