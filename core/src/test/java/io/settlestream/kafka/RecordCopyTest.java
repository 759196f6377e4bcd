package io.settlestream.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RecordCopyTest {

    @Test
    @DisplayName("headers tell where a record came from, how often it was tried and why it was copied")
    void readsEverything() {
        Headers headers = origin();
        add(headers, RecordCopy.GROUP, "payments");
        add(headers, RecordCopy.ATTEMPTS, "3");
        add(headers, RecordCopy.FAILURE, "java.io.IOException");
        add(headers, RecordCopy.REASON, "gateway down");
        add(headers, RecordCopy.COPIED_AT, "2000");
        add(headers, RecordCopy.DUE, "3000");

        RecordCopy copy = RecordCopy.of(headers).orElseThrow();

        assertThat(copy.topic()).isEqualTo("charges");
        assertThat(copy.partition()).isEqualTo(2);
        assertThat(copy.offset()).isEqualTo(41);
        assertThat(copy.timestamp()).isEqualTo(Instant.ofEpochMilli(1000));
        assertThat(copy.group()).contains("payments");
        assertThat(copy.attempts()).isEqualTo(3);
        assertThat(copy.failure()).contains("java.io.IOException");
        assertThat(copy.reason()).contains("gateway down");
        assertThat(copy.copiedAt()).contains(Instant.ofEpochMilli(2000));
        assertThat(copy.due()).contains(Instant.ofEpochMilli(3000));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-1", "+1", "1.5", "x", "99999999999999999999", "9223372036854775808", "٣"})
    @DisplayName("a number that is none counts as absent")
    void malformedNumbers(String value) {
        Headers headers = origin();
        add(headers, RecordCopy.ATTEMPTS, value);
        add(headers, RecordCopy.DUE, value);

        RecordCopy copy = RecordCopy.of(headers).orElseThrow();

        assertThat(copy.attempts()).isZero();
        assertThat(copy.due()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {RecordCopy.ORIGIN_TOPIC, RecordCopy.ORIGIN_PARTITION, RecordCopy.ORIGIN_OFFSET})
    @DisplayName("without an origin, or with half of one, there is no copy")
    void halfAnOrigin(String missing) {
        Headers headers = origin();
        headers.remove(missing);
        assertThat(RecordCopy.of(headers)).isEmpty();

        headers.add(missing, null);
        assertThat(RecordCopy.of(headers)).isEmpty();

        headers.add(missing, new byte[] {(byte) 0xff, (byte) 0xfe});
        assertThat(RecordCopy.of(headers)).isEmpty();
    }

    @Test
    @DisplayName("a partition beyond what Kafka can have counts as absent")
    void partitionTooLarge() {
        Headers headers = origin();
        add(headers, RecordCopy.ORIGIN_PARTITION, "2147483648");
        assertThat(RecordCopy.of(headers)).isEmpty();
    }

    @Test
    @DisplayName("the last header of a name counts")
    void lastCounts() {
        Headers headers = origin();
        add(headers, RecordCopy.ORIGIN_OFFSET, "42");
        assertThat(RecordCopy.of(headers).orElseThrow().offset()).isEqualTo(42);
    }

    @Test
    @DisplayName("a huge value counts as absent")
    void hugeValue() {
        Headers headers = origin();
        add(headers, RecordCopy.REASON, "x".repeat(1 << 20));
        assertThat(RecordCopy.of(headers).orElseThrow().reason()).isEmpty();
    }

    @Test
    @DisplayName("only the framework's own names are added ones")
    void namesThatAreAdded() {
        assertThat(RecordCopy.isAdded(RecordCopy.DUE)).isTrue();
        assertThat(RecordCopy.isAdded("settlestream-mine")).isFalse();
        assertThat(RecordCopy.isAdded("due")).isFalse();
    }

    private static Headers origin() {
        Headers headers = new RecordHeaders();
        add(headers, RecordCopy.ORIGIN_TOPIC, "charges");
        add(headers, RecordCopy.ORIGIN_PARTITION, "2");
        add(headers, RecordCopy.ORIGIN_OFFSET, "41");
        add(headers, RecordCopy.ORIGIN_TIMESTAMP, "1000");
        return headers;
    }

    private static void add(Headers headers, String name, String value) {
        headers.add(name, value.getBytes(UTF_8));
    }
}
