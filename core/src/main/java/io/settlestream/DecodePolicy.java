package io.settlestream;

import java.util.Objects;
import java.util.function.Function;

/**
 * What settles a record whose bytes cannot be decoded. Such a record never reaches the handler.
 *
 * @since 0.1.0
 */
public sealed interface DecodePolicy {

    /** The record is settled, logged and counted. The default without a dead-letter topic. */
    DecodePolicy DROP = Fixed.DROP;

    /**
     * The record goes to the dead-letter topic, its bytes as they arrived. The default where {@link Mount#deadLetter} names
     * a topic, else refused.
     */
    DecodePolicy DEAD_LETTER = Fixed.DEAD_LETTER;

    /** The record stays open and the service stops gracefully as failed. */
    DecodePolicy FAIL_FAST = Fixed.FAIL_FAST;

    /** The record is decoded again, with back-off, until it can be or {@link Mount#maxAttempts} is met. Not under Auto. */
    DecodePolicy RETRY = Fixed.RETRY;

    /**
     * Chooses by what the codec said. A choice that the subscription has no way to follow, such as {@link #DEAD_LETTER}
     * without a dead-letter topic, counts as {@link #FAIL_FAST}; so does a choice that throws or is null.
     *
     * @param choice called on the lane's thread, with what the codec threw or, if it threw something else, what is told of it
     */
    static DecodePolicy byCause(Function<? super DecodeException, ? extends DecodePolicy> choice) {
        return new ByCause(choice);
    }

    /** A policy that is the same for all bytes. */
    enum Fixed implements DecodePolicy {
        DROP,
        DEAD_LETTER,
        FAIL_FAST,
        RETRY
    }

    /**
     * The policy of {@link DecodePolicy#byCause}.
     *
     * @param choice chooses
     */
    record ByCause(Function<? super DecodeException, ? extends DecodePolicy> choice) implements DecodePolicy {

        /** Needs a function. */
        public ByCause {
            Objects.requireNonNull(choice, "choice");
        }

        @Override
        public String toString() {
            return "BY_CAUSE";
        }
    }
}
