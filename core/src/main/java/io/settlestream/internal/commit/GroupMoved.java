package io.settlestream.internal.commit;

import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.common.errors.FencedMemberEpochException;
import org.apache.kafka.common.errors.IllegalGenerationException;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.StaleMemberEpochException;
import org.apache.kafka.common.errors.UnknownMemberIdException;

/**
 * Errors that say nothing but that the group has moved on since this member last heard of it: a rebalance is under way,
 * or the member was taken for dead and joins again. The consumer brings the news with one of its next polls, so whoever
 * gets such an error leaves it at that.
 */
public final class GroupMoved {

    private GroupMoved() {}

    /** Whether a call failed for that reason. */
    public static boolean isWhy(Throwable failure) {
        return failure instanceof CommitFailedException
                || failure instanceof RebalanceInProgressException
                || failure instanceof IllegalGenerationException
                || failure instanceof UnknownMemberIdException
                || failure instanceof StaleMemberEpochException
                || failure instanceof FencedMemberEpochException;
    }
}
