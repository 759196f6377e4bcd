package io.settlestream.testing.internal.kafka;

import io.settlestream.testing.internal.kafka.Produce.Answer;
import io.settlestream.testing.internal.kafka.Produce.Appended;
import io.settlestream.testing.internal.kafka.Produce.NewRecord;
import io.settlestream.testing.internal.kafka.Produce.Refused;
import io.settlestream.testing.internal.kafka.Produce.Sender;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.OffsetOutOfRangeException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;

/**
 * A partition's log, as its leader keeps it.
 *
 * <p>Offsets are given out one by one to records and to the markers that end transactions, and never again; compaction
 * and trimming leave gaps. Readers see what lies below the <em>high watermark</em>. With one replica that is the end of
 * the log, except while the log is paused: then it stands still, as if followers had stopped to fetch, and what is
 * appended meanwhile comes into sight, in the same order, when the log goes on.
 *
 * <p>The <em>last stable offset</em> is where a transaction begins that readers cannot see the end of. A transaction that
 * ended behind a high watermark that stands still is such a one too.
 *
 * <p>A read that comes to the end of what is visible says so by a next offset there, past markers and gaps; one that
 * stops because it has enough ends right behind its last record. A client's position moves the same way: it passes
 * markers when the records before them were handed out and the next poll looks for more.
 *
 * <p>With the cluster's lock.
 */
final class PartitionLog implements LogView {

    /** What has an offset. */
    private sealed interface Entry {
        Stored record();
    }

    private record Data(Stored record, long producerId, boolean transactional) implements Entry {}

    /** The end of a transaction, which readers skip but which a search by time finds. */
    private record Marker(Stored record) implements Entry {}

    private static final byte[] NOTHING = new byte[0];

    private final String name;
    private final TopicSettings settings;
    private final Host host;
    private final NavigableMap<Long, Entry> entries = new TreeMap<>();
    private final ProducerEpochs producers = new ProducerEpochs();
    private final LogTransactions transactions = new LogTransactions();
    private final Compaction compaction = new Compaction();
    private long start;
    private long end;
    private int leaderEpoch;
    private long pausedAt = -1;

    PartitionLog(String topic, int partition, TopicSettings settings, Host host) {
        this.name = topic + "-" + partition;
        this.settings = settings;
        this.host = host;
    }

    /** Appends a batch, or finds it in the log, or refuses it. */
    Answer append(Produce batch) {
        List<NewRecord> records = batch.records();
        Sender sender = batch.sender();
        if (batch.bytes() > settings.maxMessageBytes()) {
            return new Refused(new RecordTooLargeException("The record batch size in the append to " + name + " is "
                    + batch.bytes() + " bytes which exceeds the maximum configured value of "
                    + settings.maxMessageBytes() + "."));
        }
        long now = host.now().toEpochMilli();
        Refused invalid = RecordChecks.check(name, settings, records, now);
        if (invalid != null) {
            return invalid;
        }
        if (sender.isIdempotent()) {
            try {
                Appended already = producers.check(name, sender, records.size());
                if (already != null) {
                    return already;
                }
            } catch (ApiException refused) {
                return new Refused(refused);
            }
        }
        return store(records, sender, now);
    }

    /** Ends the transaction of a producer here, if it has one, and fences its earlier epochs. */
    void endTransaction(long producerId, short epoch, boolean committed) {
        Stored marker = new Stored(
                end,
                host.now().toEpochMilli(),
                settings.logAppendTime() ? TimestampType.LOG_APPEND_TIME : TimestampType.CREATE_TIME,
                NOTHING,
                NOTHING,
                copy(null),
                leaderEpoch);
        entries.put(end, new Marker(marker));
        transactions.ended(producerId, end, committed);
        producers.fence(producerId, epoch);
        end++;
    }

    @Override
    public long startOffset() {
        return start;
    }

    @Override
    public long endOffset() {
        return pausedAt >= 0 ? Math.max(pausedAt, start) : end;
    }

    @Override
    public long lastStableOffset() {
        return Math.max(start, transactions.firstUndecided(endOffset()));
    }

    @Override
    public int leaderEpoch() {
        return leaderEpoch;
    }

    @Override
    public Read read(long offset, boolean committed, int maxRecords, int maxBytes) {
        long limit = limit(committed);
        List<Stored> found = new ArrayList<>();
        Integer epoch = null;
        long bytes = 0;
        for (Entry entry : entries.subMap(offset, Math.max(offset, limit)).values()) {
            if (isShown(entry, committed)) {
                Stored record = entry.record();
                if (!found.isEmpty() && (found.size() >= maxRecords || bytes + record.bytes() > maxBytes)) {
                    return new Read(
                            found, found.getLast().offset() + 1, found.getLast().leaderEpoch());
                }
                bytes += record.bytes();
                found.add(record);
            }
            epoch = entry.record().leaderEpoch();
        }
        if (found.size() == maxRecords) {
            return new Read(found, found.getLast().offset() + 1, found.getLast().leaderEpoch());
        }
        return new Read(found, Math.max(offset, limit), epoch);
    }

    @Override
    public @Nullable Stored firstSince(long timestamp, boolean committed) {
        // The broker looks the time up in batches without asking what they are, so markers and aborted records count.
        for (Entry entry :
                entries.subMap(start, Math.max(start, limit(committed))).values()) {
            if (entry.record().timestamp() >= timestamp) {
                return entry.record();
            }
        }
        return null;
    }

    /** All records as they are stored, from the first on; without those of transactions that are open or were aborted. */
    List<Stored> committed() {
        return entries.values().stream()
                .filter(entry -> entry instanceof Data data
                        && (!data.transactional()
                                || (data.record().offset() < transactions.firstOpen(data.producerId())
                                        && !transactions.isAborted(
                                                data.producerId(), data.record().offset()))))
                .map(Entry::record)
                .toList();
    }

    /** All records as they are stored, whatever became or becomes of their transactions. */
    List<Stored> all() {
        return entries.values().stream()
                .filter(Data.class::isInstance)
                .map(Entry::record)
                .toList();
    }

    /**
     * Deletes what lies before an offset, as retention and {@code Admin.deleteRecords} do.
     *
     * @throws OffsetOutOfRangeException if the offset is above the high watermark
     */
    void deleteRecordsBefore(long offset) {
        if (offset < 0 || offset > endOffset()) {
            throw new OffsetOutOfRangeException("Records of " + name + " can be deleted before an offset from 0 to "
                    + endOffset() + ", its high watermark, not before " + offset);
        }
        if (offset > start) {
            start = offset;
            entries.headMap(offset).clear();
        }
    }

    /**
     * Compacts what the log cleaner may compact.
     *
     * @throws IllegalStateException if the topic is not a compacted one
     */
    void compact() {
        if (!settings.compacted()) {
            throw new IllegalStateException("The topic of " + name
                    + " is not compacted: create it with cleanup.policy=compact, or trim it instead");
        }
        long now = host.now().toEpochMilli();
        long below = transactions.firstUndecided(endOffset());
        List<Stored> cleanable = new ArrayList<>();
        for (Entry entry : entries.headMap(below).values()) {
            if (settings.minCompactionLagMs() > 0 && entry.record().timestamp() > now - settings.minCompactionLagMs()) {
                below = entry.record().offset();
                break;
            }
            if (isShown(entry, true)) {
                cleanable.add(entry.record());
            }
        }
        var kept = compaction.kept(cleanable, now, settings.deleteRetentionMs());
        entries.headMap(below)
                .values()
                .removeIf(entry ->
                        entry instanceof Data && !kept.contains(entry.record().offset()));
    }

    /** Readers see nothing new until {@link #resume}. */
    void pause() {
        if (pausedAt < 0) {
            pausedAt = end;
        }
    }

    void resume() {
        pausedAt = -1;
    }

    /** Another leader takes over: what is appended from now on has the next epoch. */
    void changeLeader() {
        leaderEpoch++;
    }

    private long limit(boolean committed) {
        return committed ? lastStableOffset() : endOffset();
    }

    private boolean isShown(Entry entry, boolean committed) {
        return switch (entry) {
            case Marker ignored -> false;
            case Data data ->
                !committed
                        || !data.transactional()
                        || !transactions.isAborted(
                                data.producerId(), data.record().offset());
        };
    }

    private Appended store(List<NewRecord> records, Sender sender, long now) {
        boolean brokersTime = settings.logAppendTime();
        Appended where = new Appended(end, brokersTime ? now : -1);
        for (NewRecord record : records) {
            Stored stored = new Stored(
                    end,
                    brokersTime ? now : record.timestamp(),
                    brokersTime ? TimestampType.LOG_APPEND_TIME : TimestampType.CREATE_TIME,
                    record.key(),
                    record.value(),
                    copy(record.headers()),
                    leaderEpoch);
            entries.put(end, new Data(stored, sender.producerId(), sender.transactional()));
            if (sender.transactional()) {
                transactions.wrote(sender.producerId(), end);
            }
            end++;
        }
        if (sender.isIdempotent()) {
            producers.appended(sender, records.size(), where);
        }
        return where;
    }

    /** Kafka has no public way to make headers but a record that copies them. */
    static Headers copy(@Nullable Headers headers) {
        return new ProducerRecord<byte[], byte[]>("copy", null, null, null, headers).headers();
    }
}
