package io.settlestream.testing.internal.kafka;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/** The committed offsets of a group, and those of open transactions, which are pending. */
final class GroupOffsets {

    private final Map<TopicPartition, OffsetAndMetadata> committed = new LinkedHashMap<>();
    private final Map<Long, Map<TopicPartition, OffsetAndMetadata>> pending = new HashMap<>();

    Map<TopicPartition, OffsetAndMetadata> committed() {
        return committed;
    }

    void commit(Map<TopicPartition, OffsetAndMetadata> offsets) {
        committed.putAll(offsets);
    }

    /** Whether no transaction is open that may yet change one of these. */
    boolean stable(Set<TopicPartition> partitions) {
        return pending.values().stream()
                .noneMatch(offsets -> offsets.keySet().stream().anyMatch(partitions::contains));
    }

    void addPending(long producerId, Map<TopicPartition, OffsetAndMetadata> offsets) {
        pending.computeIfAbsent(producerId, id -> new LinkedHashMap<>()).putAll(offsets);
    }

    void complete(long producerId, boolean commit) {
        Map<TopicPartition, OffsetAndMetadata> offsets = pending.remove(producerId);
        if (offsets != null && commit) {
            committed.putAll(offsets);
        }
    }
}
