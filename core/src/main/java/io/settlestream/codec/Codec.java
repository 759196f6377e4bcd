package io.settlestream.codec;

import org.jspecify.annotations.Nullable;

/**
 * Turns the bytes of a record into a value and back. Thread-safe.
 *
 * @param <T> the value's type
 * @since 0.1.0
 */
public interface Codec<T> {

    /**
     * Decodes a record's value.
     *
     * @param data the bytes as they arrived, not to be changed; null for a record without a value (a tombstone)
     * @throws io.settlestream.DecodeException if they are not a value of this type; any other exception is treated the
     *     same
     */
    T decode(byte @Nullable [] data);

    /**
     * Encodes a value.
     *
     * @throws io.settlestream.EncodeException if it has no encoding; any other exception is treated the same
     */
    byte[] encode(T value);
}
