package io.settlestream.internal.settle;

import io.settlestream.kafka.RecordCopy;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Stream;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * A record's headers for its handler. They are those of the record itself, which a retry sees again; of a copy, without those
 * that the framework has added.
 */
final class ReadOnlyHeaders implements Headers {

    private final Headers headers;
    private final boolean copy;

    /**
     * @param copy whether they are the headers of a copy
     */
    ReadOnlyHeaders(Headers headers, boolean copy) {
        this.headers = headers;
        this.copy = copy;
    }

    private boolean hidden(String key) {
        return copy && RecordCopy.isAdded(key);
    }

    @Override
    public Headers add(Header header) {
        throw readOnly();
    }

    @Override
    public Headers add(String key, byte @Nullable [] value) {
        throw readOnly();
    }

    @Override
    public Headers remove(String key) {
        throw readOnly();
    }

    @Override
    public @Nullable Header lastHeader(String key) {
        return hidden(key) ? null : headers.lastHeader(key);
    }

    @Override
    public Iterable<Header> headers(String key) {
        return hidden(key)
                ? List.of()
                : () -> new ReadOnlyIterator(headers.headers(key).iterator());
    }

    @Override
    public Header[] toArray() {
        return copy
                ? Stream.of(headers.toArray())
                        .filter(header -> !hidden(header.key()))
                        .toArray(Header[]::new)
                : headers.toArray();
    }

    @Override
    public Iterator<Header> iterator() {
        return new ReadOnlyIterator(copy ? List.of(toArray()).iterator() : headers.iterator());
    }

    /** Says how many there are, and nothing of what they hold. */
    @Override
    public String toString() {
        return "Headers[" + toArray().length + "]";
    }

    /** The exception that Kafka's own headers throw when they are read-only. */
    private static IllegalStateException readOnly() {
        return new IllegalStateException(
                "the headers of a delivery are read-only: add headers to the message that is" + " published instead");
    }

    private record ReadOnlyIterator(Iterator<Header> headers) implements Iterator<Header> {

        @Override
        public boolean hasNext() {
            return headers.hasNext();
        }

        @Override
        public Header next() {
            return headers.next();
        }

        @Override
        public void remove() {
            throw readOnly();
        }
    }
}
