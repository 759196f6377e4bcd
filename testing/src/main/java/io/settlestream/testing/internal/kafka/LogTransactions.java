package io.settlestream.testing.internal.kafka;

import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Which offsets of a partition belong to transactions that are open or were aborted. */
final class LogTransactions {

    /** Offsets from a transaction's first record to its marker, both included. */
    private record Span(long first, long marker) {}

    /** First offset of each open transaction, by producer, oldest first. */
    private final Map<Long, Long> open = new LinkedHashMap<>();

    /** Aborted transactions by producer: the first offset of each, and its marker's. */
    private final Map<Long, TreeMap<Long, Long>> aborted = new HashMap<>();

    /** Transactions that have ended where readers may not see it yet. */
    private final Map<Long, Span> ended = new LinkedHashMap<>();

    /** A transactional record of this producer was appended. */
    void wrote(long producerId, long offset) {
        open.putIfAbsent(producerId, offset);
    }

    /** The marker of a producer's transaction was appended. */
    void ended(long producerId, long marker, boolean committed) {
        Long first = open.remove(producerId);
        if (first == null) {
            return;
        }
        ended.put(marker, new Span(first, marker));
        if (!committed) {
            aborted.computeIfAbsent(producerId, id -> new TreeMap<>()).put(first, marker);
        }
    }

    /** Whether a transactional record was aborted. */
    boolean isAborted(long producerId, long offset) {
        TreeMap<Long, Long> spans = aborted.get(producerId);
        Map.@Nullable Entry<Long, Long> span = spans == null ? null : spans.floorEntry(offset);
        return span != null && offset <= span.getValue();
    }

    /** Where the open transaction of a producer begins, or the largest offset there is if it has none. */
    long firstOpen(long producerId) {
        return open.getOrDefault(producerId, Long.MAX_VALUE);
    }

    /** The first offset that is of an open transaction, or of one whose marker lies at the high watermark or above. */
    long firstUndecided(long highWatermark) {
        long first = highWatermark;
        for (long offset : open.values()) {
            first = Math.min(first, offset);
        }
        for (Iterator<Span> spans = ended.values().iterator(); spans.hasNext(); ) {
            Span span = spans.next();
            if (span.marker() >= highWatermark) {
                first = Math.min(first, span.first());
            } else {
                spans.remove(); // the high watermark never falls
            }
        }
        return first;
    }
}
