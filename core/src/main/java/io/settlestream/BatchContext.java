package io.settlestream;

/**
 * What a batch handler may know about the batch in its hands.
 *
 * @param <S> the application's state, made by {@link App#onStartup}
 * @since 0.1.0
 */
public interface BatchContext<S> {

    /** The application's state. */
    S state();

    /** The number of elements, the same as the size of the list given to the handler. */
    int size();

    /**
     * The origin of one element.
     *
     * @param index 0 to {@link #size()} - 1
     * @throws IndexOutOfBoundsException if there is no such element
     */
    Context<S> element(int index);

    /** True once nobody waits for any outcome of this batch any more; see {@link Context#cancelled()}. */
    boolean cancelled();

    /** Publishes through the broker this batch came from, with the broker's defaults. */
    Publisher publisher();
}
