package io.settlestream.testing.internal.kafka;

import org.jspecify.annotations.Nullable;

/** What came of a request to the transaction coordinator. With the cluster's lock. */
final class TransactionResult {

    private final String operation;
    private boolean done;
    private boolean taken;
    private @Nullable RuntimeException error;

    TransactionResult(String operation) {
        this.operation = operation;
    }

    String operation() {
        return operation;
    }

    boolean isDone() {
        return done;
    }

    void succeed() {
        done = true;
    }

    /** The first end counts. */
    void fail(RuntimeException why) {
        if (!done) {
            done = true;
            error = why;
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
