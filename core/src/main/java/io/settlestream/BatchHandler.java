package io.settlestream;

import java.util.List;

/**
 * Handles a batch: one record plus whatever had been fetched already, at most as many as the mount site names. Elements
 * keep the order of their partition; a batch may span partitions.
 *
 * @param <T> the decoded value
 * @param <S> the application's state
 * @since 0.1.0
 */
@FunctionalInterface
public interface BatchHandler<T, S> {

    /**
     * Handles one batch.
     *
     * @param values at least one decoded value, unmodifiable
     * @param context where the elements come from
     * @return one outcome for all, or one per element; null is treated as a thrown exception
     * @throws Exception settles every element by the mount site's {@link ExceptionPolicy}
     */
    BatchOutcome handle(List<T> values, BatchContext<S> context) throws Exception;
}
