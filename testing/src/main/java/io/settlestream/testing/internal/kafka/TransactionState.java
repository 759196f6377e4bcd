package io.settlestream.testing.internal.kafka;

import java.util.EnumSet;
import java.util.Set;

/**
 * Where a transactional producer stands, by the names that Kafka's errors call it.
 *
 * <pre>
 * UNINITIALIZED -> INITIALIZING -> READY -> IN_TRANSACTION -> COMMITTING_TRANSACTION -> READY
 *                                                          -> ABORTING_TRANSACTION   -> READY
 * ABORTABLE_ERROR from INITIALIZING, IN_TRANSACTION, COMMITTING_TRANSACTION; it leads to ABORTING_TRANSACTION only
 * FATAL_ERROR from anywhere, and to nowhere
 * </pre>
 */
enum TransactionState {
    UNINITIALIZED,
    INITIALIZING,
    READY,
    IN_TRANSACTION,
    COMMITTING_TRANSACTION,
    ABORTING_TRANSACTION,
    ABORTABLE_ERROR,
    FATAL_ERROR;

    boolean mayBecome(TransactionState next) {
        return switch (next) {
            case UNINITIALIZED -> false;
            case INITIALIZING -> this == UNINITIALIZED;
            case READY -> isOf(INITIALIZING, COMMITTING_TRANSACTION, ABORTING_TRANSACTION);
            case IN_TRANSACTION -> this == READY;
            case COMMITTING_TRANSACTION -> this == IN_TRANSACTION;
            case ABORTING_TRANSACTION -> isOf(IN_TRANSACTION, ABORTABLE_ERROR);
            case ABORTABLE_ERROR -> isOf(INITIALIZING, IN_TRANSACTION, COMMITTING_TRANSACTION, ABORTABLE_ERROR);
            case FATAL_ERROR -> true;
        };
    }

    boolean isCompleting() {
        return this == COMMITTING_TRANSACTION || this == ABORTING_TRANSACTION;
    }

    boolean isError() {
        return this == ABORTABLE_ERROR || this == FATAL_ERROR;
    }

    /** Whether there is a transaction that has not ended. */
    boolean isOngoing() {
        return isOf(IN_TRANSACTION, COMMITTING_TRANSACTION, ABORTING_TRANSACTION, ABORTABLE_ERROR);
    }

    private boolean isOf(TransactionState first, TransactionState... others) {
        Set<TransactionState> states = EnumSet.of(first, others);
        return states.contains(this);
    }
}
