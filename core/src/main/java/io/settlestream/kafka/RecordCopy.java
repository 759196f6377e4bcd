package io.settlestream.kafka;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Optional;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * What the framework writes into the headers of a copy that goes to a dead-letter or a retry topic: where the record came
 * from, how often it was tried, and why it is there. The copy's key, value and other headers are those of the record.
 *
 * <p>Header values are UTF-8 text, numbers in decimal and times in milliseconds since 1970. A record that is copied again
 * has its headers replaced, so there is one of each. Anybody may write headers of these names: a value that is not of its
 * form counts as absent.
 *
 * @param topic where the record was read from first
 * @param partition its partition there
 * @param offset its offset there
 * @param timestamp its timestamp there; the copy has one of its own, so that retention counts from when it was written
 * @param group the consumer group that gave the record up or wants it again; empty without one
 * @param attempts how many attempts at handling it had ended when it was copied; 0 if none had, or it is not known
 * @param failure the class of the exception that was thrown last, if one was
 * @param reason why the record was copied, in words
 * @param copiedAt when it was copied
 * @param due when a copy on a retry topic is to be handled; empty on a dead-letter topic
 * @since 0.1.0
 */
public record RecordCopy(
        String topic,
        int partition,
        long offset,
        Instant timestamp,
        Optional<String> group,
        int attempts,
        Optional<String> failure,
        Optional<String> reason,
        Optional<Instant> copiedAt,
        Optional<Instant> due) {

    /** What the names of all headers begin with that the framework adds to a copy. */
    public static final String PREFIX = "settlestream-";

    /** The topic that the record was read from first. */
    public static final String ORIGIN_TOPIC = PREFIX + "origin-topic";

    /** The record's partition there. */
    public static final String ORIGIN_PARTITION = PREFIX + "origin-partition";

    /** The record's offset there. */
    public static final String ORIGIN_OFFSET = PREFIX + "origin-offset";

    /** The record's timestamp there. */
    public static final String ORIGIN_TIMESTAMP = PREFIX + "origin-timestamp";

    /** The consumer group that made the copy. */
    public static final String GROUP = PREFIX + "group";

    /** How many attempts had ended. */
    public static final String ATTEMPTS = PREFIX + "attempts";

    /** The class of the exception that was thrown last. */
    public static final String FAILURE = PREFIX + "failure";

    /** Why the record was copied. */
    public static final String REASON = PREFIX + "reason";

    /** When the record was copied. */
    public static final String COPIED_AT = PREFIX + "copied-at";

    /** When a copy on a retry topic is to be handled. */
    public static final String DUE = PREFIX + "due";

    /** Longer values are not ours, and not worth decoding. */
    private static final int LONGEST_VALUE = 8 << 10;

    /**
     * Reads the headers of a copy.
     *
     * @return empty if they do not say where the record came from
     */
    public static Optional<RecordCopy> of(Headers headers) {
        String topic = text(headers, ORIGIN_TOPIC);
        Long partition = number(headers, ORIGIN_PARTITION, Integer.MAX_VALUE);
        Long offset = number(headers, ORIGIN_OFFSET, Long.MAX_VALUE);
        if (topic == null || partition == null || offset == null) {
            return Optional.empty();
        }
        Long attempts = number(headers, ATTEMPTS, Integer.MAX_VALUE);
        return Optional.of(new RecordCopy(
                topic,
                partition.intValue(),
                offset,
                time(headers, ORIGIN_TIMESTAMP).orElse(Instant.ofEpochMilli(-1)),
                Optional.ofNullable(text(headers, GROUP)),
                attempts == null ? 0 : attempts.intValue(),
                Optional.ofNullable(text(headers, FAILURE)),
                Optional.ofNullable(text(headers, REASON)),
                time(headers, COPIED_AT),
                time(headers, DUE)));
    }

    /** Whether a header is one that the framework adds to copies, rather than one of the record's own. */
    public static boolean isAdded(String headerName) {
        return switch (headerName) {
            case ORIGIN_TOPIC,
                    ORIGIN_PARTITION,
                    ORIGIN_OFFSET,
                    ORIGIN_TIMESTAMP,
                    GROUP,
                    ATTEMPTS,
                    FAILURE,
                    REASON,
                    COPIED_AT,
                    DUE -> true;
            default -> false;
        };
    }

    private static Optional<Instant> time(Headers headers, String name) {
        Long millis = number(headers, name, Long.MAX_VALUE);
        try {
            return millis == null ? Optional.empty() : Optional.of(Instant.ofEpochMilli(millis));
        } catch (DateTimeException tooFar) {
            return Optional.empty();
        }
    }

    private static @Nullable Long number(Headers headers, String name, long most) {
        String text = text(headers, name);
        if (text == null
                || text.isEmpty()
                || text.length() > 19
                || !text.chars().allMatch(c -> c >= '0' && c <= '9')) {
            return null;
        }
        try {
            long number = Long.parseLong(text);
            return number <= most ? number : null;
        } catch (NumberFormatException tooLarge) {
            return null;
        }
    }

    private static @Nullable String text(Headers headers, String name) {
        Header header = headers.lastHeader(name);
        byte[] value = header == null ? null : header.value();
        if (value == null || value.length > LONGEST_VALUE) {
            return null;
        }
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(value))
                    .toString();
        } catch (CharacterCodingException notText) {
            return null;
        }
    }
}
