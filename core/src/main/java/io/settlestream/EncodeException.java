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
     * @param message logged as it is: what does not fit; must not contain the value
     * @param cause the codec library's exception, or null. Its message may quote the payload, so what the framework
     *     reports of it and of its causes is their kind and place alone
     */
    public EncodeException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
