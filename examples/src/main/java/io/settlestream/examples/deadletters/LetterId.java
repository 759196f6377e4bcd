package io.settlestream.examples.deadletters;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where a dead letter is on its topic, and so what it is called on command lines: {@code partition:offset}.
 *
 * @param partition from 0
 * @param offset from 0
 */
record LetterId(int partition, long offset) implements Comparable<LetterId> {

    private static final Pattern FORM = Pattern.compile("(\\d{1,9}):(\\d{1,18})");

    /**
     * Reads what {@link #toString} writes.
     *
     * @throws IllegalArgumentException if it is something else
     */
    static LetterId parse(String text) {
        Matcher form = FORM.matcher(text);
        if (!form.matches()) {
            throw new IllegalArgumentException(
                    "'%s' is no dead letter: it must be partition:offset, such as 0:17".formatted(text));
        }
        return new LetterId(Integer.parseInt(form.group(1)), Long.parseLong(form.group(2)));
    }

    @Override
    public int compareTo(LetterId other) {
        return partition != other.partition
                ? Integer.compare(partition, other.partition)
                : Long.compare(offset, other.offset);
    }

    @Override
    public String toString() {
        return partition + ":" + offset;
    }
}
