package io.settlestream.testing.internal.kafka;

import java.util.List;
import java.util.Map;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/** Asks a partition's leader to append one batch of records. */
record Produce(Sender sender, List<NewRecord> records, int bytes) {

    /**
     * Who sends, and what the log knows a repeated batch by.
     *
     * @param producerId {@link #NO_ID} for a producer that is not idempotent
     * @param sequence of the first record, counted per partition and epoch
     */
    record Sender(long producerId, short epoch, int sequence, boolean transactional) {

        static final long NO_ID = -1;

        static final Sender ANYONE = new Sender(NO_ID, (short) -1, -1, false);

        boolean isIdempotent() {
            return producerId != NO_ID;
        }
    }

    /** A record that has no offset yet. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record NewRecord(long timestamp, byte @Nullable [] key, byte @Nullable [] value, Headers headers) {}

    /** What the leader answers. */
    sealed interface Answer {}

    /**
     * The records lie in the log, since now or since an earlier attempt.
     *
     * @param logAppendTime the timestamp that the broker gave to all of them, or -1 if they kept theirs
     */
    record Appended(long baseOffset, long logAppendTime) implements Answer {}

    /**
     * None of the records lies in the log.
     *
     * @param invalid what is wrong with single records, by their index; empty if the batch failed as a whole
     */
    record Refused(ApiException error, Map<Integer, String> invalid) implements Answer {

        Refused(ApiException error) {
            this(error, Map.of());
        }
    }
}
