package io.settlestream.internal.config;

import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.ConfigKey;
import org.apache.kafka.common.config.types.Password;
import org.jspecify.annotations.Nullable;

/** A property's value as Kafka takes it, or why Kafka does not take it. */
sealed interface PropertyValue {

    /**
     * One that Kafka takes.
     *
     * @param value in the type that Kafka parses it to
     */
    record Good(Object value) implements PropertyValue {}

    /**
     * One that Kafka refuses.
     *
     * @param why half a sentence that shows no secret
     */
    record Bad(String why) implements PropertyValue {}

    /** Lists whose entries a client makes instances of. Kafka looks for the classes no earlier than that. */
    List<String> CLASS_LISTS = List.of("interceptor.classes", "metric.reporters", "partition.assignment.strategy");

    Pattern CONTROL_CHARACTERS = Pattern.compile("\\p{Cntrl}+");
    int MAX_MESSAGE = 400;

    static PropertyValue of(ConfigKey key, Object given) {
        try {
            Object value = ConfigDef.parseType(key.name, adapt(key.type, given), key.type);
            if (key.validator != null) {
                key.validator.ensureValid(key.name, value);
            }
            String missing = CLASS_LISTS.contains(key.name) ? missingClass((List<?>) value) : null;
            return missing == null ? new Good(value) : new Bad("class " + missing + " is not on the class path");
        } catch (KafkaException e) {
            // Kafka's message shows the value.
            return new Bad(isSecret(key) ? "it is not " + expected(key.type) : oneLine(e.getMessage()));
        } catch (RuntimeException | LinkageError e) {
            // A class that fails as it is loaded, or a list of what is not text: Kafka does not expect either.
            return new Bad(
                    "it is not " + expected(key.type) + " (" + e.getClass().getSimpleName() + ")");
        }
    }

    static boolean isSecret(ConfigKey key) {
        return key.type == ConfigDef.Type.PASSWORD;
    }

    /** A foreign message as part of a report: one line of bounded length. */
    static String oneLine(@Nullable String message) {
        String line = CONTROL_CHARACTERS.matcher(String.valueOf(message)).replaceAll(" ");
        return line.length() <= MAX_MESSAGE ? line : line.substring(0, MAX_MESSAGE) + "...";
    }

    /** Kafka is strict about the Java type of a number and knows text only as String; a caller need not be. */
    private static Object adapt(ConfigDef.Type type, Object given) {
        return switch (type) {
            case INT, LONG, SHORT, DOUBLE -> given instanceof Number ? given.toString() : given;
            case STRING -> given instanceof Number || given instanceof Boolean ? given.toString() : given;
            case LIST ->
                given instanceof Class<?> one
                        ? List.of(one)
                        : given instanceof List<?> many ? List.copyOf(many) : given;
            case BOOLEAN, CLASS, PASSWORD -> given;
        };
    }

    private static String expected(ConfigDef.Type type) {
        return switch (type) {
            case PASSWORD, STRING -> "a text";
            case CLASS -> "a class or its name";
            case LIST -> "a list of texts or classes";
            case BOOLEAN, INT, LONG, SHORT, DOUBLE -> "of type " + type.name().toLowerCase(Locale.ROOT);
        };
    }

    private static @Nullable String missingClass(List<?> entries) {
        for (Object entry : entries) {
            if (!(entry instanceof Class<?>) && !isOnClassPath(((String) entry).trim())) {
                return oneLine((String) entry);
            }
        }
        return null;
    }

    private static boolean isOnClassPath(String name) {
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        ClassLoader loader = context != null ? context : Password.class.getClassLoader();
        try {
            Class.forName(name, false, loader);
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }
}
