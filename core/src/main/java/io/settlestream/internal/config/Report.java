package io.settlestream.internal.config;

import java.util.List;

/** Collects the mistakes of one client's properties into the report of the whole application. */
final class Report {

    private final List<String> problems;
    private boolean clean = true;

    Report(List<String> problems) {
        this.problems = problems;
    }

    void add(String where, String problem) {
        clean = false;
        String entry = where + ": " + problem;
        // A broker's mistake is met again by each of its clients, and is still one mistake.
        if (!problems.contains(entry)) {
            problems.add(entry);
        }
    }

    /** Whether this client's properties have shown no mistake so far. */
    boolean isClean() {
        return clean;
    }
}
