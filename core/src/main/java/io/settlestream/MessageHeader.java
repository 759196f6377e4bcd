package io.settlestream;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One header of a {@link Message}. Immutable.
 *
 * @since 0.1.0
 */
public final class MessageHeader {

    private final String name;
    private final byte @Nullable [] value;

    MessageHeader(String name, byte @Nullable [] value) {
        this.name = Objects.requireNonNull(name, "name");
        this.value = value;
    }

    /** The header's name. */
    public String name() {
        return name;
    }

    /** Its bytes, or null. The array is not copied: treat it as read-only. */
    public byte @Nullable [] value() {
        return value;
    }

    @Override
    public String toString() {
        return "MessageHeader[" + name + "]";
    }
}
