package io.settlestream.testing.internal.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.settlestream.testing.internal.kafka.LogView.Read;
import io.settlestream.testing.internal.kafka.LogView.Stored;
import io.settlestream.testing.internal.kafka.Produce.Appended;
import io.settlestream.testing.internal.kafka.Produce.NewRecord;
import io.settlestream.testing.internal.kafka.Produce.Refused;
import io.settlestream.testing.internal.kafka.Produce.Sender;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.errors.InvalidConfigurationException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.OffsetOutOfRangeException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class PartitionLogTest {

    private final RealTimeHost host = new RealTimeHost();
    private final PartitionLog log = log(Map.of());

    @AfterEach
    void close() {
        host.close();
    }

    @Test
    @DisplayName("records take offsets one by one, and a read goes on behind its last record")
    void offsets() {
        append(Sender.ANYONE, "a", "b", "c");

        Read first = log.read(0, true, 2, 1 << 20);

        assertThat(values(first)).containsExactly("a", "b");
        assertThat(first.nextOffset()).isEqualTo(2);
        assertThat(values(log.read(2, true, 10, 1 << 20))).containsExactly("c");
        assertThat(log.endOffset()).isEqualTo(3);
    }

    @Test
    @DisplayName("a read brings one record however few bytes it may bring")
    void oneRecordAlways() {
        append(Sender.ANYONE, "a", "b");

        assertThat(values(log.read(0, false, 10, 1))).containsExactly("a");
    }

    @Test
    @DisplayName("an open transaction holds the last stable offset, and hides what follows it from read_committed")
    void openTransaction() {
        append(Sender.ANYONE, "before");
        append(transactional(7, 0), "open");
        append(Sender.ANYONE, "after");

        assertThat(log.lastStableOffset()).isEqualTo(1);
        assertThat(values(log.read(0, true, 10, 1 << 20))).containsExactly("before");
        assertThat(values(log.read(0, false, 10, 1 << 20))).containsExactly("before", "open", "after");
        assertThat(log.committed()).extracting(this::value).containsExactly("before", "after");
    }

    @Test
    @DisplayName("a marker takes an offset, aborted records are skipped, and the next offset lies behind both")
    void abortedTransaction() {
        append(transactional(7, 0), "aborted");
        append(transactional(8, 0), "kept");
        log.endTransaction(7, (short) 0, false);
        log.endTransaction(8, (short) 0, true);

        Read read = log.read(0, true, 10, 1 << 20);

        assertThat(values(read)).containsExactly("kept");
        assertThat(read.nextOffset()).isEqualTo(4).isEqualTo(log.endOffset());
        assertThat(values(log.read(0, false, 10, 1 << 20))).containsExactly("aborted", "kept");
        assertThat(log.all()).extracting(this::value).containsExactly("aborted", "kept");
        assertThat(log.committed()).extracting(this::value).containsExactly("kept");
    }

    @Test
    @DisplayName("a producer's records after its aborted transaction are not aborted with it")
    void abortedThenCommitted() {
        append(transactional(7, 0), "aborted");
        log.endTransaction(7, (short) 0, false);
        append(transactional(7, 1), "kept");
        log.endTransaction(7, (short) 0, true);

        assertThat(values(log.read(0, true, 10, 1 << 20))).containsExactly("kept");
    }

    @Test
    @DisplayName("only markers to read moves the position to the end")
    void onlyMarkers() {
        append(transactional(7, 0), "aborted");
        log.endTransaction(7, (short) 0, false);

        Read read = log.read(0, true, 10, 1 << 20);

        assertThat(read.records()).isEmpty();
        assertThat(read.nextOffset()).isEqualTo(2);
        assertThat(read.leaderEpoch()).isEqualTo(0);
    }

    @Test
    @DisplayName("a paused log takes records and shows none of them, nor the end of a transaction, until it goes on")
    void paused() {
        append(Sender.ANYONE, "seen");
        append(transactional(7, 0), "open");
        log.pause();
        log.endTransaction(7, (short) 0, true);
        append(Sender.ANYONE, "later");

        assertThat(log.endOffset()).isEqualTo(2);
        assertThat(log.lastStableOffset()).isEqualTo(1);
        assertThat(values(log.read(0, true, 10, 1 << 20))).containsExactly("seen");

        log.resume();

        assertThat(log.lastStableOffset()).isEqualTo(4);
        assertThat(values(log.read(0, true, 10, 1 << 20))).containsExactly("seen", "open", "later");
    }

    @Test
    @DisplayName("trimming moves the start and refuses an offset above the high watermark")
    void trimming() {
        append(Sender.ANYONE, "a", "b", "c");

        log.deleteRecordsBefore(2);

        assertThat(log.startOffset()).isEqualTo(2);
        assertThat(log.all()).extracting(this::value).containsExactly("c");
        assertThatThrownBy(() -> log.deleteRecordsBefore(4)).isInstanceOf(OffsetOutOfRangeException.class);
    }

    @Test
    @DisplayName("compaction keeps the last record of each key and the offsets of all that stay")
    void compaction() {
        PartitionLog compacted = log(Map.of("cleanup.policy", "compact"));
        compacted.append(batch(Sender.ANYONE, keyed("k", "1"), keyed("l", "2"), keyed("k", "3"), keyed("l", null)));

        compacted.compact();

        assertThat(compacted.all()).extracting(Stored::offset).containsExactly(2L, 3L);
        assertThat(compacted.read(0, true, 10, 1 << 20).nextOffset()).isEqualTo(4);
    }

    @Test
    @DisplayName("a tombstone outlives the first compaction, and goes with one after its retention")
    void tombstones() {
        PartitionLog compacted = log(Map.of("cleanup.policy", "compact", "delete.retention.ms", "0"));
        compacted.append(batch(Sender.ANYONE, keyed("k", "1"), keyed("k", null)));

        compacted.compact();
        assertThat(compacted.all()).extracting(Stored::offset).containsExactly(1L);

        compacted.compact();
        assertThat(compacted.all()).isEmpty();
        assertThat(compacted.endOffset()).isEqualTo(2);
    }

    @Test
    @DisplayName("compaction stops in front of an open transaction")
    void compactionOfOpen() {
        PartitionLog compacted = log(Map.of("cleanup.policy", "compact"));
        compacted.append(batch(Sender.ANYONE, keyed("k", "1")));
        compacted.append(batch(transactional(7, 0), keyed("k", "2")));
        compacted.append(batch(Sender.ANYONE, keyed("k", "3")));

        compacted.compact();

        assertThat(compacted.all()).extracting(Stored::offset).containsExactly(0L, 1L, 2L);
    }

    @Test
    @DisplayName("a compacted topic refuses records without key, and with them their batch")
    void keyless() {
        PartitionLog compacted = log(Map.of("cleanup.policy", "compact"));

        var answer = compacted.append(batch(Sender.ANYONE, keyed("k", "1"), keyed(null, "2")));

        assertThat(answer).isInstanceOfSatisfying(Refused.class, refused -> {
            assertThat(refused.error()).isInstanceOf(InvalidRecordException.class);
            assertThat(refused.invalid()).containsOnlyKeys(1);
        });
        assertThat(compacted.endOffset()).isZero();
    }

    @Test
    @DisplayName("a batch that comes again is found and not appended again")
    void duplicates() {
        var first = append(new Sender(7, (short) 0, 0, false), "a", "b");

        var again = append(new Sender(7, (short) 0, 0, false), "a", "b");

        assertThat(again).isEqualTo(first).isEqualTo(new Appended(0, -1));
        assertThat(log.endOffset()).isEqualTo(2);
    }

    @Test
    @DisplayName("a batch whose predecessor is missing is out of order")
    void gap() {
        append(new Sender(7, (short) 0, 0, false), "a");

        assertThat(append(new Sender(7, (short) 0, 2, false), "c"))
                .isInstanceOfSatisfying(
                        Refused.class,
                        refused -> assertThat(refused.error()).isInstanceOf(OutOfOrderSequenceException.class));
    }

    @Test
    @DisplayName("a marker fences the epochs before its own")
    void fenced() {
        append(transactional(7, 0), "a");
        log.endTransaction(7, (short) 1, false);

        assertThat(append(transactional(7, 1), "b"))
                .isInstanceOfSatisfying(
                        Refused.class,
                        refused -> assertThat(refused.error()).isInstanceOf(InvalidProducerEpochException.class));
    }

    @Test
    @DisplayName(
            "records carry the epoch of the leader that appended them, and a search by time finds the first of them")
    void epochsAndTimes() {
        log.append(batch(Sender.ANYONE, at(100), at(300)));
        log.changeLeader();
        log.append(batch(Sender.ANYONE, at(200)));

        assertThat(log.all()).extracting(Stored::leaderEpoch).containsExactly(0, 0, 1);
        assertThat(log.firstSince(150, true)).extracting(Stored::offset).isEqualTo(1L);
        assertThat(log.firstSince(301, true)).isNull();
    }

    @Test
    @DisplayName("a misspelt topic setting is refused with the name that is near")
    void misspelt() {
        assertThatThrownBy(() -> log(Map.of("cleanup.polcy", "compact")))
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessageContaining("did you mean cleanup.policy?");
        assertThatThrownBy(() -> log(Map.of("cleanup.policy", "compress")))
                .isInstanceOf(InvalidConfigurationException.class);
    }

    private PartitionLog log(Map<String, String> configs) {
        return new PartitionLog("topic", 0, TopicSettings.of("topic", configs), host);
    }

    private Produce.Answer append(Sender sender, String... values) {
        return log.append(batch(
                sender, Arrays.stream(values).map(value -> keyed(null, value)).toArray(NewRecord[]::new)));
    }

    private Produce batch(Sender sender, NewRecord... records) {
        return new Produce(sender, List.of(records), 100);
    }

    private static Sender transactional(long producerId, int sequence) {
        return new Sender(producerId, (short) 0, sequence, true);
    }

    private static NewRecord keyed(String key, String value) {
        return new NewRecord(0, bytes(key), bytes(value), PartitionLog.copy(null));
    }

    private static NewRecord at(long timestamp) {
        return new NewRecord(timestamp, null, null, PartitionLog.copy(null));
    }

    private static byte[] bytes(String text) {
        return text == null ? null : text.getBytes(StandardCharsets.UTF_8);
    }

    private String value(Stored record) {
        return new String(record.value(), StandardCharsets.UTF_8);
    }

    private List<String> values(Read read) {
        return read.records().stream().map(this::value).toList();
    }
}
