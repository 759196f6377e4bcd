package io.settlestream.testing;

import io.settlestream.codec.Codec;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * A record as it lies in a topic.
 *
 * @param topic its topic
 * @param partition its partition
 * @param offset its offset
 * @param timestamp its timestamp
 * @param key its key, or null; not to be changed
 * @param value its value, or null for a tombstone; not to be changed
 * @param headers its headers, in their order
 * @since 0.1.0
 */
@SuppressWarnings("ArrayRecordComponent") // compared by nobody; a test looks at the values
public record TestRecord(
        String topic,
        int partition,
        long offset,
        Instant timestamp,
        byte @Nullable [] key,
        byte @Nullable [] value,
        List<Header> headers) {

    public TestRecord {
        headers = List.copyOf(headers);
    }

    /** The value, decoded by the type's default codec; see {@link Codec#of}. */
    public <T> T value(Class<T> type) {
        return Codec.of(type).decode(value);
    }

    /** The key as text in UTF-8, if there is a key. */
    public Optional<String> keyText() {
        return Optional.ofNullable(key).map(bytes -> new String(bytes, StandardCharsets.UTF_8));
    }

    /** The value of the last header of this name as text in UTF-8, if there is one and it has a value. */
    public Optional<String> header(String name) {
        return headers.stream()
                .filter(header -> header.key().equals(name))
                .reduce((earlier, later) -> later)
                .flatMap(header -> Optional.ofNullable(header.value()))
                .map(bytes -> new String(bytes, StandardCharsets.UTF_8));
    }

    @Override
    public String toString() {
        return topic + "-" + partition + "@" + offset
                + keyText().map(text -> " key " + text).orElse("")
                + (headers.isEmpty()
                        ? ""
                        : " headers " + headers.stream().map(Header::key).toList())
                + " " + (value == null ? "null" : new String(value, StandardCharsets.UTF_8));
    }
}
