package io.settlestream.internal.codec;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.settlestream.DecodeException;
import io.settlestream.EncodeException;
import io.settlestream.codec.Codec;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import org.jspecify.annotations.Nullable;

/**
 * Text in UTF-8, and nothing that only resembles it. {@link String} replaces what does not fit, on the way in and out,
 * so that another text would be handled than was sent. Its conversions are fast, though, and what they replaced can be
 * seen: only a text that may have been damaged is converted again, strictly.
 */
enum TextCodec implements Codec<String> {
    INSTANCE;

    private static final char REPLACEMENT = '\ufffd';

    @Override
    public String decode(byte @Nullable [] data) {
        if (data == null) {
            throw new DecodeException(
                    "a record without a value (a tombstone) is no text: name a codec of your own that gives it a meaning",
                    null);
        }
        String text = new String(data, UTF_8);
        return text.indexOf(REPLACEMENT) < 0 ? text : decodeStrictly(data);
    }

    @Override
    public byte[] encode(String value) {
        return value.chars().anyMatch(c -> Character.isSurrogate((char) c))
                ? encodeStrictly(value)
                : value.getBytes(UTF_8);
    }

    private static String decodeStrictly(byte[] data) {
        ByteBuffer in = ByteBuffer.wrap(data);
        try {
            return UTF_8.newDecoder().decode(in).toString();
        } catch (CharacterCodingException e) {
            throw new DecodeException("not UTF-8 at byte " + in.position() + " of " + data.length, null);
        }
    }

    private static byte[] encodeStrictly(String value) {
        CharBuffer in = CharBuffer.wrap(value);
        try {
            ByteBuffer out = UTF_8.newEncoder().encode(in);
            byte[] data = new byte[out.remaining()];
            out.get(data);
            return data;
        } catch (CharacterCodingException e) {
            throw new EncodeException(
                    "not Unicode at character " + in.position() + " of " + value.length()
                            + ": half of a surrogate pair",
                    null);
        }
    }
}
