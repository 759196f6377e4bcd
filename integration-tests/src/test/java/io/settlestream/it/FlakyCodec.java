package io.settlestream.it;

import io.settlestream.DecodeException;
import io.settlestream.codec.Codec;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Text, of which one value cannot be decoded the first few times. */
final class FlakyCodec implements Codec<String> {

    private final String flaky;
    private final AtomicInteger failuresLeft;

    FlakyCodec(String flaky, int failures) {
        this.flaky = flaky;
        this.failuresLeft = new AtomicInteger(failures);
    }

    @Override
    public String decode(byte @Nullable [] data) {
        String value = data == null ? "" : LiveKafka.text(data);
        if (value.equals(flaky) && failuresLeft.getAndDecrement() > 0) {
            throw new DecodeException("its schema is not there yet", null);
        }
        return value;
    }

    @Override
    public byte[] encode(String value) {
        return LiveKafka.bytes(value);
    }
}
