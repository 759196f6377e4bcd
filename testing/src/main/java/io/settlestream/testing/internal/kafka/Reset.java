package io.settlestream.testing.internal.kafka;

import java.time.Duration;
import java.util.Locale;

/** Where a partition is read from when its position is unknown, as {@code auto.offset.reset} says. */
sealed interface Reset {

    record Earliest() implements Reset {}

    record Latest() implements Reset {}

    /** Not at all: the application is asked by an exception. */
    record None() implements Reset {}

    /** At the first record that is at most so old. */
    record ByDuration(Duration age) implements Reset {}

    /** Reads a value that Kafka has found valid. */
    static Reset of(String value) {
        String lower = value.toLowerCase(Locale.ROOT);
        return switch (lower) {
            case "earliest" -> new Earliest();
            case "latest" -> new Latest();
            case "none" -> new None();
            default -> new ByDuration(Duration.parse(value.substring(value.indexOf(':') + 1)));
        };
    }
}
