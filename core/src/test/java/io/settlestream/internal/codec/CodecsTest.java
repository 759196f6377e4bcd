package io.settlestream.internal.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.settlestream.DecodeException;
import io.settlestream.codec.Codec;
import io.settlestream.codec.CodecProvider;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CodecsTest {

    private final List<String> problems = new ArrayList<>();

    @Test
    @DisplayName("byte[] is taken as it is, both ways")
    void bytes() {
        Codec<byte[]> codec = codecs().find(byte[].class).orElseThrow();
        byte[] data = {1, 2, -1};

        assertThat(codec.decode(data)).isSameAs(data);
        assertThat(codec.encode(data)).isSameAs(data);
    }

    @Test
    @DisplayName("7.5 a record without a value is undecodable for the built-in codecs, which say what to do")
    void tombstone() {
        assertThatThrownBy(() -> codecs().find(byte[].class).orElseThrow().decode(null))
                .isInstanceOf(DecodeException.class)
                .hasMessageContaining("a codec of your own");
        assertThatThrownBy(() -> codecs().find(String.class).orElseThrow().decode(null))
                .isInstanceOf(DecodeException.class)
                .hasMessageContaining("a codec of your own");
    }

    @Test
    @DisplayName("other types are asked of the providers in their order, the built-in ones never")
    void providers() {
        Codec<Integer> wanted = new Unused<>();
        Codecs codecs = codecs(
                provider(String.class, new Unused<>()),
                provider(Long.class, new Unused<>()),
                provider(Integer.class, wanted),
                provider(Integer.class, new Unused<>()));

        assertThat(codecs.find(Integer.class)).hasValue(wanted);
        assertThat(codecs.find(String.class).orElseThrow()).isSameAs(TextCodec.INSTANCE);
        assertThat(codecs.find(Double.class)).isEmpty();
    }

    @Test
    @DisplayName("a provider is asked once for a type, whatever it answers")
    void askedOnce() {
        List<Class<?>> asked = new ArrayList<>();
        Codecs codecs = codecs(new CodecProvider() {
            @Override
            public <T> Optional<Codec<T>> codecFor(Class<T> type) {
                asked.add(type);
                return type == Long.class ? Optional.of(new Unused<>()) : Optional.empty();
            }
        });

        for (int i = 0; i < 2; i++) {
            codecs.find(Long.class);
            codecs.find(Integer.class);
        }

        assertThat(asked).containsExactly(Long.class, Integer.class);
    }

    @Test
    @DisplayName("no lock is held while a provider runs: two threads may ask at the same time, and get the same codec")
    void askedWithoutLock() throws Exception {
        CyclicBarrier bothInside = new CyclicBarrier(2);
        Codecs codecs = codecs(new CodecProvider() {
            @Override
            public <T> Optional<Codec<T>> codecFor(Class<T> type) {
                try {
                    bothInside.await(10, TimeUnit.SECONDS);
                } catch (Exception e) {
                    throw new AssertionError("the other thread never came in", e);
                }
                return Optional.of(new Unused<>());
            }
        });

        try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
            Future<Optional<Codec<Long>>> one = threads.submit(() -> codecs.find(Long.class));
            Future<Optional<Codec<Long>>> other = threads.submit(() -> codecs.find(Long.class));

            assertThat(one.get().orElseThrow()).isSameAs(other.get().orElseThrow());
        }
    }

    @Test
    @DisplayName("providers are found through META-INF/services by the context class loader")
    void serviceLoader(@TempDir Path folder) throws Exception {
        declare(folder, LongProvider.class.getName());

        try (URLClassLoader context =
                new URLClassLoader(new URL[] {folder.toUri().toURL()}, loader())) {
            Codecs codecs = Codecs.load(context, problems);

            assertThat(codecs.find(Long.class)).isPresent();
            assertThat(codecs.find(Integer.class)).isEmpty();
            assertThat(problems).isEmpty();
        }
    }

    @Test
    @DisplayName("10.1 a provider that cannot be loaded is a startup problem")
    void brokenProvider(@TempDir Path folder) throws Exception {
        declare(folder, "no.such.Provider");

        try (URLClassLoader context =
                new URLClassLoader(new URL[] {folder.toUri().toURL()}, loader())) {
            Codecs codecs = Codecs.load(context, problems);

            assertThat(codecs.find(String.class)).isPresent();
            assertThat(problems)
                    .singleElement()
                    .asString()
                    .contains("no.such.Provider", "META-INF/services", "class path");
        }
    }

    @Test
    @DisplayName("a thread without a context class loader sees what is beside the framework")
    void noContext() {
        assertThat(Codecs.load(null, problems).find(String.class)).isPresent();
        assertThat(problems).isEmpty();
    }

    private static void declare(Path folder, String provider) throws Exception {
        Path services = Files.createDirectories(folder.resolve("META-INF/services"));
        Files.writeString(services.resolve(CodecProvider.class.getName()), provider);
    }

    private static ClassLoader loader() {
        return CodecsTest.class.getClassLoader();
    }

    private static Codecs codecs(CodecProvider... providers) {
        return new Codecs(List.of(providers));
    }

    private static <V> CodecProvider provider(Class<V> known, Codec<V> codec) {
        return new CodecProvider() {
            @Override
            @SuppressWarnings("unchecked")
            public <T> Optional<Codec<T>> codecFor(Class<T> type) {
                return type == known ? Optional.of((Codec<T>) codec) : Optional.empty();
            }
        };
    }

    /** Found by its name in a test's META-INF/services. */
    public static final class LongProvider implements CodecProvider {
        @Override
        public <T> Optional<Codec<T>> codecFor(Class<T> type) {
            return provider(Long.class, new Unused<>()).codecFor(type);
        }
    }

    private static final class Unused<T> implements Codec<T> {
        @Override
        public T decode(byte[] data) {
            throw new UnsupportedOperationException("only looked for");
        }

        @Override
        public byte[] encode(T value) {
            throw new UnsupportedOperationException("only looked for");
        }
    }
}
