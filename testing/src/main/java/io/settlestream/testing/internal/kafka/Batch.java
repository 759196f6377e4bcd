package io.settlestream.testing.internal.kafka;

import io.settlestream.testing.internal.kafka.Produce.Answer;
import io.settlestream.testing.internal.kafka.Produce.NewRecord;
import io.settlestream.testing.internal.kafka.Produce.Sender;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Records of one producer for one partition that go together: filled, sent, maybe sent again, reported. With the
 * cluster's lock, except that the reports are told without it.
 */
final class Batch {

    private final TopicPartition partition;
    private final long created;
    private final int capacity;
    private final List<SentRecord> records = new ArrayList<>();
    private int bytes = RecordBytes.BATCH_HEADER;
    private boolean closed;

    /** How many attempts have failed. */
    private int attempts;

    /** When the next attempt may be made, on the host's clock; means nothing before the first has failed. */
    private long retryAt;

    /** By what the leader knows the batch; kept through all attempts once it was sent. */
    private @Nullable Sender sender;

    private @Nullable Answer answer;
    private long answerAt;

    Batch(TopicPartition partition, long created, int capacity) {
        this.partition = partition;
        this.created = created;
        this.capacity = capacity;
    }

    TopicPartition partition() {
        return partition;
    }

    /** When it was begun, on the host's clock. */
    long created() {
        return created;
    }

    /** What it takes of the producer's memory, full or not. */
    int capacity() {
        return capacity;
    }

    int bytes() {
        return bytes;
    }

    List<SentRecord> records() {
        return records;
    }

    boolean hasRoomFor(NewRecord record) {
        return !closed && (records.isEmpty() || bytes + size(record) <= capacity);
    }

    int add(SentRecord record) {
        int size = size(record.record());
        bytes += size;
        records.add(record);
        return size;
    }

    boolean isFull() {
        return closed || (!records.isEmpty() && bytes >= capacity);
    }

    /** Takes no more records. */
    void close() {
        closed = true;
    }

    Produce request() {
        return new Produce(
                sender == null ? Sender.ANYONE : sender,
                records.stream().map(SentRecord::record).toList(),
                bytes);
    }

    @Nullable
    Sender sender() {
        return sender;
    }

    void sendAs(@Nullable Sender as) {
        sender = as;
    }

    int attempts() {
        return attempts;
    }

    long retryAt() {
        return retryAt;
    }

    void retryAt(long when) {
        attempts++;
        retryAt = when;
        answer = null;
    }

    /** The answer is on its way. */
    void answered(Answer by, long at) {
        answer = by;
        answerAt = at;
    }

    @Nullable
    Answer answer() {
        return answer;
    }

    long answerAt() {
        return answerAt;
    }

    /** The same records in two batches, for a topic that takes only smaller ones. */
    List<Batch> split() {
        int half = records.size() / 2;
        return List.of(part(records.subList(0, half)), part(records.subList(half, records.size())));
    }

    private Batch part(List<SentRecord> some) {
        int size = RecordBytes.BATCH_HEADER;
        Batch part = new Batch(partition, created, 0);
        for (SentRecord record : some) {
            size += part.add(record);
        }
        assert part.bytes == size;
        part.close();
        return part;
    }

    private int size(NewRecord record) {
        long since = records.isEmpty()
                ? 0
                : record.timestamp() - records.getFirst().record().timestamp();
        return RecordBytes.inBatch(record.key(), record.value(), record.headers(), since, records.size());
    }
}
