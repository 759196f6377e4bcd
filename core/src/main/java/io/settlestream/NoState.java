package io.settlestream;

/**
 * The state of an application that has none.
 *
 * @since 0.1.0
 */
public enum NoState {
    INSTANCE
}
