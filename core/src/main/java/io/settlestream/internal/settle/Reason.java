package io.settlestream.internal.settle;

import org.jspecify.annotations.Nullable;

/**
 * Why a record is copied to a dead-letter or a retry topic, as its headers will say.
 *
 * @param failure the class of what was thrown, or null
 * @param words why, in words, or null
 */
public record Reason(@Nullable String failure, @Nullable String words) {

    private static final int LONGEST_FAILURE = 250;
    private static final int LONGEST_WORDS = 1000;

    public Reason {
        failure = capped(failure, LONGEST_FAILURE);
        words = capped(words, LONGEST_WORDS);
    }

    /** The handler said so. */
    public static Reason said(String words) {
        return new Reason(null, words);
    }

    /** Something was thrown. */
    public static Reason threw(Throwable thrown) {
        return new Reason(thrown.getClass().getName(), thrown.getMessage());
    }

    private static @Nullable String capped(@Nullable String text, int most) {
        if (text == null || text.length() <= most) {
            return text;
        }
        int end = Character.isHighSurrogate(text.charAt(most - 1)) ? most - 1 : most;
        return text.substring(0, end);
    }
}
