package io.settlestream;

import org.jspecify.annotations.Nullable;

/**
 * A value cannot be turned into bytes. Thrown by a {@link io.settlestream.codec.Codec}.
 *
 * @since 0.1.0
 */
public final class EncodeException extends SettleStreamException {

    private static final long serialVersionUID = 1L;

    /**
     * @param message what does not fit; must not contain the value
     * @param cause the codec library's exception, or null
     */
    public EncodeException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
