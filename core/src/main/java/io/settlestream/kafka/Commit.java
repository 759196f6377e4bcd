package io.settlestream.kafka;

/**
 * What a subscription commits, and when.
 *
 * @since 0.1.0
 */
public sealed interface Commit {

    /**
     * The position moves as a record is handed to a handler and is committed on {@code auto.commit.interval.ms}, at
     * revocation and at close. A crash repeats handled records or skips records that were handed over but not finished.
     * The default.
     */
    static Commit auto() {
        return Auto.INSTANCE;
    }

    /**
     * Nothing is committed past a delivery that is not settled: at-least-once, whatever the order in which workers
     * finish. A crash or rebalance repeats what was not committed yet.
     */
    static Commit tracked() {
        return Tracked.INSTANCE;
    }

    /** The mode of {@link Commit#auto()}. */
    enum Auto implements Commit {
        INSTANCE;

        @Override
        public String toString() {
            return "Commit.auto()";
        }
    }

    /** The mode of {@link Commit#tracked()}. */
    enum Tracked implements Commit {
        INSTANCE;

        @Override
        public String toString() {
            return "Commit.tracked()";
        }
    }
}
