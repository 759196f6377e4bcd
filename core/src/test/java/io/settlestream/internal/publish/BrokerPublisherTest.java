package io.settlestream.internal.publish;

import static io.settlestream.internal.publish.Publishing.small;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.settlestream.PublishException;
import io.settlestream.PublishException.Reason;
import io.settlestream.PublishedRecord;
import io.settlestream.internal.codec.TestCodecs;
import io.settlestream.internal.config.ProducerSettings;
import io.settlestream.internal.publish.Threads.Call;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

class BrokerPublisherTest {

    private static final Duration FLUSH = Duration.ofSeconds(30);
    private static final ProducerRecord<byte[], byte[]> RECORD =
            new ProducerRecord<>("payouts", new byte[] {1}, new byte[] {2});

    private final ManualTime time = new ManualTime();
    private final FakeProducer producer = new FakeProducer();
    private final AtomicInteger opened = new AtomicInteger();
    private final BrokerPublisher broker = publisher(producer);

    // ---- opening

    @Test
    @DisplayName("6.6: a broker that nothing is published to opens no producer, also while it closes")
    void opensNothing() {
        assertThat(broker.unreported()).isZero();
        assertThat(broker.flushAndClose(FLUSH)).isZero();

        assertThat(opened).hasValue(0);
    }

    @Test
    @DisplayName("6.2: the producer is opened once, by open or by the first publish")
    void opensOnce() throws InterruptedException {
        broker.open();
        broker.open();
        broker.send(RECORD, null, new Reports());

        assertThat(opened).hasValue(1);
    }

    @Test
    @DisplayName("6.1: a producer that cannot be opened is a typed error, and is tried again")
    void opensAgain() throws InterruptedException {
        AtomicInteger attempts = new AtomicInteger();
        BrokerPublisher failing = publisher(() -> {
            if (attempts.incrementAndGet() == 1) {
                throw new KafkaException("No resolvable bootstrap urls given in bootstrap.servers");
            }
            return producer;
        });

        PublishException refused =
                catchThrowableOfType(PublishException.class, () -> failing.send(RECORD, null, new Reports()));
        failing.send(RECORD, null, new Reports());

        assertThat(refused.reason()).isEqualTo(Reason.NOT_ACCEPTED);
        assertThat(refused).message().contains("could not be opened", "bootstrap.servers");
        assertThat(producer.taken).hasSize(1);
    }

    @Test
    @DisplayName("7.3: a copy keeps a null value and a null key")
    void nullsStay() throws InterruptedException {
        broker.send(new ProducerRecord<>("payouts", null, null), null, new Reports());

        ProducerRecord<byte[], byte[]> copy = producer.taken.remove().record();
        assertThat(copy.key()).isNull();
        assertThat(copy.value()).isNull();
    }

    // ---- closing the sites

    @Test
    @DisplayName("10.3: after the sites are closed a publish fails as closed, and open refuses")
    void closed() {
        broker.open();
        broker.closeSites();
        broker.closeSites();
        Reports reports = new Reports();

        PublishException refused =
                catchThrowableOfType(PublishException.class, () -> broker.send(RECORD, null, reports));

        assertThat(refused.reason()).isEqualTo(Reason.CLOSED);
        assertThat(refused.topic()).isEqualTo("payouts");
        assertThat(reports.calls).hasValue(0);
        assertThat(producer.taken).isEmpty();
        assertThatIllegalStateException().isThrownBy(broker::open);
    }

    @Test
    @DisplayName("10.3: closing the sites ends the wait for room")
    void closeEndsTheWait() throws InterruptedException {
        BrokerPublisher small = publisher(() -> producer, 100);
        small.send(RECORD, null, new Reports());
        Call<Object> waiting = Threads.call(() -> {
            small.send(RECORD, null, new Reports());
            return "sent";
        });
        Threads.until("it waits", () -> waiting.thread().getState() == Thread.State.WAITING);

        small.closeSites();

        assertThat(waiting.failure())
                .isInstanceOfSatisfying(
                        PublishException.class,
                        failure -> assertThat(failure.reason()).isEqualTo(Reason.CLOSED));
        assertThat(small.unreported()).isEqualTo(1);
    }

    @Test
    @DisplayName("10.3: what the producer fails because it closes is closed, what Kafka answers meanwhile is not")
    void closedByReport() throws InterruptedException {
        Reports refused = new Reports();
        Reports aborted = new Reports();
        broker.send(RECORD, null, refused);
        broker.send(RECORD, null, aborted);
        broker.closeSites();

        producer.taken.remove().fail(new NotEnoughReplicasException("1"));
        producer.taken.remove().fail(new KafkaException("Producer is closed forcefully."));

        assertThat(refused.failure.reason()).isEqualTo(Reason.NOT_ACCEPTED);
        assertThat(aborted.failure.reason()).isEqualTo(Reason.CLOSED);
    }

    // ---- flushing

    @Test
    @DisplayName("6.5: with nothing in flight a close waits for nothing and closes in order")
    void nothingInFlight() {
        broker.open();

        assertThat(broker.flushAndClose(FLUSH)).isZero();

        assertThat(producer.flushes).hasValue(0);
        assertThat(producer.closedWith.join()).isPositive();
        assertThat(time.timers()).isZero();
    }

    @Test
    @DisplayName("6.5: late reports that come in time leave nothing unknown")
    void lateReports() throws InterruptedException {
        broker.send(RECORD, null, new Reports());
        broker.send(RECORD, null, new Reports());
        producer.flushBlockedOn = new CountDownLatch(1);
        Call<Integer> close = Threads.call(() -> broker.flushAndClose(FLUSH));
        Threads.until("it flushes", () -> producer.flushes.get() == 1);
        time.advance(FLUSH.minusNanos(1));

        producer.taken.remove().accept(1);
        assertThat(close.result()).isNotDone();
        producer.taken.remove().fail(new NotEnoughReplicasException("1"));

        assertThat(close.join()).isZero();
        assertThat(producer.closedWith.join()).isPositive();
        assertThat(time.timers()).isZero();
    }

    @Test
    @DisplayName("6.5: a listener has been told before its record counts as reported")
    void toldBeforeCounted() throws InterruptedException {
        List<Integer> unreported = new ArrayList<>();
        broker.send(RECORD, null, new ReportListener() {
            @Override
            public void accepted(PublishedRecord record) {
                unreported.add(broker.unreported());
            }

            @Override
            public void failed(PublishException failure) {}
        });

        producer.taken.remove().accept(1);

        assertThat(unreported).containsExactly(1);
        assertThat(broker.unreported()).isZero();
    }

    @Test
    @DisplayName("6.5: reports that never come are counted when the time is up, although flush never returns")
    void reportsNeverCome() throws InterruptedException {
        broker.send(RECORD, null, new Reports());
        broker.send(RECORD, null, new Reports());
        producer.flushBlockedOn = new CountDownLatch(1);
        Call<Integer> close = Threads.call(() -> broker.flushAndClose(FLUSH));
        Threads.until("it waits", () -> time.timers() == 1);

        time.advance(FLUSH);

        assertThat(close.join()).isEqualTo(2);
        assertThat(producer.closedWith.join())
                .as("nothing is waited for any more")
                .isZero();
    }

    @Test
    @DisplayName("12.3: a producer that does not close is left alone after a bound")
    void closeNeverReturns() throws InterruptedException {
        broker.open();
        producer.closeBlockedOn = new CountDownLatch(1);
        Call<Integer> close = Threads.call(() -> broker.flushAndClose(FLUSH));
        Threads.until("it waits", () -> time.timers() == 1);

        time.advance(Duration.ofSeconds(5));

        assertThat(close.join()).isZero();
        producer.closeBlockedOn.countDown();
    }

    @Test
    @DisplayName("6.5: closing twice, also at once, closes once and returns the same")
    void twice() throws InterruptedException {
        broker.send(RECORD, null, new Reports());
        Call<Integer> first = Threads.call(() -> broker.flushAndClose(FLUSH));
        Threads.until("the first waits", () -> time.timers() == 1);
        Call<Integer> second = Threads.call(() -> broker.flushAndClose(Duration.ZERO));
        Threads.until("the second waits", () -> second.thread().getState() == Thread.State.WAITING);

        time.advance(FLUSH);

        assertThat(first.join()).isEqualTo(1);
        assertThat(second.join()).isEqualTo(1);
        assertThat(broker.flushAndClose(FLUSH)).isEqualTo(1);
        assertThat(producer.flushes).hasValue(1);
    }

    @Test
    @DisplayName("6.5: an interrupt ends the wait as if the time were up, and stays set")
    void interruptedClose() throws InterruptedException {
        broker.send(RECORD, null, new Reports());
        Call<Boolean> close = Threads.call(() -> {
            int left = broker.flushAndClose(FLUSH);
            return left == 1 && Thread.interrupted();
        });
        Threads.until("it waits", () -> time.timers() == 1);

        close.thread().interrupt();

        assertThat(close.join()).isTrue();
        assertThat(producer.closedWith.join()).isZero();
    }

    @Test
    @DisplayName("6.5: Kafka's own fake: a flush brings in what is on its way")
    void flushBringsReports() throws InterruptedException {
        MockProducer<byte[], byte[]> mock =
                new MockProducer<>(false, null, new ByteArraySerializer(), new ByteArraySerializer());
        BrokerPublisher flushing = publisher(mock);
        Reports reports = new Reports();
        flushing.send(RECORD, null, reports);

        assertThat(flushing.flushAndClose(FLUSH)).isZero();

        assertThat(reports.accepted).isNotNull();
        assertThat(mock.closed()).isTrue();
    }

    // ---- races

    @RepeatedTest(30)
    @DisplayName("6.5: a send that races with the close is either counted or refused as closed, never lost")
    void sendsRaceWithClose() throws InterruptedException {
        int senders = 4;
        AtomicInteger sent = new AtomicInteger();
        CountDownLatch running = new CountDownLatch(senders);
        List<Call<Reason>> calls = new ArrayList<>();
        for (int i = 0; i < senders; i++) {
            calls.add(Threads.call(() -> {
                while (true) {
                    try {
                        broker.send(RECORD, null, new Reports());
                        sent.incrementAndGet();
                        running.countDown();
                    } catch (PublishException refused) {
                        return refused.reason();
                    }
                }
            }));
        }
        running.await();

        Call<Integer> close = Threads.call(() -> broker.flushAndClose(FLUSH));
        Threads.until("it waits", () -> time.timers() == 1);
        for (Call<Reason> call : calls) {
            assertThat(call.join()).isEqualTo(Reason.CLOSED);
        }
        assertThat(broker.unreported()).isEqualTo(sent.get());
        List.copyOf(producer.taken).forEach(taken -> taken.accept(1));

        assertThat(close.join()).isZero();
        assertThat(producer.taken).hasSize(sent.get());
    }

    // ---- a real producer that reaches nobody

    @Test
    @DisplayName("12.3: with an unreachable cluster a publish fails after max.block.ms, and the close returns")
    void unreachableCluster() {
        BrokerPublisher unreachable = publisher(() -> new KafkaProducer<>(
                Map.of("bootstrap.servers", "127.0.0.1:1", "max.block.ms", 50, "reconnect.backoff.max.ms", 10_000),
                new ByteArraySerializer(),
                new ByteArraySerializer()));

        PublishException refused =
                catchThrowableOfType(PublishException.class, () -> unreachable.send(RECORD, null, new Reports()));

        assertThat(refused.reason()).isEqualTo(Reason.UNKNOWN_TOPIC);
        assertThat(refused).message().contains("payouts", "max.block.ms");
        assertThat(unreachable.flushAndClose(FLUSH)).isZero();
    }

    @Test
    @DisplayName("10.3: a close ends the wait for metadata of an unreachable cluster")
    void closeEndsTheWaitForMetadata() throws InterruptedException {
        BrokerPublisher unreachable = publisher(() -> new KafkaProducer<>(
                Map.of("bootstrap.servers", "127.0.0.1:1"), new ByteArraySerializer(), new ByteArraySerializer()));
        unreachable.open();
        Call<Object> waiting = Threads.call(() -> {
            unreachable.send(RECORD, null, new Reports());
            return "sent";
        });
        Threads.until("it waits", () -> waiting.thread().getState() == Thread.State.TIMED_WAITING);

        assertThat(unreachable.flushAndClose(FLUSH)).isZero();

        assertThat(waiting.failure())
                .isInstanceOfSatisfying(
                        PublishException.class,
                        failure -> assertThat(failure.reason()).isEqualTo(Reason.CLOSED));
    }

    private BrokerPublisher publisher(Producer<byte[], byte[]> opens) {
        return publisher(() -> {
            opened.incrementAndGet();
            return opens;
        });
    }

    private BrokerPublisher publisher(Supplier<Producer<byte[], byte[]>> opener) {
        return publisher(opener, 32 << 20);
    }

    private BrokerPublisher publisher(Supplier<Producer<byte[], byte[]>> opener, long bufferMemory) {
        return new BrokerPublisher(
                opener,
                new ProducerSettings(Map.of(), bufferMemory, 1 << 20, Duration.ofSeconds(60)),
                TestCodecs.of(),
                time);
    }
}
