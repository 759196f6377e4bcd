package io.settlestream.internal.position;

import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What is written next to a committed offset, as its metadata: how many attempts at the lowest open records have failed, and
 * what tells the next owner of the partition whether this one came to a proper end.
 *
 * <p>As text, {@code settlestream/1 at=1200 run alone=1200 failed=0:2,7:1}: the committed offset, whether the owner goes on,
 * a record that is in a handler's hands while nothing else of the subscription is, and failed attempts by distance from the
 * committed offset. Whoever commits another offset with this text, as a tool that mirrors groups may, does not make the next
 * owner take it for its own.
 *
 * @param running whether the owner goes on, so that a next one that reads this knows that it did not end properly
 * @param alone the offset of the record that alone is in hand, or null
 * @param failed attempts that have failed, by offset
 */
public record Note(boolean running, @Nullable Long alone, Map<Long, Integer> failed) {

    /** Nothing to say. */
    public static final Note NONE = new Note(false, null, Map.of());

    private static final String VERSION = "settlestream/1";

    /** A quarter of what a broker takes by default ({@code offset.metadata.max.bytes}). */
    private static final int LONGEST = 1024;

    /** As it is committed with an offset; counts that there is no room for are left out, those of the highest offsets. */
    String text(long committed) {
        if (!running && alone == null && failed.isEmpty()) {
            return "";
        }
        StringBuilder text = new StringBuilder(VERSION).append(" at=").append(committed);
        if (running) {
            text.append(" run");
        }
        if (alone != null) {
            text.append(" alone=").append(alone);
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
        boolean running = false;
        Long alone = null;
        SortedMap<Long, Integer> failed = new TreeMap<>();
        try {
            for (int i = 2; i < words.length; i++) {
                if (words[i].equals("run")) {
                    running = true;
                } else if (words[i].startsWith("alone=")) {
                    alone = Long.valueOf(words[i].substring("alone=".length()));
                } else if (words[i].startsWith("failed=")) {
                    for (String entry : words[i].substring("failed=".length()).split(",", -1)) {
                        int colon = entry.indexOf(':');
                        failed.put(
                                Math.addExact(committed, Long.parseLong(entry, 0, Math.max(0, colon), 10)),
                                Math.max(0, Integer.parseInt(entry.substring(colon + 1))));
                    }
                }
            }
        } catch (NumberFormatException | ArithmeticException malformed) {
            return NONE;
        }
        return new Note(running, alone, failed);
    }

    /** Failed attempts by offset, counting the one that the process did not survive. */
    Map<Long, Integer> failedWithTheLast() {
        if (!running || alone == null) {
            return failed;
        }
        SortedMap<Long, Integer> all = new TreeMap<>(failed);
        all.merge(alone, 1, Integer::sum);
        return all;
    }
}
