package io.settlestream;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One header of a {@link Message}.
 *
 * @param name the header's name
 * @param value its bytes, or null
 * @since 0.1.0
 */
public record MessageHeader(String name, byte @Nullable [] value) {
    public MessageHeader {
        Objects.requireNonNull(name, "name");
    }
}
