package io.settlestream.conformance.rules;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.settlestream.codec.Codec;

/** Numbers in decimal; other texts are undecodable. */
final class Numbers implements Codec<Integer> {

    @Override
    public Integer decode(byte[] data) {
        return Integer.valueOf(new String(data, UTF_8));
    }

    @Override
    public byte[] encode(Integer value) {
        return value.toString().getBytes(UTF_8);
    }
}
