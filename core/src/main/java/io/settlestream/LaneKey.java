package io.settlestream;

/**
 * What {@code workersByKey} keeps in order.
 *
 * @since 0.1.0
 */
public enum LaneKey {
    /** Records of one partition run one after the other. The default. */
    PARTITION,
    /**
     * Records with equal key bytes within one topic run one after the other; a record without a key goes with the
     * keyless records of its partition.
     */
    RECORD_KEY
}
