package io.settlestream.examples.deadletters;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

@DisplayName("Times on a command line")
class MomentsTest {

    private final Moments moments = new Moments(Clock.fixed(Instant.parse("2026-11-30T16:00:00Z"), ZoneOffset.UTC));

    @ParameterizedTest
    @CsvSource({
        "2026-11-29T01:02:03Z, 2026-11-29T01:02:03Z",
        "2026-11-29, 2026-11-29T00:00:00Z",
        "90s, 2026-11-30T15:58:30Z",
        "30m, 2026-11-30T15:30:00Z",
        "2h, 2026-11-30T14:00:00Z",
        "7d, 2026-11-23T16:00:00Z"
    })
    @DisplayName("are a moment, a day, or how long ago")
    void times(String text, Instant time) {
        assertThat(moments.convert(text)).isEqualTo(time);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "yesterday", "2h30m", "-1d", "2026-13-01", "2026-11-30T16:00", "99999999d"})
    @DisplayName("that are none are refused with what they could be")
    void none(String text) {
        assertThatThrownBy(() -> moments.convert(text))
                .isInstanceOf(TypeConversionException.class)
                .hasMessageContaining("'" + text + "'")
                .hasMessageContaining("2h");
    }
}
