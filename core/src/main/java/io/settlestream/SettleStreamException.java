package io.settlestream;

import org.jspecify.annotations.Nullable;

/**
 * Root of what the framework throws. The kinds below it are listed here.
 *
 * @since 0.1.0
 */
public sealed class SettleStreamException extends RuntimeException
        permits StartupException,
                ServiceFailedException,
                PublishException,
                ControlException,
                DecodeException,
                EncodeException {

    private static final long serialVersionUID = 1L;

    SettleStreamException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
