package io.settlestream.internal.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NearestNameTest {

    @ParameterizedTest
    @CsvSource({
        "'',     '',      0",
        "abc,    abc,     0",
        "abc,    abcd,    1",
        "abcd,   acd,     1",
        "abcd,   abxd,    1",
        "abcd,   acbd,    1",
        "kitten, sitting, 3",
        "ca,     abc,     3"
    })
    @DisplayName("6.4 edits are insertions, omissions, replacements and swaps of neighbours")
    void edits(String a, String b, int edits) {
        assertThat(NearestName.edits(a, b, 9)).isEqualTo(edits);
        assertThat(NearestName.edits(b, a, 9)).isEqualTo(edits);
    }

    @Test
    @DisplayName("6.4 the nearest name wins, and of equals the first in the alphabet")
    void nearest() {
        assertThat(NearestName.of("retires", List.of("retry", "retries"))).hasValue("retries");
        assertThat(NearestName.of("abcdx", List.of("abcdz", "abcdy"))).hasValue("abcdy");
    }

    @Test
    @DisplayName("6.4 a name that resembles none has no nearest one")
    void none() {
        assertThat(NearestName.of("nonsense", List.of("retry", "acks"))).isEmpty();
        assertThat(NearestName.of("", List.of("acks"))).isEmpty();
        assertThat(NearestName.of("acks", List.of())).isEmpty();
    }
}
