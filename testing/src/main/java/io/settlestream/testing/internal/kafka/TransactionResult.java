package io.settlestream.testing.internal.kafka;

import org.jspecify.annotations.Nullable;

/** What came of a request to the transaction coordinator. With the cluster's lock. */
final class TransactionResult {

    private final String operation;
    private final Host host;
    private boolean done;
    private boolean taken;
    private @Nullable RuntimeException error;

    TransactionResult(String operation, Host host) {
        this.operation = operation;
        this.host = host;
    }

    String operation() {
        return operation;
    }

    boolean isDone() {
        return done;
    }

    void succeed() {
        done = true;
        host.changed();
    }

    /** The first end counts. */
    void fail(RuntimeException why) {
        if (!done) {
            done = true;
            error = why;
            host.changed();
        }
    }

    /** Whether a caller has learned of the end, so that others may follow. */
    boolean isTaken() {
        return taken;
    }

    /** Hands the end to the caller, who waited for it. */
    @Nullable
    RuntimeException take() {
        taken = true;
        return error;
    }
}
