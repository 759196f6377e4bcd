package io.settlestream.jackson;

import io.settlestream.codec.Codec;
import io.settlestream.codec.CodecProvider;
import java.util.Optional;

/**
 * Makes JSON the codec of every type that none was named for. Found with {@link java.util.ServiceLoader} as soon as this
 * module is on the class path; thread-safe.
 *
 * @since 0.1.0
 */
public final class JacksonCodecProvider implements CodecProvider {

    /** Called by {@link java.util.ServiceLoader}. */
    public JacksonCodecProvider() {}

    /** A {@link JsonCodec} with the default mapper, whatever the type: whether Jackson can read it, a record shows. */
    @Override
    public <T> Optional<Codec<T>> codecFor(Class<T> type) {
        return Optional.of(JsonCodec.of(type));
    }
}
