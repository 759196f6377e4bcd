package io.settlestream.internal.codec;

import io.settlestream.DecodeException;
import io.settlestream.codec.Codec;
import org.jspecify.annotations.Nullable;

/** Values as they are: what is decoded is the record's own array. */
enum BytesCodec implements Codec<byte[]> {
    INSTANCE;

    @Override
    public byte[] decode(byte @Nullable [] data) {
        if (data == null) {
            throw new DecodeException(
                    "a record without a value (a tombstone) is no byte[]: name a codec of your own that gives it a meaning",
                    null);
        }
        return data;
    }

    @Override
    public byte[] encode(byte[] value) {
        return value;
    }
}
