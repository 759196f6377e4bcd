package io.settlestream.testing.internal.kafka;

import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;

/** The client's side of its group. Belongs to the thread that uses the consumer. */
sealed interface Membership permits ClassicMembership, ConsumerMembership {

    /** Does what is due: joins, gives back, takes, and calls the listener. Never waits. */
    void poll();

    /** With the lock: whether {@link #poll} has something to do. */
    boolean due();

    /** When {@link #poll} is due at the latest, on the host's clock. */
    long dueAt();

    /** The consumer begins or ends a wait inside of a poll. */
    void waits(boolean inPoll);

    /** What commits are made as by a consumer that has subscribed. */
    ConsumerGroupMetadata forCommit();

    /** What the application sees when the coordinator refuses a commit. */
    RuntimeException refused(RuntimeException refusal);

    ConsumerGroupMetadata metadata();

    /** The application has subscribed to something else. */
    void subscriptionChanged();

    /** Gives everything back; the listener hears of it. */
    void release();

    /** Leaves the group. */
    void leave(Leave how);

    /** How a member leaves. */
    enum Leave {
        /** A dynamic member leaves; a static one is expected back. */
        DEFAULT,
        FOR_GOOD,
        REMAIN
    }

    void enforceRebalance();

    /**
     * With the lock: the process has crashed.
     *
     * @param atOnce whether the group notices now, and not when the session ends
     */
    void crash(boolean atOnce);
}
