package io.settlestream.conformance.clients;

import java.util.ArrayList;
import java.util.List;

/** What a script saw, line by line. Any thread may add to it. */
final class Trace {

    private final List<String> lines = new ArrayList<>();

    synchronized void add(String line) {
        lines.add(line);
    }

    synchronized List<String> lines() {
        return List.copyOf(lines);
    }
}
