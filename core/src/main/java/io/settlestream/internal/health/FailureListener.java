package io.settlestream.internal.health;

/** Hears of what ends a subscription. Thread-safe; must not block. */
@FunctionalInterface
public interface FailureListener {

    /** The first failure counts: it is what health shows and what the stop is for. Later ones are ignored. */
    void failed(Throwable failure);
}
