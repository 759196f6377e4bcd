package io.settlestream;

/**
 * A running service stopped because of a failure. The cause is the first one.
 *
 * @since 0.1.0
 */
public final class ServiceFailedException extends SettleStreamException {

    private static final long serialVersionUID = 1L;

    public ServiceFailedException(String message, Throwable cause) {
        super(message, cause);
    }
}
