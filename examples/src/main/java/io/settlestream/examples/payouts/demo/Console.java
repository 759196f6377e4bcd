package io.settlestream.examples.payouts.demo;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.Locale;

/**
 * Where the demo speaks: lines that stay, and one about progress that is replaced, or, without a terminal, repeated once
 * a second. Numbers look the same in every country. Thread-safe.
 */
@SuppressWarnings("AnnotateFormatMethod") // would take a library for one annotation
final class Console {

    private static final Duration REPEAT = Duration.ofSeconds(1);
    private static final String CLEAR_LINE = "\r\u001b[K";

    private final PrintWriter out;
    private final boolean terminal;
    private boolean progressShown;
    private long lastProgress = System.nanoTime() - REPEAT.toNanos();

    Console(PrintWriter out, boolean terminal) {
        this.out = out;
        this.terminal = terminal;
    }

    /** A line as it is. */
    synchronized void print(String line) {
        if (progressShown) {
            out.print(CLEAR_LINE);
            progressShown = false;
        }
        out.println(line);
        out.flush();
    }

    /** A line made from a format as {@link String#format} takes it. */
    void say(String format, Object... values) {
        print(String.format(Locale.ROOT, format, values));
    }

    /** Replaces what was said about progress before. */
    synchronized void progress(String format, Object... values) {
        if (terminal) {
            out.print(CLEAR_LINE + String.format(Locale.ROOT, format, values));
            progressShown = true;
        } else if (System.nanoTime() - lastProgress >= REPEAT.toNanos()) {
            out.println(String.format(Locale.ROOT, format, values));
            lastProgress = System.nanoTime();
        }
        out.flush();
    }
}
