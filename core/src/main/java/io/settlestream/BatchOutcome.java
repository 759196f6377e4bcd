package io.settlestream;

import java.util.List;

/**
 * How a batch handler answers one batch: one {@link HandlerOutcome} for all elements, or one per element.
 *
 * @since 0.1.0
 */
public sealed interface BatchOutcome permits HandlerOutcome, BatchOutcome.Each {

    /** Every element is {@link HandlerOutcome#ack() acked}. */
    static BatchOutcome ackAll() {
        return HandlerOutcome.ack();
    }

    /**
     * Entry {@code i} settles element {@code i} on its own partition. A list that is too short leaves the rest to be
     * retried; surplus entries are ignored; both are logged and counted.
     *
     * @param outcomes one outcome per element, in the order of the batch
     */
    static BatchOutcome each(List<? extends HandlerOutcome> outcomes) {
        return new Each(List.copyOf(outcomes));
    }

    /**
     * One outcome per element.
     *
     * @param outcomes in the order of the batch
     */
    record Each(List<HandlerOutcome> outcomes) implements BatchOutcome {}
}
