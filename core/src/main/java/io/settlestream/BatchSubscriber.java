package io.settlestream;

import java.util.function.IntFunction;

/**
 * A batch handler bound to its topic. It can be included once its largest batch size is named.
 *
 * @param <T> the decoded value
 * @param <S> the application's state that the handler needs
 * @since 0.1.0
 */
@SuppressWarnings("UnusedTypeParameter") // the compiler holds handlers and applications to them
public final class BatchSubscriber<T, S> {

    private final IntFunction<Subscriber<T, S>> sized;

    BatchSubscriber(IntFunction<Subscriber<T, S>> sized) {
        this.sized = sized;
    }

    /**
     * Names the largest batch. A batch never waits to become larger: it is one record plus whatever had been fetched.
     *
     * @throws IllegalArgumentException if {@code maxSize} is less than 1
     */
    public Subscriber<T, S> batch(int maxSize) {
        if (maxSize < 1) {
            throw new IllegalArgumentException("a batch holds at least 1 element, but maxSize is " + maxSize);
        }
        return sized.apply(maxSize);
    }
}
