package io.settlestream.internal.settle;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.PublishException;
import io.settlestream.PublishedRecord;
import io.settlestream.internal.health.Counters;
import io.settlestream.internal.position.OwnedPartition;
import io.settlestream.internal.position.Slots;
import io.settlestream.internal.publish.ReportListener;
import io.settlestream.internal.testing.ManualTime;
import io.settlestream.internal.testing.Records;
import io.settlestream.kafka.RecordCopy;
import io.settlestream.spi.Scheduler;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Publish, then settle: what becomes of a record while a copy of it is written. */
@Timeout(30)
class CopyWriterTest {

    private static final TopicPartition ORDERS_3 = new TopicPartition("orders", 3);
    private static final Reason REASON = Reason.said("why");

    private final ManualTime time = new ManualTime();
    private final Counters counters = new Counters();
    private final List<Throwable> failures = new ArrayList<>();
    private final Sink sink = new Sink();
    private final OwnedPartition partition = new OwnedPartition(ORDERS_3, Slots.State.SETTLED, settled -> {});
    private final CopyWriter writer = writer(new Inline());

    private CopyWriter writer(Scheduler scheduler) {
        return new CopyWriter(
                "in",
                "dead letter",
                "dead letters",
                new RecordCopies("dead", "group", false),
                sink,
                counters.deadLettered,
                counters.stale,
                counters.failedCopies,
                failures::add,
                scheduler);
    }

    private List<Delivery> handedOver(OwnedPartition of, long first, int count) {
        Slots slots = of.register(Records.row(ORDERS_3, first, count), first + count, 0, time.nanoTime());
        List<Delivery> deliveries = new ArrayList<>();
        for (int slot = 0; slot < count; slot++) {
            Delivery delivery = new Delivery(null, slots, slot);
            assertThat(delivery.handOver()).isTrue();
            deliveries.add(delivery);
        }
        return deliveries;
    }

    private Delivery handedOver() {
        return handedOver(partition, 7, 1).get(0);
    }

    @ParameterizedTest
    @EnumSource(
            value = Slots.State.class,
            names = {"HANDED", "SETTLED"})
    @DisplayName(
            "2.1, 7.2: the record settles when its copy is accepted, and the position waits for that in every mode")
    void publishThenSettle(Slots.State passedWhen) {
        OwnedPartition owner = new OwnedPartition(ORDERS_3, passedWhen, settled -> {});
        List<Delivery> deliveries = handedOver(owner, 7, 2);
        assertThat(deliveries.get(1).settle()).isTrue();
        writer.write(deliveries.get(0), 1, REASON, null);

        assertThat(sink.sent).hasSize(1);
        assertThat(owner.openRecords()).isEqualTo(1);
        assertThat(owner.position().offset()).isEqualTo(7);
        assertThat(counters.deadLettered.sum()).isZero();

        sink.accept(0);
        assertThat(owner.openRecords()).isZero();
        assertThat(owner.position().offset()).isEqualTo(9);
        assertThat(counters.deadLettered.sum()).isEqualTo(1);
        assertThat(writer.problem()).isNull();
    }

    @Test
    @DisplayName("2.1: who hears that a record was settled by its copy sees the position behind it")
    void settledIsPassed() {
        List<Long> seen = new ArrayList<>();
        OwnedPartition owner = new OwnedPartition(
                ORDERS_3,
                Slots.State.HANDED,
                settled -> seen.add(settled.position().offset()));
        owner.watch(true);
        writer.write(handedOver(owner, 7, 1).get(0), 1, REASON, null);
        assertThat(owner.position().offset()).isEqualTo(7);
        sink.accept(0);

        assertThat(seen).isNotEmpty().containsOnly(8L);
    }

    @Test
    @DisplayName("7.2: a copy that is refused fifty times is written a fifty-first time, after back-offs of up to 5 s")
    void refusedFiftyTimes() {
        Delivery delivery = handedOver();
        sink.refuse = 25;
        writer.write(delivery, 1, REASON, null);
        for (int refused = 1; refused < 25; refused++) {
            assertThat(sink.writes).hasSize(refused);
            time.advanceToNext();
        }
        time.advanceToNext();
        for (int reported = 0; reported < 25; reported++) {
            assertThat(sink.writes).hasSize(26 + reported);
            sink.fail(reported, PublishException.Reason.NOT_ACCEPTED);
            assertThat(partition.openRecords()).isEqualTo(1);
            assertThat(writer.problem()).contains("dead", "1 dead letter", "orders-3@7", "NOT_ACCEPTED");
            time.advanceToNext();
        }
        assertThat(sink.writes).hasSize(51);
        assertThat(time.timers()).isZero();
        sink.accept(25);

        assertThat(counters.failedCopies.sum()).isEqualTo(50);
        assertThat(counters.deadLettered.sum()).isEqualTo(1);
        assertThat(partition.position().offset()).isEqualTo(8);
        assertThat(writer.problem()).isNull();
        assertThat(sink.gaps().subList(0, 9)).containsExactly(50L, 100L, 200L, 400L, 800L, 1600L, 3200L, 5000L, 5000L);
        assertThat(sink.gaps().subList(9, 50)).containsOnly(5000L);
        assertThat(sink.sent.stream().map(ProducerRecord::headers).distinct()).hasSize(1);
    }

    @ParameterizedTest
    @EnumSource(
            value = Slots.State.class,
            names = {"HANDED", "SETTLED"})
    @DisplayName("7.2, 10.3: when publishing is closed the record stays open, and nothing is repeated or waited for")
    void closed(Slots.State passedWhen) {
        OwnedPartition owner = new OwnedPartition(ORDERS_3, passedWhen, settled -> {});
        Delivery delivery = handedOver(owner, 7, 1).get(0);
        sink.refuse = 1;
        sink.refusal = PublishException.Reason.CLOSED;
        writer.write(delivery, 1, REASON, null);

        assertThat(time.timers()).isZero();
        assertThat(owner.openRecords()).isEqualTo(1);
        assertThat(owner.position().offset()).isEqualTo(7);
        assertThat(owner.reportsAwaited()).isZero();
        assertThat(writer.problem()).isNull();
    }

    @Test
    @DisplayName(
            "3.8: a partition that is revoked while the write is on its way: the copy is one too many, and counted so")
    void revokedMeanwhile() {
        Delivery delivery = handedOver();
        writer.write(delivery, 1, REASON, null);
        partition.discard();
        sink.accept(0);

        assertThat(counters.deadLettered.sum()).isZero();
        assertThat(counters.stale.sum()).isEqualTo(1);
        assertThat(partition.reportsAwaited()).isZero();
    }

    @Test
    @DisplayName("3.8: once its partition is gone a write is not repeated, and is no problem any more")
    void revokedWhileFailing() {
        writer.write(handedOver(), 1, REASON, null);
        sink.fail(0, PublishException.Reason.UNKNOWN_TOPIC);
        assertThat(writer.problem()).isNotNull();
        partition.discard();

        assertThat(writer.problem()).isNull();
        time.advanceToNext();
        assertThat(sink.writes).hasSize(1);
        assertThat(time.timers()).isZero();
        assertThat(counters.stale.sum()).isEqualTo(1);
    }

    @Test
    @DisplayName("3.8, 7.2: a first write is waited for like a reply; one that is repeated is not")
    void onlyTheFirstIsWaitedFor() {
        writer.write(handedOver(), 1, REASON, null);
        assertThat(partition.reportsAwaited()).isEqualTo(1);
        sink.fail(0, PublishException.Reason.NOT_ACCEPTED);
        assertThat(partition.reportsAwaited()).isZero();
        time.advanceToNext();
        assertThat(partition.reportsAwaited()).isZero();
        sink.accept(1);
        assertThat(partition.reportsAwaited()).isZero();
        assertThat(counters.deadLettered.sum()).isEqualTo(1);
    }

    @Test
    @DisplayName("3.8, 7.2: what is asked for while writes fail is not waited for; once they succeed, what follows is")
    void notWaitedForBehindAFailure() {
        List<Delivery> deliveries = handedOver(partition, 7, 3);
        writer.write(deliveries.get(0), 1, REASON, null);
        sink.fail(0, PublishException.Reason.UNKNOWN_TOPIC);
        writer.write(deliveries.get(1), 1, REASON, null);
        assertThat(partition.reportsAwaited()).isZero();
        sink.accept(1);
        assertThat(partition.reportsAwaited()).isZero();
        time.advanceToNext();
        sink.accept(2);

        writer.write(deliveries.get(2), 1, REASON, null);
        assertThat(partition.reportsAwaited()).isEqualTo(1);
        sink.accept(3);
        assertThat(partition.reportsAwaited()).isZero();
        assertThat(partition.position().offset()).isEqualTo(10);
    }

    @Test
    @DisplayName(
            "7.2: copies are handed to the producer in their order, and a producer that blocks holds up nobody else")
    void inOrder() throws Exception {
        CopyWriter threaded = writer(time);
        sink.gate = new CountDownLatch(1);
        List<Delivery> deliveries = handedOver(partition, 7, 20);
        deliveries.forEach(delivery -> threaded.write(delivery, 1, REASON, null));
        assertThat(sink.sent).isEmpty();
        sink.gate.countDown();
        assertThat(sink.twenty.await(20, TimeUnit.SECONDS)).isTrue();

        assertThat(sink.sent.stream().map(CopyWriterTest::offset))
                .containsExactlyElementsOf(
                        deliveries.stream().map(Delivery::offset).toList());
    }

    @Test
    @DisplayName("7.2: what fails stands behind what came meanwhile, and only as long as it must")
    void aFailingOneHoldsUpNoOther() {
        List<Delivery> deliveries = handedOver(partition, 7, 2);
        writer.write(deliveries.get(0), 1, REASON, null);
        sink.fail(0, PublishException.Reason.NOT_ACCEPTED);
        writer.write(deliveries.get(1), 1, REASON, null);
        sink.accept(1);

        assertThat(counters.deadLettered.sum()).isEqualTo(1);
        assertThat(partition.position().offset()).isEqualTo(7);
        time.advanceToNext();
        sink.accept(2);
        assertThat(partition.position().offset()).isEqualTo(9);
    }

    @Test
    @DisplayName("1.5, 7.2: an Error of the producer fails the service; the record stays open and holds up no stop")
    void errorOfTheSink() {
        List<Delivery> deliveries = handedOver(partition, 7, 2);
        sink.error = new StackOverflowError();
        writer.write(deliveries.get(0), 1, REASON, null);
        assertThat(failures).containsExactly(sink.error);
        assertThat(partition.reportsAwaited()).isZero();
        assertThat(partition.openRecords()).isEqualTo(2);

        sink.error = null;
        writer.write(deliveries.get(1), 1, REASON, null);
        sink.accept(0);
        assertThat(counters.deadLettered.sum()).isEqualTo(1);
        assertThat(partition.position().offset()).isEqualTo(7);
    }

    @Test
    @DisplayName("7.2, 12.3: health names the topic, how many wait, the oldest of them, for how long and why")
    void problem() {
        List<Delivery> deliveries = handedOver(partition, 7, 2);
        writer.write(deliveries.get(0), 1, REASON, null);
        time.advance(Duration.ofSeconds(3));
        writer.write(deliveries.get(1), 1, REASON, null);
        assertThat(writer.problem()).isNull();
        sink.fail(1, PublishException.Reason.NOT_AUTHORIZED);
        sink.fail(0, PublishException.Reason.UNKNOWN_TOPIC);

        assertThat(writer.problem())
                .isEqualTo("topic dead has not accepted 2 dead letters, that of orders-3@7 for PT3S:"
                        + " UNKNOWN_TOPIC (refused)");
    }

    private static long offset(ProducerRecord<byte[], byte[]> copy) {
        return Long.parseLong(
                new String(copy.headers().lastHeader(RecordCopy.ORIGIN_OFFSET).value(), UTF_8));
    }

    /** A producer that does what the test says. */
    private final class Sink implements CopyWriter.Sink {

        private final List<Instant> writes = new ArrayList<>();
        private final ConcurrentLinkedQueue<ProducerRecord<byte[], byte[]>> sent = new ConcurrentLinkedQueue<>();
        private final List<ReportListener> listeners = new ArrayList<>();
        private final CountDownLatch twenty = new CountDownLatch(20);
        private int refuse;
        private PublishException.Reason refusal = PublishException.Reason.UNKNOWN_TOPIC;
        private volatile Error error;
        private volatile CountDownLatch gate = new CountDownLatch(0);

        @Override
        public void send(ProducerRecord<byte[], byte[]> record, ReportListener listener) throws InterruptedException {
            writes.add(time.now());
            assertThat(gate.await(20, TimeUnit.SECONDS)).isTrue();
            if (error != null) {
                throw error;
            }
            if (refuse > 0) {
                refuse--;
                throw new PublishException(refusal, record.topic(), "refused", null);
            }
            sent.add(record);
            listeners.add(listener);
            twenty.countDown();
        }

        void accept(int which) {
            listeners.get(which).accepted(new PublishedRecord("dead", 0, which));
        }

        void fail(int which, PublishException.Reason reason) {
            listeners.get(which).failed(new PublishException(reason, "dead", "refused", null));
        }

        /** Milliseconds between the writes. */
        List<Long> gaps() {
            List<Long> gaps = new ArrayList<>();
            for (int i = 1; i < writes.size(); i++) {
                gaps.add(Duration.between(writes.get(i - 1), writes.get(i)).toMillis());
            }
            return gaps;
        }
    }

    /** The test's time, and threads that have ended when they are started. */
    private final class Inline implements Scheduler {

        @Override
        public Thread start(Kind kind, String name, Runnable body) {
            body.run();
            return Thread.currentThread();
        }

        @Override
        public long nanoTime() {
            return time.nanoTime();
        }

        @Override
        public Instant now() {
            return time.now();
        }

        @Override
        public Timer schedule(Duration delay, Runnable task) {
            return time.schedule(delay, task);
        }
    }
}
