package io.settlestream.internal.publish;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.settlestream.Message;
import io.settlestream.PublishException;
import io.settlestream.PublishException.Reason;
import io.settlestream.codec.Codec;
import io.settlestream.codec.CodecProvider;
import io.settlestream.internal.codec.Codecs;
import io.settlestream.internal.codec.TestCodecs;
import io.settlestream.internal.config.ProducerSettings;
import io.settlestream.kafka.KafkaPublish;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** A broker's publisher on a fake producer, with room for four records of a thousand bytes. */
final class Publishing {

    static final int MAX_REQUEST = 2_000;
    static final long BUFFER = 15_000;

    record Plain(String text) {}

    record NoCodec() {}

    final ManualTime time = new ManualTime();
    final FakeProducer producer = new FakeProducer();
    final BrokerPublisher broker = broker(TestCodecs.of(new Texts()));

    /** To topic {@code payouts}, without a bound on the wait for room. */
    final PublishSite payouts = broker.site(KafkaPublish.to("payouts"));

    BrokerPublisher broker(Codecs codecs) {
        return new BrokerPublisher(
                () -> producer,
                new ProducerSettings(Map.of(), BUFFER, MAX_REQUEST, Duration.ofSeconds(60)),
                codecs,
                time);
    }

    /** Fills the room and returns how many records fit. */
    int fill() throws InterruptedException {
        PublishSite site = broker.site(KafkaPublish.to("payouts").queueTimeout(Duration.ZERO));
        for (int sent = 0; ; sent++) {
            try {
                site.send(large(), new Reports());
            } catch (PublishException full) {
                assertThat(full.reason()).isEqualTo(Reason.QUEUE_FULL);
                assertThat(sent).isPositive();
                return sent;
            }
        }
    }

    /** Asserts that what came before left nothing behind. */
    void assertAllRoomIsFree() {
        assertThat(broker.unreported()).isZero();
        assertThat(broker.bytesInFlight()).isZero();
    }

    static Message<Plain> small() {
        return Message.of(new Plain("hi"));
    }

    static Message<Plain> large() {
        return Message.of(new Plain("x".repeat(1_000)));
    }

    /** Sends and returns why that was refused, having looked that the listener was not told. */
    static PublishException refusal(PublishSite site, Message<?> message) {
        Reports reports = new Reports();
        PublishException refused = catchThrowableOfType(PublishException.class, () -> site.send(message, reports));
        assertThat(refused).as("the refusal").isNotNull();
        assertThat(reports.calls).as("calls of the listener").hasValue(0);
        return refused;
    }

    /** Knows a codec of one type, which encodes to a text. */
    static <V> CodecProvider texts(Class<V> only, Function<V, String> text) {
        return new CodecProvider() {
            @Override
            public <T> Optional<Codec<T>> codecFor(Class<T> type) {
                return type == only
                        ? Optional.of(new TextCodec<>(value -> text.apply(only.cast(value))))
                        : Optional.empty();
            }
        };
    }

    /** Knows a codec of every type but {@link NoCodec}. */
    static final class Texts implements CodecProvider {
        @Override
        public <T> Optional<Codec<T>> codecFor(Class<T> type) {
            return type == NoCodec.class ? Optional.empty() : Optional.of(new TextCodec<>(Object::toString));
        }
    }

    private record TextCodec<T>(Function<T, String> text) implements Codec<T> {

        @Override
        public T decode(byte[] data) {
            throw new UnsupportedOperationException("publishing decodes nothing");
        }

        @Override
        public byte[] encode(T value) {
            return text.apply(value).getBytes(UTF_8);
        }
    }
}
