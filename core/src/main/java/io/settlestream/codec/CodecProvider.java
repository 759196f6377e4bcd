package io.settlestream.codec;

import java.util.Optional;

/**
 * Makes codecs for types that are not bound to one by hand. Found with {@link java.util.ServiceLoader}; the JSON codec
 * of {@code settlestream-jackson} is one.
 *
 * @since 0.1.0
 */
public interface CodecProvider {

    /** A codec for {@code type}, or empty if this provider does not know the type. */
    <T> Optional<Codec<T>> codecFor(Class<T> type);
}
