package io.settlestream.examples.deadletters;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.HexFormat;
import java.util.Optional;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Bytes and texts of others in a form that a terminal can be given: what moves the cursor, changes colours or turns the
 * direction of writing does not reach it.
 */
final class Printable {

    private Printable() {}

    /** Bytes for one line: {@code null}, a text in quotes, or {@code 0x00ff}; at most {@code cap} characters or bytes. */
    static String bytes(byte @Nullable [] bytes, int cap) {
        if (bytes == null) {
            return "null";
        }
        return utf8(bytes)
                .filter(text -> text.codePoints().allMatch(Printable::printable))
                .map(text -> '"' + capped(text.replace("\\", "\\\\").replace("\"", "\\\""), cap) + '"')
                .orElseGet(() -> "0x" + HexFormat.of().formatHex(bytes, 0, Math.min(bytes.length, cap))
                        + (bytes.length > cap ? "…" : ""));
    }

    /** A text for one line, of at most {@code cap} characters; what is not printable is escaped. */
    static String line(String text, int cap) {
        StringBuilder line = new StringBuilder();
        text.codePoints().forEach(c -> {
            if (printable(c)) {
                line.appendCodePoint(c);
            } else if (c == '\n' || c == '\r' || c == '\t') {
                line.append(' ');
            } else {
                line.append("\\u{").append(Integer.toHexString(c)).append('}');
            }
        });
        return capped(line.toString(), cap);
    }

    /** The text that the bytes are, over several lines perhaps; empty if they are none, or none that can be printed. */
    static Optional<String> text(byte[] bytes) {
        IntPredicate layout = c -> c == '\n' || c == '\t';
        return utf8(bytes).filter(text -> text.codePoints().allMatch(layout.or(Printable::printable)));
    }

    private static Optional<String> utf8(byte[] bytes) {
        try {
            return Optional.of(UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString());
        } catch (CharacterCodingException notText) {
            return Optional.empty();
        }
    }

    private static boolean printable(int c) {
        return switch (Character.getType(c)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.PRIVATE_USE,
                    Character.UNASSIGNED,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> false;
            default -> true;
        };
    }

    /** The first characters of a text, none of them halved. */
    static String first(String text, int characters) {
        return text.codePointCount(0, text.length()) <= characters
                ? text
                : text.substring(0, text.offsetByCodePoints(0, characters));
    }

    private static String capped(String text, int cap) {
        String first = first(text, cap);
        return first.length() < text.length() ? first + "…" : text;
    }
}
