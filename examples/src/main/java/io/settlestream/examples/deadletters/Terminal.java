package io.settlestream.examples.deadletters;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.util.Locale;

/**
 * The one who called the tool.
 *
 * @param present whether there is somebody to be asked
 */
record Terminal(boolean present, BufferedReader in, PrintWriter err) {

    /** Asks a question; no answer means no. */
    boolean agrees(String question) {
        err.print(question + " [y/N] ");
        err.flush();
        try {
            String answer = in.readLine();
            return answer != null
                    && (answer.strip().toLowerCase(Locale.ROOT).equals("y")
                            || answer.strip().toLowerCase(Locale.ROOT).equals("yes"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
