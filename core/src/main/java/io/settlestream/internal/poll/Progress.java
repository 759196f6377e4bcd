package io.settlestream.internal.poll;

import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** How far a subscription has come, for all who wait for it. The poll thread moves it on; any thread may look. */
final class Progress {

    private final CompletableFuture<@Nullable Void> ready = new CompletableFuture<>();
    private final CompletableFuture<@Nullable Void> drained = new CompletableFuture<>();
    private final CompletableFuture<@Nullable Void> closed = new CompletableFuture<>();
    private volatile Phase phase = Phase.CONNECTING;

    Phase phase() {
        return phase;
    }

    /**
     * Goes on to the next phase.
     *
     * @throws IllegalStateException if the phases are not passed in this order
     */
    void become(Phase next) {
        phase = phase.to(next);
    }

    /** Completes when it is known where every assigned partition starts; exceptionally if that failed for good. */
    CompletableFuture<@Nullable Void> ready() {
        return ready;
    }

    /** Completes when nothing runs any more, or what still runs is given up. */
    CompletableFuture<@Nullable Void> drained() {
        return drained;
    }

    /** Completes when the consumer is closed. */
    CompletableFuture<@Nullable Void> closed() {
        return closed;
    }
}
