package io.settlestream.examples.payouts;

/** Where page views are counted. */
@FunctionalInterface
public interface AnalyticsStore {

    /**
     * Counts one view of a page.
     *
     * @return whether the store took it
     */
    boolean add(String page);
}
