package io.settlestream.testing.internal.kafka;

import io.settlestream.testing.internal.kafka.Produce.NewRecord;
import io.settlestream.testing.internal.kafka.Produce.Refused;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.jspecify.annotations.Nullable;

/** What a broker looks for in each record before it appends the batch. One bad record spoils its batch. */
final class RecordChecks {

    private RecordChecks() {}

    static @Nullable Refused check(String partition, TopicSettings settings, List<NewRecord> records, long now) {
        Map<Integer, String> keyless = new LinkedHashMap<>();
        Map<Integer, String> untimely = new LinkedHashMap<>();
        for (int i = 0; i < records.size(); i++) {
            NewRecord record = records.get(i);
            if (settings.compacted() && record.key() == null) {
                keyless.put(
                        i, "Compacted topic cannot accept message without key in topic partition " + partition + ".");
            }
            if (!settings.logAppendTime() && !isTimely(record.timestamp(), settings, now)) {
                untimely.put(
                        i,
                        "Timestamp " + record.timestamp() + " of message with offset " + i
                                + " is out of range. The timestamp should be within ["
                                + (now - settings.timestampBeforeMaxMs()) + ", "
                                + (now + settings.timestampAfterMaxMs()) + "]");
            }
        }
        if (!keyless.isEmpty()) {
            return new Refused(
                    new InvalidRecordException("One or more records have been rejected due to " + keyless.size()
                            + " record errors in total"),
                    keyless);
        }
        if (!untimely.isEmpty()) {
            return new Refused(
                    new InvalidTimestampException("One or more records have been rejected due to invalid timestamp"),
                    untimely);
        }
        return null;
    }

    private static boolean isTimely(long timestamp, TopicSettings settings, long now) {
        return timestamp - now <= settings.timestampAfterMaxMs() && now - timestamp <= settings.timestampBeforeMaxMs();
    }
}
