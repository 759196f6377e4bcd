package io.settlestream.internal.publish;

import io.settlestream.Outgoing;
import io.settlestream.codec.Codec;
import io.settlestream.internal.codec.Codecs;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a value's type says about publishing it: the topic that {@link Outgoing} names, if there is one, and the codec.
 *
 * <p>A value's class may be an alternative of a sealed type that carries the annotation and has the codec, so both are
 * looked for on the class, then on its supertypes.
 *
 * @param type the type's name for messages
 * @param outgoing the topic, or null if no annotation names one
 * @param conflict what is wrong with the annotations, or null
 * @param codec encodes the values, or null if there is none
 */
record TypeRoute(
        String type,
        @Nullable String outgoing,
        @Nullable String conflict,
        @Nullable Codec<Object> codec) {

    private static final Set<Class<?>> ROOTS = Set.of(Object.class, Record.class, Enum.class);

    static TypeRoute of(Class<?> type, Codecs codecs) {
        List<Class<?>> lineage = lineage(type);
        List<Class<?>> annotated = nearest(lineage.stream()
                .filter(each -> each.isAnnotationPresent(Outgoing.class))
                .toList());
        List<String> topics = annotated.stream()
                .map(each -> each.getAnnotation(Outgoing.class).value())
                .distinct()
                .toList();
        String conflict = topics.size() < 2
                ? null
                : type.getName() + " inherits @Outgoing from " + names(annotated) + ", which name different topics "
                        + topics + "; annotate the type itself";
        return new TypeRoute(
                type.getName(), topics.size() == 1 ? topics.get(0) : null, conflict, codec(annotated, lineage, codecs));
    }

    /** The type that names the topic knows best how its messages look; after it the value's class, then the others. */
    private static @Nullable Codec<Object> codec(List<Class<?>> annotated, List<Class<?>> lineage, Codecs codecs) {
        Set<Class<?>> candidates = new LinkedHashSet<>(annotated);
        candidates.addAll(lineage);
        for (Class<?> candidate : candidates) {
            Optional<? extends Codec<?>> codec = codecs.find(candidate);
            if (codec.isPresent()) {
                return ofSupertype(codec.get());
            }
        }
        return null;
    }

    @SuppressWarnings("unchecked") // encodes values of the route's type only, which are values of the codec's type
    private static Codec<Object> ofSupertype(Codec<?> codec) {
        return (Codec<Object>) codec;
    }

    /** The type and its supertypes but the language's own, nearer ones first, classes before interfaces. */
    private static List<Class<?>> lineage(Class<?> type) {
        Set<Class<?>> lineage = new LinkedHashSet<>();
        ArrayDeque<Class<?>> open = new ArrayDeque<>(List.of(type));
        while (!open.isEmpty()) {
            Class<?> next = open.remove();
            if (lineage.add(next)) {
                Class<?> parent = next.getSuperclass();
                if (parent != null && !ROOTS.contains(parent)) {
                    open.add(parent);
                }
                open.addAll(List.of(next.getInterfaces()));
            }
        }
        return List.copyOf(lineage);
    }

    /** Those that no other of them extends. */
    private static List<Class<?>> nearest(List<Class<?>> types) {
        return types.stream()
                .filter(type -> types.stream().noneMatch(other -> other != type && type.isAssignableFrom(other)))
                .toList();
    }

    private static List<String> names(List<Class<?>> types) {
        return types.stream().map(Class::getName).toList();
    }
}
