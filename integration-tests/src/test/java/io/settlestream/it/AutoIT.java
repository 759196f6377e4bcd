package io.settlestream.it;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import io.settlestream.HandlerOutcome;
import io.settlestream.Health;
import io.settlestream.RunningApp;
import io.settlestream.Subscriber;
import io.settlestream.codec.Codec;
import io.settlestream.kafka.KafkaTopic;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Commit.auto(): the position moves as records are handed over. */
class AutoIT {

    private final LiveKafka kafka = LiveKafka.shared();
    private final String group = LiveKafka.unique("group");

    private void committed(String topic, long offset) {
        LiveKafka.eventually(
                "committed is " + offset, () -> kafka.committed0(group, topic).equals(Optional.of(offset)));
    }

    @ParameterizedTest
    @CsvSource({"classic,1", "consumer,1", "classic,2"})
    @DisplayName("2.1 the position moves at hand-over, and not past a record that was not handed over")
    void movesAtHandOver(String protocol, int workers) {
        String topic = kafka.topic("auto", 1);
        String witness = kafka.topic("witness", 1);
        String witnessGroup = LiveKafka.unique("group");
        CountDownLatch release = new CountDownLatch(1);
        Subscriber<String, Object> slow = Subscriber.on(Service.auto(topic, group, protocol), String.class)
                .handle((value, context) -> {
                    Service.await(release);
                    return HandlerOutcome.ack();
                });
        Subscriber<String, Object> other = Subscriber.on(Service.tracked(witness, witnessGroup, protocol), String.class)
                .handle((value, context) -> HandlerOutcome.ack());
        kafka.produce(topic, 0, "a", "b", "c", "d");

        try (RunningApp app = Service.start(kafka, List.of(slow, other), mount -> mount.workers(workers))) {
            committed(topic, workers);
            // Intervals in which more would have been committed.
            for (long i = 1; i <= 3; i++) {
                long offset = i;
                kafka.produce(witness, 0, "w");
                LiveKafka.eventually(
                        "the witness commits",
                        () -> kafka.committed0(witnessGroup, witness).equals(Optional.of(offset)));
            }
            assertThat(kafka.committed0(group, topic)).contains((long) workers);
            assertThat(app.health().subscriptions().get(0).counts().acked()).isZero();

            release.countDown();
            committed(topic, 4);
        } finally {
            release.countDown();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("2.1 the position is committed at close, and not past what was queued and not handed over")
    void commitsAtClose(String protocol) {
        String topic = kafka.topic("auto-close", 1);
        CountDownLatch handling = new CountDownLatch(2);
        CountDownLatch release = new CountDownLatch(1);
        Subscriber<String, Object> subscriber = Subscriber.on(
                        Service.auto(topic, group, protocol).config("auto.commit.interval.ms", 3_600_000), String.class)
                .handle((value, context) -> {
                    handling.countDown();
                    if (value.equals("b")) {
                        Service.await(release);
                    }
                    return HandlerOutcome.ack();
                });
        kafka.produce(topic, 0, "a", "b", "c", "d");

        try (RunningApp app = Service.start(kafka, subscriber)) {
            LiveKafka.eventually("the second is being handled", () -> handling.getCount() == 0);
            assertThat(kafka.committed(group, topic)).isEmpty();
            var stopped = app.shutdown();
            LiveKafka.eventually("it stops", () -> app.health().status() == Health.Status.STOPPING);
            release.countDown();
            LiveKafka.get(stopped);
        } finally {
            release.countDown();
        }

        assertThat(kafka.committed0(group, topic)).contains(2L);
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("2.2 a retry is reported as unsupported, counted, and does not come back")
    void retryIsUnsupported(String protocol) {
        String topic = kafka.topic("auto-retry", 1);
        List<String> seen = new CopyOnWriteArrayList<>();
        Subscriber<String, Object> subscriber = Subscriber.on(Service.auto(topic, group, protocol), String.class)
                .handle((value, context) -> {
                    seen.add(value + "#" + context.attempt());
                    return value.equals("c") ? HandlerOutcome.ack() : HandlerOutcome.retry();
                });
        kafka.produce(topic, 0, "a", "b", "c");

        try (LogWatch log = LogWatch.on("io.settlestream.internal.settle.AutoSettlement");
                RunningApp app = Service.start(kafka, subscriber)) {
            committed(topic, 3);
            LiveKafka.eventually(
                    "the last is acked", () -> Service.only(app).counts().acked() == 1);
            assertThat(Service.only(app).counts().unsupportedRetries()).isEqualTo(2);
            assertThat(Service.only(app).counts().retried()).isZero();
            assertThat(Service.only(app).partitions())
                    .allMatch(partition -> partition.openRecords() == 0 && !partition.paused());
            // Rate-limited: one line for both.
            assertThat(log.lines(Level.WARN)).singleElement().asString().contains("subscription=\"" + topic);
        }

        assertThat(seen).containsExactly("a#1", "b#1", "c#1");
    }

    @ParameterizedTest
    @CsvSource({"classic,true", "consumer,true", "classic,false", "consumer,false"})
    @DisplayName("2.3 FAIL_FAST stops without committing the record that failed, also if it was committed meanwhile")
    void failFastDoesNotCommitTheFailed(String protocol, boolean committedMeanwhile) {
        String topic = kafka.topic("auto-fails", 1);
        CountDownLatch fail = new CountDownLatch(1);
        KafkaTopic source = committedMeanwhile
                ? Service.auto(topic, group, protocol)
                : Service.auto(topic, group, protocol).config("auto.commit.interval.ms", 3_600_000);
        Subscriber<String, Object> failing = Subscriber.on(source, String.class).handle((value, context) -> {
            if (value.equals("b")) {
                Service.await(fail);
                throw new IllegalArgumentException("no b, please");
            }
            return HandlerOutcome.ack();
        });
        kafka.produce(topic, 0, "a", "b", "c");

        try (RunningApp app = Service.start(kafka, failing)) {
            if (committedMeanwhile) {
                committed(topic, 2);
            }
            fail.countDown();
            assertThat(LiveKafka.get(app.stopping())).isEqualTo(RunningApp.StopReason.FAILURE);
            assertThat(LiveKafka.get(app.shutdown()).failure()).isPresent();
            assertThat(app.health().status()).isEqualTo(Health.Status.FAILED);
            assertThat(Service.only(app).failure())
                    .get()
                    .satisfies(failure -> assertThat(failure)
                            .hasMessageContaining(topic + "-0@1")
                            .hasRootCauseMessage("no b, please"));
        } finally {
            fail.countDown();
        }
        assertThat(kafka.committed0(group, topic)).contains(1L);

        // The next start has it first.
        List<String> seen = new CopyOnWriteArrayList<>();
        Subscriber<String, Object> next = Subscriber.on(Service.auto(topic, group, protocol), String.class)
                .handle((value, context) -> {
                    seen.add(value);
                    return HandlerOutcome.ack();
                });
        try (RunningApp app = Service.start(kafka, next)) {
            committed(topic, 3);
            LiveKafka.eventually("all are handled", () -> seen.size() == 2);
        }
        assertThat(seen).containsExactly("b", "c");
    }

    /** Numbers in decimal. */
    private static final class Numbers implements Codec<Integer> {
        @Override
        public Integer decode(byte[] data) {
            return Integer.valueOf(LiveKafka.text(data));
        }

        @Override
        public byte[] encode(Integer value) {
            return LiveKafka.bytes(value.toString());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("2.1 the position moves past what the decode policy settles")
    void movesPastTheUndecodable(String protocol) {
        String topic = kafka.topic("auto-decode", 1);
        List<Integer> seen = new CopyOnWriteArrayList<>();
        Subscriber<Integer, Object> subscriber = Subscriber.on(Service.auto(topic, group, protocol), new Numbers())
                .handle((value, context) -> {
                    seen.add(value);
                    return HandlerOutcome.ack();
                });
        kafka.produce(topic, 0, "1", "two", "3", "four");

        try (RunningApp app = Service.start(kafka, subscriber)) {
            committed(topic, 4);
            LiveKafka.eventually(
                    "all are settled", () -> Service.only(app).counts().dropped() == 2);
            assertThat(Service.only(app).counts().undecodable()).isEqualTo(2);
            LiveKafka.eventually("the rest is handled", () -> seen.equals(List.of(1, 3)));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("2.1, 10.3 a handler that outlasts the stop: its record was handed over, so it is committed")
    void aHandlerThatOutlastsTheStop(String protocol) {
        String topic = kafka.topic("auto-outlasts", 1);
        CountDownLatch handling = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        Subscriber<String, Object> subscriber = Subscriber.on(
                        Service.auto(topic, group, protocol).config("auto.commit.interval.ms", 3_600_000), String.class)
                .handle((value, context) -> {
                    handling.countDown();
                    Service.await(release);
                    return HandlerOutcome.ack();
                });
        kafka.produce(topic, 0, "a", "b");

        try (RunningApp app = Service.start(kafka, Duration.ZERO, List.of(subscriber), mount -> {})) {
            LiveKafka.eventually("the first is being handled", () -> handling.getCount() == 0);
        } finally {
            release.countDown();
        }

        assertThat(kafka.committed0(group, topic)).contains(1L);
    }
}
