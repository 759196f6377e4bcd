package io.settlestream;

import org.jspecify.annotations.Nullable;

/**
 * A subscription could not be moved, paused or resumed.
 *
 * @since 0.1.0
 */
public final class ControlException extends SettleStreamException {

    private static final long serialVersionUID = 1L;

    /**
     * Why a subscription could not do what was asked of it.
     *
     * @since 0.1.0
     */
    public enum Reason {
        /** The partition does not belong to this member, or not to the subscription's sources. */
        NOT_ASSIGNED,
        /** The partition has left this member before it took effect. */
        REVOKED,
        /** The subscription stops, or has failed. */
        STOPPING,
        /** The cluster refuses to say where the position is. */
        REFUSED
    }

    private final Reason reason;
    private final String subscription;

    public ControlException(Reason reason, String subscription, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.reason = reason;
        this.subscription = subscription;
    }

    /** The kind of failure. */
    public Reason reason() {
        return reason;
    }

    /** The name of the subscription. */
    public String subscription() {
        return subscription;
    }
}
