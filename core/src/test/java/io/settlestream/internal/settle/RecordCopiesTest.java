package io.settlestream.internal.settle;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.internal.position.OwnedPartition;
import io.settlestream.internal.position.Slots;
import io.settlestream.kafka.RecordCopy;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.StreamSupport;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** 7.3: copies of records are faithful, and say what was added. */
class RecordCopiesTest {

    private static final Instant NOW = Instant.ofEpochMilli(1_700_000_000_123L).plusNanos(456);
    private static final long WRITTEN = 1_000;

    private final RecordCopies copies = new RecordCopies("dead", "payments", false);

    @Test
    @DisplayName("7.3: key, value and headers are those of the record, byte for byte and in order")
    void faithful() {
        Delivery delivery = delivery(
                new byte[] {0, -1, 127},
                new byte[] {-2, 0, 5},
                header("twice", new byte[] {1}),
                header("null", null),
                header("twice", new byte[] {2}),
                header("", new byte[0]));

        ProducerRecord<byte[], byte[]> copy = copies.copy(delivery, 3, Reason.said("why"), NOW, null);

        assertThat(copy.topic()).isEqualTo("dead");
        assertThat(copy.partition()).isNull();
        assertThat(copy.key()).containsExactly(0, -1, 127);
        assertThat(copy.value()).containsExactly(-2, 0, 5);
        assertThat(own(copy.headers())).containsExactly("twice=[1]", "null=null", "twice=[2]", "=[]");
    }

    @Test
    @DisplayName("7.3: no key stays no key, no value stays none, and so do empty ones")
    void nulls() {
        ProducerRecord<byte[], byte[]> none = copies.copy(delivery(null, null), 1, Reason.said("why"), NOW, null);
        assertThat(none.key()).isNull();
        assertThat(none.value()).isNull();
        ProducerRecord<byte[], byte[]> empty =
                copies.copy(delivery(new byte[0], new byte[0]), 1, Reason.said("why"), NOW, null);
        assertThat(empty.key()).isEmpty();
        assertThat(empty.value()).isEmpty();
    }

    @Test
    @DisplayName("7.2: a copy that is too large goes without the words about it, and with everything else")
    void withoutWords() {
        Delivery delivery = delivery(new byte[] {1}, new byte[] {2}, header("mine", new byte[] {3}));
        ProducerRecord<byte[], byte[]> copy =
                copies.copy(delivery, 3, Reason.threw(new IllegalStateException("no stock")), NOW, null);

        ProducerRecord<byte[], byte[]> small = copies.withoutWords(copy);

        RecordCopy whole = RecordCopy.of(copy.headers()).orElseThrow();
        assertThat(RecordCopy.of(small.headers()))
                .contains(new RecordCopy(
                        whole.topic(),
                        whole.partition(),
                        whole.offset(),
                        whole.timestamp(),
                        whole.group(),
                        whole.attempts(),
                        Optional.empty(),
                        Optional.empty(),
                        whole.copiedAt(),
                        whole.due()));
        assertThat(own(small.headers())).containsExactly("mine=[3]");
        assertThat(small.key()).containsExactly(1);
        assertThat(small.value()).containsExactly(2);
        assertThat(small.timestamp()).isEqualTo(copy.timestamp());
    }

    @Test
    @DisplayName("7.3: a copy has a timestamp of its own, and says where and when its record was, and why it is here")
    void added() {
        ProducerRecord<byte[], byte[]> copy =
                copies.copy(delivery(null, null), 3, Reason.threw(new IllegalStateException("no stock")), NOW, null);

        assertThat(copy.timestamp()).isEqualTo(NOW.toEpochMilli());
        assertThat(RecordCopy.of(copy.headers()))
                .contains(new RecordCopy(
                        "orders",
                        3,
                        7,
                        Instant.ofEpochMilli(WRITTEN),
                        Optional.of("payments"),
                        3,
                        Optional.of("java.lang.IllegalStateException"),
                        Optional.of("no stock"),
                        Optional.of(Instant.ofEpochMilli(NOW.toEpochMilli())),
                        Optional.empty()));
    }

    @Test
    @DisplayName("7.3: without a group, a message or a timestamp the copy leaves them out")
    void leftOut() {
        ProducerRecord<byte[], byte[]> copy = new RecordCopies("dead", null, false)
                .copy(delivery(-1, null, null), 1, Reason.threw(new IllegalStateException()), NOW, null);

        RecordCopy said = RecordCopy.of(copy.headers()).orElseThrow();
        assertThat(said.group()).isEmpty();
        assertThat(said.reason()).isEmpty();
        assertThat(said.timestamp()).isEqualTo(Instant.ofEpochMilli(-1));
        assertThat(copy.headers().lastHeader(RecordCopy.GROUP)).isNull();
        assertThat(copy.headers().lastHeader(RecordCopy.REASON)).isNull();
    }

    @Test
    @DisplayName(
            "7.3: what an earlier copy has added is replaced: after twenty rounds there is one header of each name")
    void twentyRounds() {
        Delivery delivery = delivery(new byte[] {1}, null, header("a", new byte[] {1}), header("a", null));
        for (int round = 1; round <= 20; round++) {
            ProducerRecord<byte[], byte[]> copy = copies.copy(
                    delivery, round, Reason.said("round " + round), NOW.plusSeconds(round), Duration.ofSeconds(round));
            RecordCopy said = RecordCopy.of(copy.headers()).orElseThrow();
            assertThat(said.topic() + "-" + said.partition() + "@" + said.offset())
                    .isEqualTo("orders-3@7");
            assertThat(said.timestamp()).isEqualTo(Instant.ofEpochMilli(WRITTEN));
            assertThat(said.attempts()).isEqualTo(round);
            assertThat(said.reason()).contains("round " + round);
            assertThat(own(copy.headers())).containsExactly("a=[1]", "a=null");
            assertThat(names(copy.headers())).doesNotHaveDuplicates();
            delivery = copyOf(copy, round);
            assertThat(delivery.timestamp()).isEqualTo(Instant.ofEpochMilli(WRITTEN));
            assertThat(delivery.attempt()).isEqualTo(round + 1);
            assertThat(own(delivery.headers())).containsExactly("a=[1]", "a=null");
        }
        ProducerRecord<byte[], byte[]> last = copies.copy(delivery, 21, Reason.said("given up"), NOW, null);
        assertThat(last.headers().lastHeader(RecordCopy.DUE)).isNull();
        assertThat(last.value()).isNull();
        assertThat(last.key()).containsExactly(1);
    }

    @Test
    @DisplayName("7.3, 12.2: headers of our names that a record brings along are not believed, and not copied")
    void forged() {
        Delivery delivery = delivery(
                null,
                null,
                header(RecordCopy.ORIGIN_TOPIC, "other".getBytes(UTF_8)),
                header(RecordCopy.ORIGIN_PARTITION, "1".getBytes(UTF_8)),
                header(RecordCopy.ORIGIN_OFFSET, "2".getBytes(UTF_8)),
                header(RecordCopy.DUE, "99".getBytes(UTF_8)),
                header(RecordCopy.ATTEMPTS, null),
                header(RecordCopy.PREFIX + "mine", new byte[] {9}));

        Headers headers =
                copies.copy(delivery, 1, Reason.said("why"), NOW, null).headers();

        RecordCopy said = RecordCopy.of(headers).orElseThrow();
        assertThat(said.topic() + "-" + said.partition() + "@" + said.offset()).isEqualTo("orders-3@7");
        assertThat(said.due()).isEmpty();
        assertThat(said.attempts()).isEqualTo(1);
        assertThat(own(headers)).containsExactly("settlestream-mine=[9]");
    }

    @Test
    @DisplayName("7.3: a reason is capped, and never in the middle of a character")
    void capped() {
        String words = "x".repeat(999) + "\uD83D\uDE00";
        Reason reason = new Reason("f".repeat(300), words);
        assertThat(reason.words()).isEqualTo("x".repeat(999));
        assertThat(reason.failure()).hasSize(250);
        assertThat(Reason.said("y".repeat(998) + "\uD83D\uDE00z").words()).isEqualTo("y".repeat(998) + "\uD83D\uDE00");
        assertThat(Reason.said("short").words()).isEqualTo("short");

        Headers headers =
                copies.copy(delivery(null, null), 1, reason, NOW, null).headers();
        assertThat(RecordCopy.of(headers).orElseThrow().reason()).contains("x".repeat(999));
        Headers wide = copies.copy(delivery(null, null), 1, Reason.said("\u20AC".repeat(2_000)), NOW, null)
                .headers();
        assertThat(RecordCopy.of(wide).orElseThrow().reason()).contains("\u20AC".repeat(1_000));
    }

    @Test
    @DisplayName("3.5: a due time is rounded up, and one beyond what can be told is never")
    void due() {
        assertThat(dueAfter(Duration.ZERO)).isEqualTo(NOW.toEpochMilli() + 1);
        assertThat(dueAfter(Duration.ofMillis(5))).isEqualTo(NOW.toEpochMilli() + 6);
        assertThat(dueAfter(Duration.ofNanos(1_000_000 - 456))).isEqualTo(NOW.toEpochMilli() + 1);
        assertThat(dueAfter(Duration.ofSeconds(Long.MAX_VALUE))).isEqualTo(Long.MAX_VALUE);
        assertThat(dueAfter(Duration.ofMillis(Long.MAX_VALUE))).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    @DisplayName(
            "3.5, 7.7: a copy that keeps to its partition stays in that of its record, whatever the headers of a copy claim")
    void samePartition() {
        RecordCopies same = new RecordCopies("retry", "payments", true);
        ProducerRecord<byte[], byte[]> first =
                same.copy(delivery(null, null), 1, Reason.said("why"), NOW, Duration.ZERO);
        assertThat(first.partition()).isEqualTo(3);
        first.headers().add(RecordCopy.ORIGIN_PARTITION, "2000000000".getBytes(UTF_8));
        assertThat(same.copy(copyOf(first, 1), 2, Reason.said("why"), NOW, Duration.ZERO)
                        .partition())
                .isEqualTo(1);
    }

    @Test
    @DisplayName("7.4, 12.2: whatever number of attempts a header claims, more can be counted")
    void claimedAttempts() {
        ProducerRecord<byte[], byte[]> claims =
                copies.copy(delivery(null, null), Integer.MAX_VALUE, Reason.said("why"), NOW, Duration.ZERO);
        Delivery delivery = copyOf(claims, 1);
        assertThat(delivery.attempt()).isPositive();
        delivery.nextAttempt();
        assertThat(delivery.attempt()).isGreaterThan(1 << 30);
    }

    private long dueAfter(Duration delay) {
        Header due = copies.copy(delivery(null, null), 1, Reason.said("why"), NOW, delay)
                .headers()
                .lastHeader(RecordCopy.DUE);
        return Long.parseLong(new String(due.value(), UTF_8));
    }

    private static Delivery delivery(byte[] key, byte[] value, Header... headers) {
        return delivery(WRITTEN, key, value, headers);
    }

    private static Delivery delivery(long timestamp, byte[] key, byte[] value, Header... headers) {
        return new Delivery(null, slots("orders", 3, 7, timestamp, key, value, new RecordHeaders(headers)), 0);
    }

    /** The delivery of a copy that lies in a retry topic. */
    private static Delivery copyOf(ProducerRecord<byte[], byte[]> copy, long offset) {
        return Delivery.ofCopy(
                null, slots("retry", 1, offset, copy.timestamp(), copy.key(), copy.value(), copy.headers()), 0);
    }

    private static Slots slots(
            String topic, int partition, long offset, long timestamp, byte[] key, byte[] value, Headers headers) {
        OwnedPartition owner =
                new OwnedPartition(new TopicPartition(topic, partition), Slots.State.SETTLED, settled -> {});
        ConsumerRecord<byte[], byte[]> record = new ConsumerRecord<>(
                topic,
                partition,
                offset,
                timestamp,
                TimestampType.CREATE_TIME,
                key == null ? -1 : key.length,
                value == null ? -1 : value.length,
                key,
                value,
                headers,
                Optional.empty());
        return owner.register(List.of(record), offset + 1, null, 0);
    }

    private static Header header(String key, byte[] value) {
        return new io.settlestream.internal.publish.PlainHeader(key, value);
    }

    private static List<String> own(Headers headers) {
        return StreamSupport.stream(headers.spliterator(), false)
                .filter(header -> !RecordCopy.isAdded(header.key()))
                .map(header -> header.key() + "=" + Arrays.toString(header.value()))
                .toList();
    }

    private static List<String> names(Headers headers) {
        return StreamSupport.stream(headers.spliterator(), false)
                .map(Header::key)
                .filter(RecordCopy::isAdded)
                .toList();
    }
}
