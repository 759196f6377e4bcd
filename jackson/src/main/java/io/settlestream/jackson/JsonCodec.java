package io.settlestream.jackson;

import io.settlestream.DecodeException;
import io.settlestream.EncodeException;
import io.settlestream.codec.Codec;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * Values as JSON in UTF-8, by Jackson. Thread-safe.
 *
 * <p>The default mapper reads records, enums and {@code java.time} without annotations. It ignores properties that the
 * type does not have, since services change one after the other; one that is missing is null, or 0 for a primitive.
 * Anything behind the value, a record without a value and the JSON {@code null} are undecodable.
 *
 * <pre>{@code
 * Subscriber.on(KafkaTopic.of("payouts"), JsonCodec.of(Payout.class))
 * }</pre>
 *
 * @param <T> the value's type
 * @since 0.1.0
 */
public final class JsonCodec<T> implements Codec<T> {

    private static final JsonMapper MAPPER = JsonMapper.builder()
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
            // A time with an offset is read as it was written, not moved to UTC.
            .disable(DateTimeFeature.ADJUST_DATES_TO_CONTEXT_TIME_ZONE)
            .disable(DateTimeFeature.WRITE_DATES_AS_TIMESTAMPS)
            .disable(DateTimeFeature.WRITE_DURATIONS_AS_TIMESTAMPS)
            .build();

    private static final int MAX_CAUSES = 4;

    private final String typeName;
    private final ObjectReader reader;
    private final ObjectWriter writer;

    private JsonCodec(JavaType type, ObjectMapper mapper) {
        this.typeName = type.toCanonical();
        // Bound to the type, they look its (de)serializer up once and not for each record.
        this.reader = mapper.readerFor(type);
        this.writer = mapper.writerFor(type);
    }

    /** A codec for a class, with the default mapper. */
    public static <T> JsonCodec<T> of(Class<T> type) {
        return of(type, MAPPER);
    }

    /** A codec for a class, with a mapper of your own, which decides what is ignored and what fails. */
    public static <T> JsonCodec<T> of(Class<T> type, ObjectMapper mapper) {
        return new JsonCodec<>(mapper.constructType(type), mapper);
    }

    /** A codec for a generic type such as {@code new TypeReference<List<Payout>>() {}}, with the default mapper. */
    public static <T> JsonCodec<T> of(TypeReference<T> type) {
        return of(type, MAPPER);
    }

    /** A codec for a generic type, with a mapper of your own. */
    public static <T> JsonCodec<T> of(TypeReference<T> type, ObjectMapper mapper) {
        return new JsonCodec<>(mapper.constructType(type), mapper);
    }

    /**
     * A codec for a type put together at run time, with a mapper of your own.
     *
     * @param <T> what {@code type} stands for; nothing checks that
     */
    public static <T> JsonCodec<T> of(JavaType type, ObjectMapper mapper) {
        return new JsonCodec<>(type, mapper);
    }

    /** The default mapper, to start from with {@link JsonMapper#rebuild()}. */
    public static JsonMapper mapper() {
        return MAPPER;
    }

    @Override
    public T decode(byte @Nullable [] data) {
        if (data == null) {
            throw new DecodeException(
                    "a record without a value (a tombstone) is no JSON: name a codec of your own that gives it a meaning",
                    null);
        }
        T value;
        try {
            value = reader.readValue(data);
        } catch (RuntimeException e) {
            throw new DecodeException("not JSON for " + typeName + location(e) + " (" + kinds(e) + ")", null);
        }
        if (value == null) {
            throw new DecodeException("JSON null is not a value of " + typeName, null);
        }
        return value;
    }

    @Override
    public byte[] encode(T value) {
        try {
            return writer.writeValueAsBytes(value);
        } catch (RuntimeException e) {
            throw new EncodeException("no JSON for a value of " + typeName + " (" + kinds(e) + ")", null);
        }
    }

    @Override
    public String toString() {
        return "JsonCodec[" + typeName + "]";
    }

    // Messages of Jackson quote what they could not read, its paths hold the keys of maps, and a constructor that
    // refuses
    // a value may name it. All of that is payload, and an exception ends up in logs. So neither their words nor the
    // exceptions themselves are passed on as a cause: what remains is where in the bytes, and which kinds of exception.

    private static String location(RuntimeException e) {
        TokenStreamLocation location = e instanceof JacksonException jackson ? jackson.getLocation() : null;
        return location == null || location.getLineNr() < 1
                ? ""
                : " at line " + location.getLineNr() + ", column " + location.getColumnNr();
    }

    private static String kinds(Throwable e) {
        StringBuilder kinds = new StringBuilder(e.getClass().getSimpleName());
        Throwable cause = e.getCause();
        for (int i = 1; i < MAX_CAUSES && cause != null; i++) {
            kinds.append(", caused by ").append(cause.getClass().getSimpleName());
            cause = cause.getCause();
        }
        return kinds.toString();
    }
}
