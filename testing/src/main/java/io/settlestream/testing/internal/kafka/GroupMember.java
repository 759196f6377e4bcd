package io.settlestream.testing.internal.kafka;

import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;

/**
 * A member of a group as an operator sees it.
 *
 * @param epoch the generation of a classic group's member
 * @param bare whether an operator added it: it owns partitions and does nothing
 */
public record GroupMember(
        String memberId, Optional<String> instanceId, int epoch, Set<TopicPartition> assigned, boolean bare) {}
