package io.settlestream;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A message to publish: a value with, if wanted, a key, headers, a partition and a topic. Immutable: every method that
 * adds something returns a new message.
 *
 * <pre>{@code
 * Message.of(new Paid(payout.id())).key(payout.account()).header("origin", "payouts")
 * }</pre>
 *
 * @param <T> the value's type
 * @since 0.1.0
 */
public final class Message<T> {

    private final T value;
    private final byte @Nullable [] key;
    private final List<MessageHeader> headers;
    private final @Nullable Integer partition;
    private final @Nullable String topic;

    private Message(
            T value,
            byte @Nullable [] key,
            List<MessageHeader> headers,
            @Nullable Integer partition,
            @Nullable String topic) {
        this.value = value;
        this.key = key;
        this.headers = headers;
        this.partition = partition;
        this.topic = topic;
    }

    /** A message with a value and nothing else. */
    public static <T> Message<T> of(T value) {
        return new Message<>(Objects.requireNonNull(value, "value"), null, List.of(), null, null);
    }

    /** This message with a key. */
    public Message<T> key(byte[] key) {
        return new Message<>(value, Objects.requireNonNull(key, "key"), headers, partition, topic);
    }

    /** This message with a key, encoded as UTF-8. */
    public Message<T> key(String key) {
        return key(key.getBytes(StandardCharsets.UTF_8));
    }

    /** This message with one more header. Headers may repeat a name. */
    public Message<T> header(String name, byte @Nullable [] headerValue) {
        List<MessageHeader> more = new ArrayList<>(headers);
        more.add(new MessageHeader(name, headerValue));
        return new Message<>(value, key, Collections.unmodifiableList(more), partition, topic);
    }

    /** This message with one more header, its value encoded as UTF-8. */
    public Message<T> header(String name, String headerValue) {
        return header(name, headerValue.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * This message bound to a partition, which counts more than its key.
     *
     * @throws IllegalArgumentException if {@code partition} is negative
     */
    public Message<T> partition(int partition) {
        if (partition < 0) {
            throw new IllegalArgumentException("partition must be 0 or more, but is " + partition);
        }
        return new Message<>(value, key, headers, partition, topic);
    }

    /** This message bound to a topic. Refused when publishing if the type or the site names one too. */
    public Message<T> to(String topic) {
        return new Message<>(value, key, headers, partition, Objects.requireNonNull(topic, "topic"));
    }

    /** What to publish. */
    public T value() {
        return value;
    }

    /** The record's key, or null for none. The array is not copied: treat it as read-only. */
    public byte @Nullable [] key() {
        return key;
    }

    /** The headers, in the order in which they are sent. */
    public List<MessageHeader> headers() {
        return headers;
    }

    /** The partition to write to, or null to let the key, or without one Kafka's partitioner, choose it. */
    public @Nullable Integer partition() {
        return partition;
    }

    /** The topic to write to, or null when {@link Outgoing} or the publishing site names it. */
    public @Nullable String topic() {
        return topic;
    }

    /** Says what kind of message this is, and nothing of what it holds. */
    @Override
    public String toString() {
        return "Message[" + value.getClass().getSimpleName() + "]";
    }
}
