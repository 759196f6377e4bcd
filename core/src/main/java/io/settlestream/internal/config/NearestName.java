package io.settlestream.internal.config;

import java.util.Collection;
import java.util.Locale;
import java.util.Optional;

/** Finds what a mistyped name was probably meant to be. */
public final class NearestName {

    private NearestName() {}

    /**
     * The candidate that takes the fewest edits (a character inserted, left out, replaced, or swapped with its
     * neighbour), if that is at most a quarter of the name. Case and separators do not count, so that
     * {@code maxPollRecords} and {@code MAX_POLL_RECORDS} find {@code max.poll.records}.
     */
    public static Optional<String> of(String name, Collection<String> candidates) {
        String wanted = letters(name);
        int limit = Math.max(1, wanted.length() / 4);
        String nearest = null;
        int fewest = limit + 1;
        for (String candidate : candidates) {
            int edits = edits(wanted, letters(candidate), fewest);
            // Of two that are equally near the first in the alphabet, whatever the order of the collection.
            if (edits < fewest || (nearest != null && edits == fewest && candidate.compareTo(nearest) < 0)) {
                nearest = candidate;
                fewest = edits;
            }
        }
        return Optional.ofNullable(nearest);
    }

    private static String letters(String name) {
        StringBuilder letters = new StringBuilder(name.length());
        for (char c : name.toLowerCase(Locale.ROOT).toCharArray()) {
            if (Character.isLetterOrDigit(c)) {
                letters.append(c);
            }
        }
        return letters.toString();
    }

    /** Optimal string alignment distance; a value above {@code limit} only says that it is above. */
    static int edits(String a, String b, int limit) {
        if (Math.abs(a.length() - b.length()) > limit) {
            return limit + 1;
        }
        int[] beforeLast = new int[b.length() + 1];
        int[] last = new int[b.length() + 1];
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            last[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int replaced = last[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                row[j] = Math.min(replaced, Math.min(last[j], row[j - 1]) + 1);
                if (i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1)) {
                    row[j] = Math.min(row[j], beforeLast[j - 2] + 1);
                }
            }
            int[] free = beforeLast;
            beforeLast = last;
            last = row;
            row = free;
        }
        return last[b.length()];
    }
}
