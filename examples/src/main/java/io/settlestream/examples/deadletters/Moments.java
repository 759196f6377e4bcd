package io.settlestream.examples.deadletters;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A point in time on a command line: {@code 2026-11-30T16:00:00Z}, {@code 2026-11-30}, or {@code 2h} for two hours ago. */
record Moments(Clock clock) implements ITypeConverter<Instant> {

    private static final Pattern AGO = Pattern.compile("(\\d{1,6})([smhd])");

    @Override
    public Instant convert(String text) {
        Matcher ago = AGO.matcher(text);
        if (ago.matches()) {
            return clock.instant().minus(duration(Long.parseLong(ago.group(1)), ago.group(2)));
        }
        try {
            return text.contains("T")
                    ? Instant.parse(text)
                    : LocalDate.parse(text).atStartOfDay(ZoneOffset.UTC).toInstant();
        } catch (DateTimeParseException e) {
            throw new TypeConversionException(
                    "'%s' is no time: it must be such as 2026-11-30T16:00:00Z, 2026-11-30 (of UTC), or 30m, 2h, 7d for that long ago"
                            .formatted(text));
        }
    }

    private static Duration duration(long number, String unit) {
        return switch (unit) {
            case "s" -> Duration.ofSeconds(number);
            case "m" -> Duration.ofMinutes(number);
            case "h" -> Duration.ofHours(number);
            default -> Duration.ofDays(number);
        };
    }
}
