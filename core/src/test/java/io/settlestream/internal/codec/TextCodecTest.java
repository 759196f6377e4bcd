package io.settlestream.internal.codec;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.settlestream.DecodeException;
import io.settlestream.EncodeException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TextCodecTest {

    @ParameterizedTest
    @ValueSource(strings = {"", "plain", "grüße", "\u0000", "\ufffd", "a\ufffdb", "\ud83d\ude00", "\uffff"})
    @DisplayName("text comes back as it went")
    void roundTrip(String text) {
        byte[] data = TextCodec.INSTANCE.encode(text);

        assertThat(data).isEqualTo(text.getBytes(UTF_8));
        assertThat(TextCodec.INSTANCE.decode(data)).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({
        "80,           0",
        "6162ff63,     2",
        "c3,           0",
        "c0af,         0",
        "61eda080,     1",
        "f4908080,     0",
        "efbfbd20c328, 4"
    })
    @DisplayName("12.2 bytes that are not UTF-8 are undecodable, and are not shown")
    void malformed(String hex, int at) {
        byte[] data = HexFormat.of().parseHex(hex);

        assertThatThrownBy(() -> TextCodec.INSTANCE.decode(data))
                .isInstanceOf(DecodeException.class)
                .hasMessage("not UTF-8 at byte " + at + " of " + data.length)
                .hasNoCause();
    }

    @Test
    @DisplayName("12.2 decoding is as strict as Java's decoder on any bytes")
    void asStrictAsJava() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int i = 0; i < 20_000; i++) {
            byte[] data = new byte[random.nextInt(6)];
            random.nextBytes(data);

            assertThat(decodes(data))
                    .as("seed %d: %s", seed, HexFormat.of().formatHex(data))
                    .isEqualTo(isUtf8(data));
        }
    }

    @ParameterizedTest
    @CsvSource({"d83d, 0", "dc00, 0"})
    @DisplayName("half a surrogate pair cannot be encoded, instead of becoming a question mark")
    void loneSurrogate(String surrogate, int at) {
        String text = String.valueOf((char) Integer.parseInt(surrogate, 16));

        assertThatThrownBy(() -> TextCodec.INSTANCE.encode(text))
                .isInstanceOf(EncodeException.class)
                .hasMessage("not Unicode at character " + at + " of 1: half of a surrogate pair");
    }

    private static boolean decodes(byte[] data) {
        try {
            TextCodec.INSTANCE.decode(data);
            return true;
        } catch (DecodeException e) {
            return false;
        }
    }

    private static boolean isUtf8(byte[] data) {
        try {
            UTF_8.newDecoder().decode(ByteBuffer.wrap(data));
            return true;
        } catch (CharacterCodingException e) {
            return false;
        }
    }
}
