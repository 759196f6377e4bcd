package io.settlestream.internal.settle;

/** What a worker does with a delivery whose attempt has ended. */
public enum Disposition {
    /** Nothing: it is settled, or nobody waits for it any more. */
    DONE,
    /** Runs it again, after the back-off of its attempt. */
    RETRY,
    /** Nothing: whoever hears the reply's report goes on with it. */
    AWAITING_REPORT,
    /** Nothing: it stays open, and the service is stopping because of it. */
    FAILED
}
