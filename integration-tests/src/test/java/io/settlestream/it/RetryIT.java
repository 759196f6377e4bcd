package io.settlestream.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.ExceptionPolicy;
import io.settlestream.HandlerOutcome;
import io.settlestream.LaneKey;
import io.settlestream.RunningApp;
import io.settlestream.Subscriber;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Records that come back in their own subscription. */
class RetryIT {

    private final LiveKafka kafka = LiveKafka.shared();
    private final String group = LiveKafka.unique("group");
    private final List<String> seen = new CopyOnWriteArrayList<>();

    private void committed(String topic, long offset) {
        LiveKafka.eventually(
                "committed is " + offset, () -> kafka.committed0(group, topic).equals(Optional.of(offset)));
    }

    @ParameterizedTest
    @CsvSource({"classic,outcome", "consumer,outcome", "classic,exception"})
    @DisplayName("3.4 one lane: a retry runs again before any record behind it, attempt by attempt")
    void inOrderOnOneLane(String protocol, String how) {
        String topic = kafka.topic("retry", 1);
        Subscriber<String, Object> subscriber = Subscriber.on(Service.tracked(topic, group, protocol), String.class)
                .handle((value, context) -> {
                    seen.add(value + "#" + context.attempt());
                    if ((value.equals("a") || value.equals("b")) && context.attempt() < 4) {
                        if (how.equals("exception")) {
                            throw new IllegalStateException("again, please");
                        }
                        return HandlerOutcome.retry();
                    }
                    return HandlerOutcome.ack();
                });
        kafka.produce(topic, 0, "a", "b", "c");

        try (RunningApp app = Service.start(
                kafka,
                subscriber,
                mount -> mount.onException(ExceptionPolicy.RETRY)
                        .retryBackoff(Duration.ofMillis(20), Duration.ofMillis(20)))) {
            committed(topic, 3);
            assertThat(Service.only(app).counts().retried()).isEqualTo(6);
            assertThat(Service.only(app).counts().exceptions()).isEqualTo(how.equals("exception") ? 6 : 0);
        }

        assertThat(seen).containsExactly("a#1", "a#2", "a#3", "a#4", "b#1", "b#2", "b#3", "b#4", "c#1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("3.4 workers: a retry that is due runs before any record that no handler has been given")
    void aheadOfTheQueueWithWorkers(String protocol) {
        String topic = kafka.topic("retry-workers", 1);
        CountDownLatch release = new CountDownLatch(1);
        Subscriber<String, Object> subscriber = Subscriber.on(Service.tracked(topic, group, protocol), String.class)
                .handle((value, context) -> {
                    if (value.equals("hold")) {
                        Service.await(release);
                        return HandlerOutcome.ack();
                    }
                    seen.add(value + "#" + context.attempt());
                    return context.attempt() < 4 ? HandlerOutcome.retry() : HandlerOutcome.ack();
                });
        kafka.produce(topic, 0, "hold", "a", "b", "c");

        // One worker is held; so the other has to choose between a retry and the queue each time.
        try (RunningApp app = Service.start(
                kafka, subscriber, mount -> mount.workers(2).retryBackoff(Duration.ZERO, Duration.ZERO))) {
            LiveKafka.eventually("all others are handled", () -> seen.size() == 12);
            assertThat(kafka.committed0(group, topic)).contains(0L);
            release.countDown();
            committed(topic, 4);
        } finally {
            release.countDown();
        }

        assertThat(seen)
                .containsExactly("a#1", "a#2", "a#3", "a#4", "b#1", "b#2", "b#3", "b#4", "c#1", "c#2", "c#3", "c#4");
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("3.4, 3.6 keyed workers: a retry holds up its key only, and its key keeps its order")
    void holdsUpItsKeyOnly(String protocol) {
        String topic = kafka.topic("retry-keys", 1);
        AtomicInteger othersHandled = new AtomicInteger();
        AtomicInteger othersWhenTheRetryEnded = new AtomicInteger();
        Subscriber<String, Object> subscriber = Subscriber.on(Service.tracked(topic, group, protocol), String.class)
                .handle((value, context) -> {
                    if (value.startsWith("other")) {
                        othersHandled.incrementAndGet();
                        return HandlerOutcome.ack();
                    }
                    seen.add(value + (context.attempt() == 1 ? "" : " again"));
                    // Comes back until all of the other keys are through; both workers must serve them meanwhile.
                    if (value.equals("a1") && (context.attempt() == 1 || othersHandled.get() < 20)) {
                        return HandlerOutcome.retry();
                    }
                    if (value.equals("a1")) {
                        othersWhenTheRetryEnded.set(othersHandled.get());
                    }
                    return HandlerOutcome.ack();
                });
        kafka.produceKeyed(topic, 0, "a", "a1", "a2", "a3");
        for (int i = 0; i < 20; i++) {
            kafka.produceKeyed(topic, 0, "key" + i % 5, "other" + i);
        }

        try (RunningApp app = Service.start(
                kafka,
                subscriber,
                mount -> mount.workersByKey(2, LaneKey.RECORD_KEY)
                        .retryBackoff(Duration.ofMillis(20), Duration.ofMillis(20)))) {
            committed(topic, 23);
        }

        assertThat(othersWhenTheRetryEnded).hasValue(20);
        assertThat(seen.stream().distinct()).containsExactly("a1", "a1 again", "a2", "a3");
        assertThat(seen).endsWith("a1 again", "a2", "a3");
    }

    @ParameterizedTest
    @CsvSource({"classic,lane", "consumer,lane", "classic,workers", "classic,keys", "classic,batches"})
    @DisplayName("3.4 a retry needs no new record: an idle subscription runs it")
    void anIdleSubscriptionWakes(String protocol, String lanes) {
        String topic = kafka.topic("retry-idle", 1);
        var draft = Subscriber.on(
                Service.tracked(topic, group, protocol).config("auto.commit.interval.ms", 3_600_000), String.class);
        Subscriber<String, Object> subscriber = lanes.equals("batches")
                ? draft.<Object>handleBatch((values, context) ->
                                context.element(0).attempt() < 5 ? HandlerOutcome.retry() : HandlerOutcome.ack())
                        .batch(3)
                : draft.handle(
                        (value, context) -> context.attempt() < 5 ? HandlerOutcome.retry() : HandlerOutcome.ack());
        kafka.produce(topic, 0, "only");

        try (RunningApp app = Service.start(kafka, subscriber, mount -> {
            mount.retryBackoff(Duration.ofMillis(5), Duration.ofMillis(10));
            switch (lanes) {
                case "workers" -> mount.workers(3);
                case "keys" -> mount.workersByKey(3);
                default -> {}
            }
        })) {
            LiveKafka.eventually(
                    "the fifth attempt acks", () -> Service.only(app).counts().acked() == 1);
            assertThat(Service.only(app).counts().retried()).isEqualTo(4);
        }
        assertThat(kafka.committed0(group, topic)).contains(1L);
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("3.4 key, value, headers, offset and timestamp of a retry are unchanged, the attempt is one higher")
    void comesBackUnchanged(String protocol) {
        String topic = kafka.topic("retry-same", 1);
        List<Integer> attempts = new CopyOnWriteArrayList<>();
        Subscriber<byte[], Object> subscriber = Subscriber.on(Service.tracked(topic, group, protocol), byte[].class)
                .handle((value, context) -> {
                    attempts.add(context.attempt());
                    List<String> headers = StreamSupport.stream(
                                    context.headers().spliterator(), false)
                            .map(header -> header.key() + "=" + Arrays.toString(header.value()))
                            .toList();
                    seen.add(Arrays.toString(context.key())
                            + Arrays.toString(value)
                            + headers
                            + context.offset()
                            + context.timestamp()
                            + context.topic()
                            + context.partition());
                    return context.attempt() < 4 ? HandlerOutcome.retry() : HandlerOutcome.ack();
                });
        try (KafkaProducer<byte[], byte[]> producer = kafka.producer(Map.of())) {
            ProducerRecord<byte[], byte[]> record =
                    new ProducerRecord<>(topic, 0, 1_234_567_890_123L, new byte[] {1, 2}, new byte[] {0, -1});
            record.headers()
                    .add("twice", new byte[] {1})
                    .add("twice", new byte[] {2})
                    .add("null", null);
            LiveKafka.get(producer.send(record));
        }

        try (RunningApp app = Service.start(kafka, subscriber)) {
            committed(topic, 1);
        }

        assertThat(attempts).containsExactly(1, 2, 3, 4);
        assertThat(seen)
                .hasSize(4)
                .containsOnly("[1, 2][0, -1][twice=[1], twice=[2], null=null]02009-02-13T23:31:30.123Z" + topic + "0");
    }

    @ParameterizedTest
    @CsvSource({"classic,outcome", "consumer,outcome", "classic,exception", "consumer,exception"})
    @DisplayName("3.6 a record that always fails backs off and does not spin, while another partition flows")
    void doesNotSpin(String protocol, String how) {
        String topic = kafka.topic("backoff", 2);
        int each = 400;
        CountDownLatch untilAttempt = new CountDownLatch(5);
        Subscriber<String, Object> subscriber = Subscriber.on(Service.tracked(topic, group, protocol), String.class)
                .handle((value, context) -> {
                    if (!value.equals("bad")) {
                        return HandlerOutcome.ack();
                    }
                    seen.add(value + "#" + context.attempt());
                    untilAttempt.countDown();
                    if (how.equals("exception")) {
                        throw new IllegalStateException("always");
                    }
                    return HandlerOutcome.retry();
                });
        kafka.produce(topic, 0, "bad", "behind");
        kafka.produce(topic, 1, IntStream.range(0, each).mapToObj(i -> "good").toArray(String[]::new));

        long begin = System.nanoTime();
        try (RunningApp app = Service.start(
                kafka,
                subscriber,
                mount -> mount.workersByKey(2, LaneKey.PARTITION).onException(ExceptionPolicy.RETRY))) {
            LiveKafka.eventually(
                    "the other partition is through",
                    () -> Long.valueOf(each)
                            .equals(kafka.committed(group, topic).get(1)));
            LiveKafka.eventually("some attempts", () -> untilAttempt.getCount() == 0);
            int attempts = seen.size();
            long elapsed = System.nanoTime() - begin;

            // As many as the default back-off allows in the time that has passed, however long that was.
            assertThat(attempts).isLessThanOrEqualTo(mostAttempts(elapsed));
            assertThat(Service.only(app).counts().retried()).isBetween((long) attempts - 1, attempts + 1L);
            assertThat(Service.only(app).counts().acked()).isEqualTo(each);
            assertThat(kafka.committed(group, topic)).isEqualTo(Map.of(0, 0L, 1, (long) each));
        }

        assertThat(kafka.committed(group, topic)).containsEntry(0, 0L);
        List<String> expected = new ArrayList<>();
        for (int i = 1; i <= seen.size(); i++) {
            expected.add("bad#" + i);
        }
        assertThat(seen).isEqualTo(expected);
    }

    /** At once, then after 50 ms, doubling to 1 s. */
    private static int mostAttempts(long nanos) {
        int attempts = 2;
        long wait = Duration.ofMillis(50).toNanos();
        long spent = wait;
        while (spent <= nanos) {
            attempts++;
            wait = Math.min(2 * wait, Duration.ofSeconds(1).toNanos());
            spent += wait;
        }
        return attempts;
    }
}
