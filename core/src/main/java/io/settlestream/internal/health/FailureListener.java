package io.settlestream.internal.health;

/** Hears of what ends a subscription. Thread-safe; must not block. */
@FunctionalInterface
public interface FailureListener {

    /** The first failure counts; later ones are added to it as suppressed or ignored. */
    void failed(Throwable failure);
}
