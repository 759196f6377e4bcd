package io.settlestream.internal.settle;

/** Takes back deliveries that are to run again: the lanes, seen from the stages behind them. Thread-safe. */
public interface HandBack {

    /** Runs the delivery again, with one attempt more, after its back-off and before what its lane has not begun. */
    void retry(Delivery delivery);

    /** Runs the delivery again after a delay, with one attempt more, while its lane goes on. */
    void later(Delivery delivery, long nanos);

    /** After a failure: begins nothing more, so that nothing behind the failed record is handled before the stop. */
    void halt();
}
