package io.settlestream.examples.deadletters;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("What others wrote, on a terminal")
class PrintableTest {

    @Test
    @DisplayName("a key that is a text is shown in quotes, and one that is none in hexadecimal")
    void keys() {
        assertThat(Printable.bytes("Zoë \"7\"".getBytes(UTF_8), 40)).isEqualTo("\"Zoë \\\"7\\\"\"");
        assertThat(Printable.bytes(new byte[] {0, (byte) 0xff, 10}, 40)).isEqualTo("0x00ff0a");
        assertThat(Printable.bytes(new byte[0], 40)).isEqualTo("\"\"");
        assertThat(Printable.bytes(null, 40)).isEqualTo("null");
    }

    @Test
    @DisplayName("is cut where it gets long, and says so")
    void cut() {
        assertThat(Printable.bytes("abcdef".getBytes(UTF_8), 5)).isEqualTo("\"abcde…\"");
        assertThat(Printable.bytes("abcde".getBytes(UTF_8), 5)).isEqualTo("\"abcde\"");
        assertThat(Printable.bytes(new byte[] {0, 1, 2}, 2)).isEqualTo("0x0001…");
        assertThat(Printable.line("😀😀😀", 2)).isEqualTo("😀😀…");
        assertThat(Printable.first("😀😀😀", 2)).isEqualTo("😀😀");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"\u001b[2J", "\u0007", "\u009b31m", "\u202egnp.exe", "\u200b", "\u2028", "\r", "\u0000", "\ue000"
            })
    @DisplayName("cannot move the cursor, ring, colour or turn around")
    void harmless(String hostile) {
        assertThat(Printable.bytes(("a" + hostile).getBytes(UTF_8), 40)).startsWith("0x61");
        assertThat(Printable.line("a" + hostile, 40)).doesNotContain(hostile);
        assertThat(Printable.text(hostile.getBytes(UTF_8))).isEmpty();
    }

    @Test
    @DisplayName("a reason of several lines becomes one")
    void oneLine() {
        assertThat(Printable.line("down\n\tat 3", 40)).isEqualTo("down  at 3");
        assertThat(Printable.line("\u001b[31m", 40)).isEqualTo("\\u{1b}[31m");
    }

    @Test
    @DisplayName("a value of several lines stays one of several lines")
    void severalLines() {
        assertThat(Printable.text("{\n\t\"id\": 1\n}".getBytes(UTF_8))).contains("{\n\t\"id\": 1\n}");
        assertThat(Printable.text(new byte[] {(byte) 0xc3})).isEmpty();
    }
}
