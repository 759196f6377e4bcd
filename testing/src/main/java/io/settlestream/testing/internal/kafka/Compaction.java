package io.settlestream.testing.internal.kafka;

import io.settlestream.testing.internal.kafka.LogView.Stored;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Decides what the log cleaner keeps: of each key the last record. A last record without value, a tombstone, outlives the
 * compaction that meets it first and goes with the first one after its retention, so that readers who are not too slow
 * learn that the key is gone.
 */
final class Compaction {

    /** When tombstones may go, by offset. */
    private final Map<Long, Long> horizons = new HashMap<>();

    /**
     * The offsets of the records that stay.
     *
     * @param cleanable the committed records that may be cleaned, in order
     * @param now milliseconds since the epoch
     */
    Set<Long> kept(List<Stored> cleanable, long now, long deleteRetentionMs) {
        Map<ByteBuffer, Stored> last = new HashMap<>();
        for (Stored record : cleanable) {
            if (record.key() != null) {
                last.put(ByteBuffer.wrap(record.key()), record);
            }
        }
        Set<Long> kept = new HashSet<>();
        for (Stored record : last.values()) {
            if (record.value() == null) {
                Long horizon = horizons.putIfAbsent(record.offset(), now + deleteRetentionMs);
                if (horizon != null && now >= horizon) {
                    continue;
                }
            }
            kept.add(record.offset());
        }
        horizons.keySet().retainAll(kept);
        return kept;
    }
}
