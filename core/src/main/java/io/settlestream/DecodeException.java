package io.settlestream;

import org.jspecify.annotations.Nullable;

/**
 * The bytes of a record are not a value of the wanted type. Thrown by a {@link io.settlestream.codec.Codec}; settled by
 * the mount site's {@link DecodePolicy}.
 *
 * @since 0.1.0
 */
public final class DecodeException extends SettleStreamException {

    private static final long serialVersionUID = 1L;

    /**
     * @param message logged as it is: what does not fit; must not contain the payload
     * @param cause the codec library's exception, or null. Its message may quote the payload, so what the framework
     *     reports of it and of its causes is their kind and place alone
     */
    public DecodeException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
