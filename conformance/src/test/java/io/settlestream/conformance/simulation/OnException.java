package io.settlestream.conformance.simulation;

import io.settlestream.ExceptionPolicy;

/** What a planned subscription does when its handler throws. */
enum OnException {
    FAIL_FAST(ExceptionPolicy.FAIL_FAST),
    RETRY(ExceptionPolicy.RETRY),
    DROP(ExceptionPolicy.DROP),
    DEAD_LETTER(ExceptionPolicy.DEAD_LETTER),
    RETRY_AFTER(ExceptionPolicy.retryAfter(RecoveryPlan.POLICY_DELAY)),
    /** Drops what is the handler's own trouble, and tries all else again. */
    BY_CAUSE(ExceptionPolicy.byCause(cause -> cause instanceof Trouble ? ExceptionPolicy.DROP : ExceptionPolicy.RETRY));

    private final ExceptionPolicy policy;

    OnException(ExceptionPolicy policy) {
        this.policy = policy;
    }

    ExceptionPolicy policy() {
        return policy;
    }

    /** What it comes to for an exception. */
    OnException choice(Exception cause) {
        return this == BY_CAUSE ? cause instanceof Trouble ? DROP : RETRY : this;
    }
}
