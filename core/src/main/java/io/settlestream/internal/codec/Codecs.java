package io.settlestream.internal.codec;

import io.settlestream.codec.Codec;
import io.settlestream.codec.CodecProvider;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The codecs of types that none was named for: those of {@code byte[]} and {@code String}, then the first that a
 * {@link CodecProvider} gives, in the order of the class path. Thread-safe; each type is asked for once, or at the same time by several threads, which then all get
 * the same answer.
 */
public final class Codecs {

    private final List<CodecProvider> providers;
    private final Map<Class<?>, Optional<? extends Codec<?>>> found = new ConcurrentHashMap<>();

    /** Those of the framework's own class loader, found once. */
    private static final class Own {
        private static final Codecs CODECS = load(null, new ArrayList<>());
    }

    /** The codec of a type among the providers beside the framework; cheaper than {@link #load} when asked often. */
    public static <T> Optional<Codec<T>> findOwn(Class<T> type) {
        return Own.CODECS.find(type);
    }

    Codecs(Collection<CodecProvider> providers) {
        this.providers = List.copyOf(providers);
        found.put(byte[].class, Optional.of(BytesCodec.INSTANCE));
        found.put(String.class, Optional.of(TextCodec.INSTANCE));
    }

    /**
     * With the providers that the thread's context class loader sees, and those beside the framework.
     *
     * @param problems gets a sentence about a provider that is declared and cannot be loaded
     */
    public static Codecs load(List<String> problems) {
        return load(Thread.currentThread().getContextClassLoader(), problems);
    }

    static Codecs load(@Nullable ClassLoader context, List<String> problems) {
        // Mostly the two loaders see the same, and then both find the same class.
        Map<Class<?>, CodecProvider> providers = new LinkedHashMap<>();
        List<ClassLoader> loaders = new ArrayList<>();
        if (context != null) {
            loaders.add(context);
        }
        loaders.add(Codecs.class.getClassLoader());
        for (ClassLoader loader : loaders) {
            try {
                for (CodecProvider provider : ServiceLoader.load(CodecProvider.class, loader)) {
                    providers.putIfAbsent(provider.getClass(), provider);
                }
            } catch (ServiceConfigurationError | LinkageError e) {
                String problem =
                        "codec providers: one that META-INF/services declares cannot be loaded (" + e.getMessage()
                                + "). Put its classes on the class path, in versions that fit together, or take it off.";
                if (!problems.contains(problem)) {
                    problems.add(problem);
                }
            }
        }
        return new Codecs(providers.values());
    }

    /** The codec of a type; empty if no provider knows the type. */
    @SuppressWarnings("unchecked") // only put here for the type it is found by
    public <T> Optional<Codec<T>> find(Class<T> type) {
        Optional<? extends Codec<?>> known = found.get(type);
        if (known == null) {
            // Not computeIfAbsent: it would hold a lock while providers run.
            Optional<Codec<T>> asked = ask(type);
            known = found.putIfAbsent(type, asked);
            if (known == null) {
                known = asked;
            }
        }
        return (Optional<Codec<T>>) known;
    }

    private <T> Optional<Codec<T>> ask(Class<T> type) {
        for (CodecProvider provider : providers) {
            Optional<Codec<T>> codec = provider.codecFor(type);
            if (codec.isPresent()) {
                return codec;
            }
        }
        return Optional.empty();
    }
}
