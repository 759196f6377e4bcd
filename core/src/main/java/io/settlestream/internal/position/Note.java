package io.settlestream.internal.position;

import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What is written next to a committed offset, as its metadata: how many attempts at the lowest open records have failed, and
 * what tells the next owner of the partition whether this one came to a proper end.
 *
 * <p>As text, {@code settlestream/1 at=1200 run=2 alone=1200:3 failed=0:2,7:1}: the committed offset, that the owner goes on
 * and is the second in a row to do so here, that the third attempt at a record is in a handler's hands while nothing else of
 * the subscription is, and failed attempts by distance from the committed offset. Whoever commits another offset with this
 * text, as a tool that mirrors groups may, does not make the next owner take it for its own.
 *
 * @param lives how many owners in a row have begun at this offset and not come to a proper end, with the one that writes
 *     this; 0 if that one has
 * @param alone the attempt that alone is in hand, or null
 * @param failed attempts that have failed, by offset
 */
public record Note(int lives, @Nullable Alone alone, Map<Long, Integer> failed) {

    /** Which attempt at which record is in hand. */
    record Alone(long offset, int attempt) {}

    /** Nothing to say. */
    public static final Note NONE = new Note(0, null, Map.of());

    private static final String VERSION = "settlestream/1";

    /** A quarter of what a broker takes by default ({@code offset.metadata.max.bytes}). */
    private static final int LONGEST = 1024;

    /** No count of ours is higher, and one more than it is a number still. */
    private static final int HIGHEST = 1 << 30;

    /** As it is committed with an offset; counts that there is no room for are left out, those of the highest offsets. */
    String text(long committed) {
        if (lives == 0 && alone == null && failed.isEmpty()) {
            return "";
        }
        StringBuilder text = new StringBuilder(VERSION).append(" at=").append(committed);
        if (lives > 0) {
            text.append(" run=").append(lives);
        }
        if (alone != null) {
            text.append(" alone=").append(alone.offset).append(':').append(alone.attempt);
        }
        String separator = " failed=";
        for (Map.Entry<Long, Integer> each : failed.entrySet()) {
            String entry = separator + (each.getKey() - committed) + ":" + each.getValue();
            if (each.getKey() < committed) {
                continue;
            }
            if (text.length() + entry.length() > LONGEST) {
                break;
            }
            text.append(entry);
            separator = ",";
        }
        return text.toString();
    }

    /** Reads what was committed with an offset; what is not of this form, or not of this offset, says nothing. */
    static Note read(String text, long committed) {
        String[] words = text.length() <= LONGEST ? text.split(" ", -1) : new String[0];
        if (words.length < 2 || !words[0].equals(VERSION) || !words[1].equals("at=" + committed)) {
            return NONE;
        }
        int lives = 0;
        Alone alone = null;
        SortedMap<Long, Integer> failed = new TreeMap<>();
        try {
            for (int i = 2; i < words.length; i++) {
                int begin = words[i].indexOf('=') + 1;
                String value = words[i].substring(begin);
                switch (words[i].substring(0, begin)) {
                    case "run=" -> lives = count(value);
                    case "alone=" -> alone = new Alone(offset(value), count(value.substring(value.indexOf(':') + 1)));
                    case "failed=" -> {
                        for (String entry : value.split(",", -1)) {
                            failed.put(
                                    Math.addExact(committed, offset(entry)),
                                    count(entry.substring(entry.indexOf(':') + 1)));
                        }
                    }
                    default -> {
                        // A later version's, which must not take from this one what it understands.
                    }
                }
            }
        } catch (NumberFormatException | ArithmeticException malformed) {
            return NONE;
        }
        return new Note(lives, alone, failed);
    }

    private static long offset(String entry) {
        return Long.parseLong(entry, 0, Math.max(0, entry.indexOf(':')), 10);
    }

    private static int count(String text) {
        return Math.clamp(Integer.parseInt(text), 0, HIGHEST);
    }

    /** Failed attempts by offset, counting the one that the process did not survive. */
    Map<Long, Integer> failedWithTheLast() {
        if (lives == 0 || alone == null) {
            return failed;
        }
        SortedMap<Long, Integer> all = new TreeMap<>(failed);
        // Not one more than have failed: this attempt may be among them, and the next one not have begun.
        all.merge(alone.offset, alone.attempt, Math::max);
        return all;
    }
}
