package io.settlestream.examples.deadletters;

import io.settlestream.kafka.RecordCopy;
import java.time.Instant;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Help.Ansi;
import tools.jackson.databind.json.JsonMapper;

/** A dead letter in one line, for people and for machines. Its value is in neither. */
final class Lines {

    /** Kafka's bound on the length of a topic's name; a longer origin is none. */
    private static final int LONGEST_TOPIC = 249;

    private static final int LONGEST_REASON = 120;
    private static final int LONGEST_KEY = 40;
    private static final JsonMapper JSON = new JsonMapper();

    private Lines() {}

    /** Id, time, origin, attempts, group, reason, key, and when it was replayed. */
    static String text(DeadLetter letter, Optional<Instant> replayed, Ansi ansi) {
        StringBuilder line = new StringBuilder();
        line.append(ansi.string("@|bold %s|@".formatted(letter.id())));
        line.append("  ").append(letter.time());
        line.append("  ").append(letter.copy().map(Lines::origin).orElse("origin unknown"));
        letter.copy().ifPresent(copy -> {
            line.append("  attempts ").append(copy.attempts());
            copy.group().ifPresent(group -> line.append("  group ").append(Printable.line(group, LONGEST_TOPIC)));
        });
        if (!letter.reason().isEmpty()) {
            line.append("  ").append(Printable.line(letter.reason(), LONGEST_REASON));
        }
        line.append("  key ").append(Printable.bytes(letter.record().key(), LONGEST_KEY));
        replayed.ifPresent(at -> line.append(ansi.string("  @|green replayed %s|@".formatted(at))));
        return line.toString();
    }

    /** Such as {@code charges-0@4711}. */
    static String origin(RecordCopy copy) {
        return "%s-%d@%d".formatted(Printable.line(copy.topic(), LONGEST_TOPIC), copy.partition(), copy.offset());
    }

    /** A JSON object whose names are always the same; what is not known is null. */
    static String json(DeadLetter letter, Optional<Instant> replayed) {
        Map<String, @Nullable Object> line = new LinkedHashMap<>();
        line.put("id", letter.id().toString());
        line.put("time", letter.time().toString());
        line.put("origin", letter.copy().map(Lines::originJson).orElse(null));
        line.put("group", letter.copy().flatMap(RecordCopy::group).orElse(null));
        line.put("attempts", letter.copy().map(RecordCopy::attempts).orElse(null));
        line.put("failure", letter.copy().flatMap(RecordCopy::failure).orElse(null));
        line.put("reason", letter.copy().flatMap(RecordCopy::reason).orElse(null));
        byte @Nullable [] key = letter.record().key();
        line.put("key", key == null ? null : Printable.text(key).orElse(null));
        line.put("keyBase64", key == null ? null : Base64.getEncoder().encodeToString(key));
        line.put(
                "valueBytes",
                letter.record().value() == null ? null : letter.record().value().length);
        line.put("replayed", replayed.map(Instant::toString).orElse(null));
        return JSON.writeValueAsString(line);
    }

    private static Map<String, Object> originJson(RecordCopy copy) {
        Map<String, Object> origin = new LinkedHashMap<>();
        origin.put("topic", copy.topic());
        origin.put("partition", copy.partition());
        origin.put("offset", copy.offset());
        origin.put("timestamp", copy.timestamp().toString());
        return origin;
    }
}
