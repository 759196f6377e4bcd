package io.settlestream.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import ch.qos.logback.classic.Level;
import io.settlestream.DecodePolicy;
import io.settlestream.ExceptionPolicy;
import io.settlestream.HandlerOutcome;
import io.settlestream.Health;
import io.settlestream.LaneKey;
import io.settlestream.RunningApp;
import io.settlestream.ServiceFailedException;
import io.settlestream.SettleStream;
import io.settlestream.StartupException;
import io.settlestream.Subscriber;
import io.settlestream.codec.Codec;
import io.settlestream.kafka.Commit;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of records that a handler throws on, or that cannot be decoded. */
class PoliciesIT {

    private final LiveKafka kafka = LiveKafka.shared();
    private final String group = LiveKafka.unique("policies-group");

    /** A value in JSON. */
    record Payout(long id, @Nullable String note, @Nullable Payout parent) {}

    static Stream<Arguments> modesAndWorkers() {
        return Stream.of(BatchIT.Mode.values())
                .flatMap(mode -> Stream.of("one", "shared", "keyed").map(workers -> Arguments.of(mode, workers)));
    }

    @ParameterizedTest
    @MethodSource("modesAndWorkers")
    @DisplayName(
            "7.5 FAIL_FAST, the default: the record stays open, nothing behind it is committed, the service stops as failed")
    void failFast(BatchIT.Mode mode, String workers) {
        String topic = kafka.topic("policies", 1);
        Subscriber<String, Object> subscriber = Subscriber.on(Services.topic(topic, group, mode.commit), String.class)
                .handle((value, context) -> {
                    if (value.equals("bad")) {
                        throw new IllegalStateException("cannot");
                    }
                    return HandlerOutcome.ack();
                });
        kafka.produce(topic, 0, "good", "bad", "behind", "far behind");

        try (CapturedLog log = new CapturedLog(Level.ERROR, "io.settlestream");
                RunningApp app = Services.start(subscriber, mount -> {
                    switch (workers) {
                        case "shared" -> mount.workers(3);
                        case "keyed" -> mount.workersByKey(3, LaneKey.RECORD_KEY);
                        default -> {}
                    }
                })) {
            LiveKafka.eventually("the service stops", () -> app.stopping().isDone());
            assertThat(app.stopping().join()).isEqualTo(RunningApp.StopReason.FAILURE);
            assertThat(Services.stopped(app).failure())
                    .hasValueSatisfying(failure -> assertThat(failure)
                            .isInstanceOf(ServiceFailedException.class)
                            .hasMessageContaining(topic + "-0@1")
                            .hasRootCauseMessage("cannot"));
            assertThat(app.health().status()).isEqualTo(Health.Status.FAILED);
            assertThat(Services.subscription(app).failure()).isPresent();
            assertThat(log.lines())
                    .singleElement(InstanceOfAssertFactories.STRING)
                    .as("said once, with what was thrown")
                    .contains(topic + "-0@1", "IllegalStateException: cannot");
        }

        assertThat(kafka.committed(group, topic)).isEqualTo(Map.of(0, 1L));
    }

    @Test
    @DisplayName("7.5 FAIL_FAST: run() returns by throwing what failed")
    void runThrows() {
        String topic = kafka.topic("policies", 1);
        Subscriber<String, Object> subscriber = Subscriber.on(Services.tracked(topic, group), String.class)
                .handle((value, context) -> {
                    throw new IllegalStateException("cannot");
                });
        kafka.produce(topic, 0, "bad");

        ServiceFailedException failed = catchThrowableOfType(
                ServiceFailedException.class,
                () -> SettleStream.app("policies", "1")
                        .withBroker(Services.broker(), scope -> scope.include(subscriber))
                        .run());

        assertThat(failed).hasRootCauseMessage("cannot");
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("7.5 RETRY: a record whose handler threw comes back before what is behind it")
    void retry(String protocol) {
        String topic = kafka.topic("policies", 1);
        List<String> seen = new CopyOnWriteArrayList<>();
        Subscriber<String, Object> subscriber = Subscriber.on(
                        Services.tracked(topic, group).config("group.protocol", protocol), String.class)
                .handle((value, context) -> {
                    seen.add(value + "#" + context.attempt());
                    if (value.equals("bad") && context.attempt() < 4) {
                        throw new IllegalStateException("not yet");
                    }
                    return HandlerOutcome.ack();
                });
        kafka.produce(topic, 0, "good", "bad", "behind");

        try (RunningApp app = Services.start(subscriber, mount -> mount.onException(ExceptionPolicy.RETRY))) {
            LiveKafka.eventually("all is settled", () -> committed(topic) == 3);
            assertThat(Services.counts(app).exceptions()).isEqualTo(3);
            assertThat(Services.counts(app).retried()).isEqualTo(3);
            assertThat(app.health().healthy()).isTrue();
        }

        assertThat(seen).containsExactly("good#1", "bad#1", "bad#2", "bad#3", "bad#4", "behind#1");
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("7.5 DROP: a record whose handler threw is settled and counted, and the rest goes on")
    void drop(BatchIT.Mode mode) {
        String topic = kafka.topic("policies", 1);
        List<String> seen = new CopyOnWriteArrayList<>();
        Subscriber<String, Object> subscriber = Subscriber.on(Services.topic(topic, group, mode.commit), String.class)
                .handle((value, context) -> {
                    seen.add(value + "#" + context.attempt());
                    return value.equals("bad") ? null : HandlerOutcome.ack();
                });
        kafka.produce(topic, 0, "good", "bad", "behind");

        try (RunningApp app = Services.start(subscriber, mount -> mount.onException(ExceptionPolicy.DROP))) {
            LiveKafka.eventually(
                    "all is settled",
                    () -> committed(topic) == 3 && Services.counts(app).acked() == 2);
            assertThat(Services.counts(app).exceptions()).isEqualTo(1);
            assertThat(Services.counts(app).dropped()).isEqualTo(1);
            assertThat(app.health().healthy()).isTrue();
        }

        assertThat(seen).containsExactly("good#1", "bad#1", "behind#1");
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "DEAD_LETTER")
    @DisplayName("1.5 an Error fails the subscription whatever the policy, and health says why")
    void errors(ExceptionPolicy.Fixed policy) {
        String topic = kafka.topic("policies", 1);
        Subscriber<String, Object> subscriber = Subscriber.on(Services.tracked(topic, group), String.class)
                .handle((value, context) -> {
                    throw new StackOverflowError("too deep");
                });
        kafka.produce(topic, 0, "bad");

        try (RunningApp app = Services.start(subscriber, mount -> mount.onException(policy))) {
            LiveKafka.eventually("the service stops", () -> app.stopping().isDone());
            assertThat(Services.stopped(app).failure())
                    .hasValueSatisfying(
                            failure -> assertThat(failure).hasRootCauseInstanceOf(StackOverflowError.class));
            assertThat(app.health().failure()).isPresent();
        }

        assertThat(committed(topic)).isZero();
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("7.5 decode DROP, the default: what cannot be decoded is settled and counted, and the rest arrives")
    void decodeDrop(BatchIT.Mode mode) {
        String topic = kafka.topic("policies", 1);
        List<Long> seen = new CopyOnWriteArrayList<>();
        Subscriber<Payout, Object> subscriber = Subscriber.on(Services.topic(topic, group, mode.commit), Payout.class)
                .handle((value, context) -> {
                    seen.add(value.id());
                    return HandlerOutcome.ack();
                });
        kafka.produce(topic, 0, "{\"id\":1}", "{garbage", null, "", "null", "[]", "{\"id\":2} tail", "{\"id\":3}");

        try (RunningApp app = Services.start(subscriber)) {
            LiveKafka.eventually(
                    "all is settled",
                    () -> committed(topic) == 8 && Services.counts(app).acked() == 2);
            assertThat(Services.counts(app).undecodable()).isEqualTo(6);
            assertThat(Services.counts(app).dropped()).isEqualTo(6);
            assertThat(app.health().healthy()).isTrue();
        }

        assertThat(seen).containsExactly(1L, 3L);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("7.5 decode FAIL_FAST: the record stays open and the service stops")
    void decodeFailFast(BatchIT.Mode mode) {
        String topic = kafka.topic("policies", 1);
        List<String> seen = new CopyOnWriteArrayList<>();
        Subscriber<Payout, Object> subscriber = Subscriber.on(Services.topic(topic, group, mode.commit), Payout.class)
                .handle((value, context) -> {
                    seen.add(String.valueOf(value.id()));
                    return HandlerOutcome.ack();
                });
        kafka.produce(topic, 0, "{\"id\":1}", "{secret", "{\"id\":2}");

        try (RunningApp app = Services.start(subscriber, mount -> mount.onDecodeFailure(DecodePolicy.FAIL_FAST))) {
            LiveKafka.eventually("the service stops", () -> app.stopping().isDone());
            assertThat(Services.stopped(app).failure())
                    .hasValueSatisfying(failure -> assertThat(failure)
                            .hasMessageContaining(topic + "-0@1")
                            .hasStackTraceContaining("not JSON")
                            .satisfies(f -> assertThat(f).message().doesNotContain("secret")));
        }

        assertThat(seen).containsExactly("1");
        assertThat(committed(topic)).isEqualTo(1);
    }

    @Test
    @DisplayName(
            "7.5, 12.1 a codec that throws anything else is a decode failure too, and what it says is told to nobody")
    void codecThrows() {
        String topic = kafka.topic("policies", 1);
        Codec<Integer> codec = new Codec<>() {
            @Override
            public Integer decode(byte @Nullable [] data) {
                String text = LiveKafka.text(data);
                return text.equals("none") ? null : Integer.valueOf(text);
            }

            @Override
            public byte[] encode(Integer value) {
                throw new UnsupportedOperationException();
            }
        };
        List<Integer> seen = new CopyOnWriteArrayList<>();
        Subscriber<Integer, Object> subscriber = Subscriber.on(Services.tracked(topic, group), codec)
                .handle((value, context) -> {
                    seen.add(value);
                    return HandlerOutcome.ack();
                });
        kafka.produce(topic, 0, "1", "secret", null, "none", "2");

        try (RunningApp app = Services.start(subscriber)) {
            LiveKafka.eventually("all is settled", () -> committed(topic) == 5);
            assertThat(Services.counts(app).undecodable()).isEqualTo(3);
            assertThat(app.health().healthy()).isTrue();
        }
        assertThat(seen).containsExactly(1, 2);

        kafka.produce(topic, 0, "secret");
        try (RunningApp app = Services.start(subscriber, mount -> mount.onDecodeFailure(DecodePolicy.FAIL_FAST))) {
            LiveKafka.eventually("the service stops", () -> app.stopping().isDone());
            assertThat(Services.stopped(app).failure()).hasValueSatisfying(failure -> {
                StringWriter trace = new StringWriter();
                failure.printStackTrace(new PrintWriter(trace));
                assertThat(trace.toString())
                        .contains("NumberFormatException", topic + "-0@5")
                        .doesNotContain("secret");
            });
        }
        assertThat(committed(topic)).isEqualTo(5);
    }

    @Test
    @DisplayName("7.5 decode RETRY: the record is decoded again until it can be, before what is behind it")
    void decodeRetry() {
        String topic = kafka.topic("policies", 1);
        List<String> seen = new CopyOnWriteArrayList<>();
        Subscriber<String, Object> subscriber = Subscriber.on(
                        Services.tracked(topic, group), new FlakyCodec("flaky", 3))
                .handle((value, context) -> {
                    seen.add(value + "#" + context.attempt());
                    return HandlerOutcome.ack();
                });
        kafka.produce(topic, 0, "good", "flaky", "behind");

        try (RunningApp app = Services.start(subscriber, mount -> mount.onDecodeFailure(DecodePolicy.RETRY))) {
            LiveKafka.eventually("all is settled", () -> committed(topic) == 3);
            assertThat(Services.counts(app).undecodable()).isEqualTo(3);
        }

        assertThat(seen).containsExactly("good#1", "flaky#4", "behind#1");
    }

    @Test
    @DisplayName("7.5, 2.3 RETRY as a policy is refused under Auto, both of them in one report")
    void retryUnderAuto() {
        Subscriber<String, Object> subscriber = Subscriber.on(
                        Services.topic("anything", group, Commit.auto()), String.class)
                .handle((value, context) -> HandlerOutcome.ack());

        StartupException refused = catchThrowableOfType(
                StartupException.class,
                () -> Services.start(
                        subscriber,
                        mount -> mount.onException(ExceptionPolicy.RETRY).onDecodeFailure(DecodePolicy.RETRY)));

        assertThat(refused.problems())
                .hasSize(2)
                .anySatisfy(problem -> assertThat(problem).contains("onException(RETRY)", "Commit.tracked()"))
                .anySatisfy(problem -> assertThat(problem).contains("onDecodeFailure(RETRY)", "Commit.tracked()"));
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("12.2 hostile keys, headers, payloads and sizes fail their own record and nothing else")
    void hostileRecords(LaneKey key) {
        long seed = System.nanoTime();
        String topic = kafka.topic("policies", 1);
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        hostilePayloads(new Random(seed)).forEach(payload -> records.add(record(topic, null, payload)));
        int undecodable = records.size();
        records.add(record(topic, new byte[0], json(1)));
        records.add(record(topic, new byte[300_000], json(2)));
        records.add(record(topic, new byte[] {(byte) 0xff, (byte) 0xfe, 0}, json(3)));
        records.add(record(topic, LiveKafka.bytes("key\r\n\u0000\u202e%s{}${jndi:x}"), json(4)));
        records.add(hostileHeaders(record(topic, null, json(5))));
        ProducerRecord<byte[], byte[]> large = record(topic, null, json(6, "n".repeat(900_000)));
        records.add(large);
        // Keys whose hash codes are equal.
        for (int i = 0; i < 64; i++) {
            records.add(record(topic, collidingKey(i), json(100 + i)));
        }
        records.add(record(topic, null, json(7)));
        try (KafkaProducer<byte[], byte[]> producer = kafka.producer(Map.of("max.request.size", 2 << 20))) {
            records.stream().map(producer::send).toList().forEach(LiveKafka::get);
        }
        List<Long> seen = new CopyOnWriteArrayList<>();
        Subscriber<Payout, Object> subscriber = Subscriber.on(Services.tracked(topic, group), Payout.class)
                .handle((value, context) -> {
                    seen.add(value.id());
                    return HandlerOutcome.ack();
                });

        try (RunningApp app = Services.start(subscriber, mount -> mount.workersByKey(3, key))) {
            LiveKafka.eventually("all is settled", () -> committed(topic) == records.size());
            assertThat(Services.counts(app).undecodable()).as("seed %d", seed).isEqualTo(undecodable);
            assertThat(app.health().healthy()).isTrue();
        }

        assertThat(seen).as("seed %d", seed).hasSize(7 + 64).contains(1L, 2L, 3L, 4L, 5L, 6L, 7L);
    }

    private static List<byte[]> hostilePayloads(Random random) {
        byte[] noise = new byte[10_000];
        random.nextBytes(noise);
        noise[0] = (byte) 0x80;
        List<byte[]> payloads = new ArrayList<>();
        payloads.add(null);
        payloads.add(new byte[0]);
        payloads.add(noise);
        payloads.add(new byte[900_000]);
        payloads.add(LiveKafka.bytes("[".repeat(200_000)));
        payloads.add(LiveKafka.bytes("{\"parent\":".repeat(50_000) + "null" + "}".repeat(50_000)));
        payloads.add(LiveKafka.bytes("{\"ignored\":" + "[".repeat(200_000) + "]".repeat(200_000) + "}"));
        payloads.add(LiveKafka.bytes("{\"id\":1e999999999}"));
        payloads.add(LiveKafka.bytes("{\"id\":" + "9".repeat(500_000) + "}"));
        payloads.add(LiveKafka.bytes("{\"id\":\"x\"}"));
        payloads.add(LiveKafka.bytes("{\"id\":1,\"note\":\"\ud83d"));
        payloads.add(LiveKafka.bytes("\ufeff\u0000"));
        return payloads;
    }

    private static ProducerRecord<byte[], byte[]> hostileHeaders(ProducerRecord<byte[], byte[]> record) {
        for (int i = 0; i < 5_000; i++) {
            record.headers().add(new RecordHeader("x", new byte[] {(byte) i}));
        }
        record.headers().add(new RecordHeader("", (byte[]) null));
        record.headers().add(new RecordHeader("\r\nname: \u0000", new byte[0]));
        record.headers().add((Header) new RecordHeader("n".repeat(30_000), new byte[100_000]));
        return record;
    }

    private static byte[] collidingKey(int n) {
        // "Aa" and "BB" have the same hash code, and so have all texts made of them.
        StringBuilder key = new StringBuilder();
        for (int bit = 0; bit < 6; bit++) {
            key.append((n >> bit & 1) == 0 ? "Aa" : "BB");
        }
        return LiveKafka.bytes(key.toString());
    }

    private static ProducerRecord<byte[], byte[]> record(String topic, byte[] key, byte[] value) {
        return new ProducerRecord<>(topic, 0, key, value);
    }

    private static byte[] json(long id) {
        return json(id, "");
    }

    private static byte[] json(long id, String note) {
        return LiveKafka.bytes("{\"id\":" + id + ",\"note\":\"" + note + "\"}");
    }

    private long committed(String topic) {
        return kafka.committed0(group, topic).orElse(-1L);
    }
}
