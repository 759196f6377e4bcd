package io.settlestream.codec;

import io.settlestream.internal.codec.Codecs;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
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

    /**
     * The codec that a type gets when none is named for it: that of {@code byte[]} or {@code String}, else the first that a
     * {@link CodecProvider} on the class path gives.
     *
     * @throws IllegalArgumentException if no provider knows the type, or one that is declared cannot be loaded
     */
    static <T> Codec<T> of(Class<T> type) {
        Optional<Codec<T>> own = Codecs.findOwn(type);
        if (own.isPresent()) {
            return own.get();
        }
        List<String> problems = new ArrayList<>();
        return Codecs.load(problems)
                .find(type)
                .orElseThrow(() -> new IllegalArgumentException("there is no codec for " + type.getName()
                        + "; add settlestream-jackson for JSON, or a CodecProvider that knows the type"
                        + (problems.isEmpty() ? "" : ". " + String.join(" ", problems))));
    }
}
