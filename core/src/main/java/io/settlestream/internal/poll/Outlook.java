package io.settlestream.internal.poll;

import java.util.function.BooleanSupplier;

/**
 * What the poll thread sees ahead of a fetch, which decides how long it may last.
 *
 * @param open whether records are open
 * @param behind whether a committed offset is behind its position
 */
record Outlook(boolean open, boolean behind) {

    /**
     * Looks, in this order: what is settled between the two looks is seen as behind. The other way round it could be missed
     * by both, and its commit would wait for the longest fetch.
     */
    static Outlook of(BooleanSupplier open, BooleanSupplier behind) {
        boolean seenOpen = open.getAsBoolean();
        return new Outlook(seenOpen, behind.getAsBoolean());
    }
}
