package io.settlestream.internal.settle;

import java.util.Iterator;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/** A record's headers for its handler. They are those of the record itself, which a retry sees again. */
final class ReadOnlyHeaders implements Headers {

    private final Headers headers;

    ReadOnlyHeaders(Headers headers) {
        this.headers = headers;
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
        return headers.lastHeader(key);
    }

    @Override
    public Iterable<Header> headers(String key) {
        return () -> new ReadOnlyIterator(headers.headers(key).iterator());
    }

    @Override
    public Header[] toArray() {
        return headers.toArray();
    }

    @Override
    public Iterator<Header> iterator() {
        return new ReadOnlyIterator(headers.iterator());
    }

    /** Says how many there are, and nothing of what they hold. */
    @Override
    public String toString() {
        return "Headers[" + headers.toArray().length + "]";
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
