package io.settlestream.internal.settle;

/** What a worker does with a delivery whose attempt has ended. */
public sealed interface Disposition {

    /** Nothing: it is settled, or nobody waits for it any more. */
    Disposition DONE = Plain.DONE;

    /** Runs it again, after the back-off of its attempt. */
    Disposition RETRY = Plain.RETRY;

    /** Nothing: whoever hears the report of its reply, or of a copy of it, goes on with it. */
    Disposition AWAITING_REPORT = Plain.AWAITING_REPORT;

    /** Nothing: it stays open, and the service is stopping because of it. */
    Disposition FAILED = Plain.FAILED;

    /** What needs no more words. */
    enum Plain implements Disposition {
        DONE,
        RETRY,
        AWAITING_REPORT,
        FAILED
    }

    /**
     * Runs it again after a delay, and goes on with what is behind it meanwhile.
     *
     * @param nanos the delay
     */
    record Later(long nanos) implements Disposition {}
}
