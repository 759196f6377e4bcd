package io.settlestream.internal.codec;

import io.settlestream.codec.CodecProvider;
import java.util.List;

/** Codecs of providers that a test names, for tests of other packages. */
public final class TestCodecs {

    private TestCodecs() {}

    public static Codecs of(CodecProvider... providers) {
        return new Codecs(List.of(providers));
    }
}
