package io.settlestream.internal.poll;

import java.util.Map;
import java.util.Set;

/**
 * What a subscription has come to. Only its poll thread moves it on.
 *
 * <pre>
 *   CONNECTING --> RUNNING --> DRAINING --> DRAINED --> CLOSED
 *        |                        ^
 *        +------------------------+
 * </pre>
 *
 * A subscription that has failed stays where it is until it is drained and closed like any other.
 */
enum Phase {
    /** Joining its group and finding out where its partitions start. */
    CONNECTING,
    /** Fetching and committing. */
    RUNNING,
    /** Fetching nothing any more; running handlers and the reports they wait for come to an end. */
    DRAINING,
    /** Nothing runs any more, or it was given up; still a member of its group. */
    DRAINED,
    /** To be committed and to leave its group. */
    CLOSED;

    private static final Map<Phase, Set<Phase>> NEXT = Map.of(
            CONNECTING, Set.of(RUNNING, DRAINING),
            RUNNING, Set.of(DRAINING),
            DRAINING, Set.of(DRAINED),
            DRAINED, Set.of(CLOSED),
            CLOSED, Set.of());

    /**
     * The next phase.
     *
     * @throws IllegalStateException if the diagram has no such arrow
     */
    Phase to(Phase next) {
        if (!NEXT.getOrDefault(this, Set.of()).contains(next)) {
            throw new IllegalStateException("a subscription does not go from " + this + " to " + next);
        }
        return next;
    }
}
