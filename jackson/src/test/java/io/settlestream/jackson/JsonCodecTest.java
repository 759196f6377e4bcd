package io.settlestream.jackson;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.settlestream.DecodeException;
import io.settlestream.EncodeException;
import io.settlestream.codec.Codec;
import io.settlestream.codec.CodecProvider;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;

class JsonCodecTest {

    enum Status {
        OPEN,
        PAID
    }

    record Payout(long id, String to, BigDecimal amount, Status status, Optional<String> note) {}

    record Times(Instant instant, LocalDate date, OffsetDateTime offset, Duration duration) {}

    record Percent(int value) {
        Percent {
            if (value > 100) {
                throw new IllegalArgumentException("secret is " + value);
            }
        }
    }

    record Evasive(int value) {
        @Override
        public int value() {
            throw new IllegalStateException("s3cret");
        }
    }

    @JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "kind")
    @JsonSubTypes({@JsonSubTypes.Type(value = Opened.class, name = "opened")})
    sealed interface Event permits Opened {}

    record Opened(long id) implements Event {}

    private final Codec<Payout> codec = JsonCodec.of(Payout.class);

    @Test
    @DisplayName("a record comes back as it went")
    void roundTrip() {
        Payout payout = new Payout(1, "grüße", new BigDecimal("10.50"), Status.PAID, Optional.empty());

        byte[] data = codec.encode(payout);

        assertThat(new String(data, UTF_8)).contains("\"id\":1", "\"to\":\"grüße\"", "\"amount\":10.50", "\"PAID\"");
        assertThat(codec.decode(data)).isEqualTo(payout);
    }

    @Test
    @DisplayName("times are written as ISO texts and come back with their offset")
    void times() {
        Times times = new Times(
                Instant.parse("2026-01-02T03:04:05.000006Z"),
                LocalDate.of(2026, 1, 2),
                OffsetDateTime.parse("2026-01-02T03:04:05+05:30"),
                Duration.ofMillis(1_500));
        Codec<Times> codec = JsonCodec.of(Times.class);

        byte[] data = codec.encode(times);

        assertThat(new String(data, UTF_8))
                .contains("2026-01-02T03:04:05.000006Z", "\"2026-01-02\"", "+05:30", "PT1.5S");
        assertThat(codec.decode(data)).isEqualTo(times);
    }

    @Test
    @DisplayName("a sealed type keeps its kind")
    void sealedType() {
        Codec<Event> codec = JsonCodec.of(Event.class);

        byte[] data = codec.encode(new Opened(1));

        assertThat(new String(data, UTF_8)).contains("\"kind\":\"opened\"");
        assertThat(codec.decode(data)).isEqualTo(new Opened(1));
    }

    @Test
    @DisplayName("generic types are named by a reference or put together at run time")
    void genericTypes() {
        Codec<Map<String, List<Status>>> named = JsonCodec.of(new TypeReference<>() {});
        JsonMapper mapper = JsonCodec.mapper();
        Codec<List<Status>> built =
                JsonCodec.of(mapper.getTypeFactory().constructCollectionType(List.class, Status.class), mapper);

        assertThat(named.decode(bytes("{\"a\":[\"OPEN\"]}"))).isEqualTo(Map.of("a", List.of(Status.OPEN)));
        assertThat(built.decode(bytes("[\"PAID\"]"))).containsExactly(Status.PAID);
    }

    @Test
    @DisplayName("unknown properties are ignored")
    void unknownProperties() {
        assertThat(codec.decode(bytes("{\"id\":7,\"new\":{\"deep\":[1]},\"to\":\"x\"}"))
                        .id())
                .isEqualTo(7);
    }

    @Test
    @DisplayName("a missing property is null or 0, and null for what has no null is undecodable")
    void missingProperties() {
        assertThat(codec.decode(bytes("{\"id\":7}"))).isEqualTo(new Payout(7, null, null, null, Optional.empty()));
        assertThat(codec.decode(bytes("{}")).id()).isZero();
        assertUndecodable(codec, bytes("{\"id\":null}"));
    }

    @Test
    @DisplayName("a mapper of the user's decides for itself")
    void ownMapper() {
        JsonMapper strict = JsonCodec.mapper()
                .rebuild()
                .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
                .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                .build();

        assertThatThrownBy(() -> JsonCodec.of(Opened.class, strict).decode(bytes("{\"id\":7,\"s3cret\":1}")))
                .isInstanceOf(DecodeException.class)
                .hasMessageNotContaining("s3cret");
        assertThat(JsonCodec.of(new TypeReference<Map<String, Integer>>() {}, strict)
                        .decode(bytes("{\"a\":1}")))
                .containsEntry("a", 1);
    }

    @Test
    @DisplayName("7.5 a record without a value is undecodable, with the way out")
    void tombstone() {
        assertThatThrownBy(() -> codec.decode(null))
                .isInstanceOf(DecodeException.class)
                .hasMessageContaining("a codec of your own");
    }

    @Test
    @DisplayName("7.5 JSON null is undecodable, unless the type has a value for it")
    void jsonNull() {
        assertThatThrownBy(() -> codec.decode(bytes("null")))
                .isInstanceOf(DecodeException.class)
                .hasMessage("JSON null is not a value of " + Payout.class.getName());
        assertThat(JsonCodec.of(JsonNode.class).decode(bytes("null")).isNull()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "s3cret",
                "\"s3cret\"",
                "[]",
                "{",
                "{\"to\":\"s3cret",
                "{\"id\":\"s3cret\"}",
                "{\"id\":1e400000000}",
                "{\"id\":99999999999999999999}",
                "{\"status\":\"s3cret\"}",
                "{\"amount\":{\"s3cret\":1}}",
                "{\"id\":1} s3cret",
                "{\"id\":1}{\"id\":2}",
                "{\"id\":1,}",
                "{'id':1}",
                "{\"id\":NaN}",
                "{\"to\":\"s3cret\\q\"}",
                "{\"to\":\"s3cret\n\"}",
                "\ufeff\ufeff{}"
            })
    @DisplayName("12.2 what is not JSON for the type is undecodable, and is not shown")
    void undecodable(String json) {
        assertUndecodable(codec, bytes(json));
    }

    @Test
    @DisplayName("12.2 hostile bytes are undecodable: depth, huge numbers and names, other encodings, random")
    void hostile() {
        Codec<JsonNode> tree = JsonCodec.of(JsonNode.class);
        assertUndecodable(tree, bytes("[".repeat(100_000)));
        assertUndecodable(tree, bytes("{\"a\":".repeat(100_000)));
        assertUndecodable(tree, bytes("9".repeat(100_000)));
        assertUndecodable(tree, bytes("{\"" + "a".repeat(100_000) + "\":1}"));
        assertUndecodable(codec, bytes("{\"amount\":" + "9".repeat(100_000) + "}"));
        assertUndecodable(codec, bytes("{\"x\":" + "[".repeat(100_000)));
        assertUndecodable(codec, new byte[] {'{', '"', (byte) 0xff, '"', ':', '1', '}'});
        assertUndecodable(codec, new byte[] {'{', '"', 't', 'o', '"', ':', '"', (byte) 0xc3, '(', '"', '}'});
        assertUndecodable(codec, new byte[] {(byte) 0xfe, (byte) 0xff, 0});
        assertUndecodable(codec, new byte[1_000]);
    }

    @Test
    @DisplayName("12.1 the message says which type, where in the bytes, and what kind of mistake")
    void message() {
        assertThatThrownBy(() -> codec.decode(bytes("{\"id\":1,\n \"status\":\"s3cret\"}")))
                .hasMessageMatching("not JSON for " + Payout.class.getName().replace("$", "\\$")
                        + " at line 2, column \\d+ \\(InvalidFormatException\\)");
    }

    @Test
    @DisplayName("12.1 what a constructor says about a value it refuses is not shown, only what it threw")
    void refusedByConstructor() {
        assertThatThrownBy(() -> JsonCodec.of(Percent.class).decode(bytes("{\"value\":12345}")))
                .isInstanceOf(DecodeException.class)
                .hasMessageContaining("caused by IllegalArgumentException")
                .hasMessageNotContaining("12345")
                .hasNoCause();
    }

    @Test
    @DisplayName("12.1 what cannot be encoded is an error that does not show the value")
    void unencodable() {
        List<Object> itself = new ArrayList<>();
        itself.add(itself);

        assertThatThrownBy(
                        () -> JsonCodec.of(new TypeReference<List<Object>>() {}).encode(itself))
                .isInstanceOf(EncodeException.class)
                .hasMessageStartingWith("no JSON for a value of java.util.List<java.lang.Object> (")
                .hasNoCause();
        assertThatThrownBy(() -> JsonCodec.of(Evasive.class).encode(new Evasive(1)))
                .isInstanceOf(EncodeException.class)
                .hasMessageContaining("caused by IllegalStateException")
                .hasMessageNotContaining("s3cret")
                .hasNoCause();
    }

    @Test
    @DisplayName("JSON is the codec of every type as soon as the module is there")
    void provider() {
        List<CodecProvider> providers = new ArrayList<>();
        ServiceLoader.load(CodecProvider.class).forEach(providers::add);

        assertThat(providers).singleElement().isInstanceOf(JacksonCodecProvider.class);
        assertThat(providers.getFirst().codecFor(Status.class).orElseThrow().encode(Status.PAID))
                .isEqualTo(bytes("\"PAID\""));
    }

    private static void assertUndecodable(Codec<?> codec, byte[] data) {
        assertThatThrownBy(() -> codec.decode(data))
                .isInstanceOf(DecodeException.class)
                .hasNoCause()
                .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(250).doesNotContain("s3cret"));
    }

    private static byte[] bytes(String json) {
        return json.getBytes(UTF_8);
    }
}
