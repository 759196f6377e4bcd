package io.settlestream.internal.poll;

/** How a consumer comes to its partitions. Belongs to the poll thread. */
sealed interface Assigner permits GroupAssigner, ManualAssigner {

    /** Tells the consumer what is read. */
    void begin();

    /** Whether to {@link #look}. */
    boolean looks();

    /**
     * Looks for what was missing.
     *
     * @throws org.apache.kafka.common.errors.RetriableException if the cluster does not say in time
     */
    void look();

    /** Nanoseconds until {@link #looks} holds again, at the most. */
    long untilNextLook();

    /** Whether there is something to poll for. */
    boolean polls();
}
