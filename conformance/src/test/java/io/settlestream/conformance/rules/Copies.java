package io.settlestream.conformance.rules;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;

import io.settlestream.kafka.RecordCopy;
import io.settlestream.testing.TestRecord;
import java.util.Arrays;
import java.util.List;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;

/** How a trace writes down copies in dead-letter and retry topics. */
final class Copies {

    private Copies() {}

    /** The copies in a topic: value, origin, attempts, and why they are there. */
    static String copies(Stage stage, String topic) {
        return stage.published(topic).stream()
                .map(record -> copy(stage, record))
                .sorted()
                .collect(joining("; "));
    }

    private static String copy(Stage stage, TestRecord record) {
        RecordCopy copy = RecordCopy.of(headers(record)).orElseThrow();
        String failure = copy.failure()
                .map(name -> " " + name.substring(name.lastIndexOf('.') + 1))
                .orElse("");
        String origin = copy.topic().equals(stage.name("orders")) ? "orders" : copy.topic();
        return (record.value() == null ? "null" : new String(record.value(), UTF_8)) + " of " + origin + "-"
                + copy.partition() + "@" + copy.offset() + " after " + copy.attempts() + ":" + failure
                + copy.reason().map(words -> " " + words).orElse("");
    }

    /** All headers, as {@link RecordCopy} reads them. */
    static Headers headers(TestRecord record) {
        Headers headers = new RecordHeaders();
        record.headers().forEach(headers::add);
        return headers;
    }

    /** The headers that are the record's own, in their order. */
    static List<String> own(TestRecord letter) {
        return letter.headers().stream()
                .filter(header -> !RecordCopy.isAdded(header.key()))
                .map(header -> header.key() + "=" + Arrays.toString(header.value()))
                .toList();
    }
}
