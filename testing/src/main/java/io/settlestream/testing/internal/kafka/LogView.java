package io.settlestream.testing.internal.kafka;

import java.util.List;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;

/** What readers see of a partition's log. All of it is called with the cluster's lock. */
public interface LogView {

    /** A record as it lies in the log. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Stored(
            long offset,
            long timestamp,
            TimestampType timestampType,
            byte @Nullable [] key,
            byte @Nullable [] value,
            Headers headers,
            int leaderEpoch) {

        /** The sizes of key and value; -1 for null, as a consumer reports them. */
        int keySize() {
            return key == null ? -1 : key.length;
        }

        int valueSize() {
            return value == null ? -1 : value.length;
        }

        /** What it counts against {@code fetch.max.bytes} and the like. */
        int bytes() {
            return Math.max(0, keySize()) + Math.max(0, valueSize()) + 70;
        }
    }

    /**
     * What a read found.
     *
     * @param records in the order of offsets, maybe none although the log goes on: there may be only markers, aborted
     *     or compacted records
     * @param nextOffset where to read on; beyond the last record if markers, aborted or compacted records follow it
     * @param leaderEpoch of the last batch passed, or null if none was passed
     */
    record Read(
            List<Stored> records, long nextOffset, @Nullable Integer leaderEpoch) {}

    /** The first offset that can be read. */
    long startOffset();

    /** The high watermark: the offset that the next record takes. */
    long endOffset();

    /** The first offset of the oldest open transaction, or {@link #endOffset()}. */
    long lastStableOffset();

    int leaderEpoch();

    /**
     * Reads on from an offset, which lies between start and end.
     *
     * @param committed whether to stop at the last stable offset and skip aborted records (read_committed)
     * @param maxRecords at most so many
     * @param maxBytes at most so many bytes, but always one record
     */
    Read read(long offset, boolean committed, int maxRecords, int maxBytes);

    /** The first record from an offset on whose timestamp is at least {@code timestamp}, as ListOffsets answers; or null. */
    @Nullable
    Stored firstSince(long timestamp, boolean committed);
}
