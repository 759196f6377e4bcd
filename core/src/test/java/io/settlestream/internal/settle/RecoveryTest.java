package io.settlestream.internal.settle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.settlestream.HandlerOutcome;
import io.settlestream.PublishException;
import io.settlestream.internal.health.Counters;
import io.settlestream.internal.position.OwnedPartition;
import io.settlestream.internal.position.Slots;
import io.settlestream.internal.testing.ManualTime;
import io.settlestream.internal.testing.Records;
import io.settlestream.kafka.RecordCopy;
import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** When a record is given up, and what becomes of it then. */
class RecoveryTest {

    private static final TopicPartition ORDERS_3 = new TopicPartition("orders", 3);

    private final Counters counters = new Counters();
    private final ManualTime time = new ManualTime();
    private final OwnedPartition partition = new OwnedPartition(ORDERS_3, Slots.State.SETTLED, settled -> {});
    private final LinkedBlockingQueue<ProducerRecord<byte[], byte[]>> sent = new LinkedBlockingQueue<>();
    private Slots slots;
    private Recovery recovery;

    private TrackedSettlement settlement(Integer maxAttempts, String deadLetter, String retryTopic) {
        recovery = new Recovery(
                "in",
                new Recovery.Plan(maxAttempts, deadLetter, retryTopic, "group", false),
                (record, listener) -> sent.add(record),
                counters,
                failure -> {
                    throw new AssertionError(failure);
                },
                time);
        return new TrackedSettlement("in", counters, recovery, time);
    }

    private Delivery handedOver(long offset) {
        slots = partition.register(Records.row(ORDERS_3, offset, 1), offset + 1, 0, 0);
        Delivery delivery = new Delivery(null, slots, 0);
        assertThat(delivery.handOver()).isTrue();
        return delivery;
    }

    private RecordCopy copy() throws InterruptedException {
        ProducerRecord<byte[], byte[]> copy = sent.poll(20, TimeUnit.SECONDS);
        assertThat(copy).as("a copy").isNotNull();
        return RecordCopy.of(copy.headers()).orElseThrow();
    }

    @Test
    @DisplayName("7.1: the first delivery counts as one: of a cap of three the third failed attempt is the last")
    void cap() throws Exception {
        TrackedSettlement settlement = settlement(3, "dead", null);
        Delivery delivery = handedOver(7);
        assertThat(settlement.settle(delivery, HandlerOutcome.retry())).isEqualTo(Disposition.RETRY);
        delivery.nextAttempt();
        assertThat(settlement.settle(delivery, HandlerOutcome.retryAfter(Duration.ofSeconds(1))))
                .isEqualTo(new Disposition.Later(1_000_000_000));
        delivery.nextAttempt();
        assertThat(settlement.settle(delivery, HandlerOutcome.retry())).isEqualTo(Disposition.AWAITING_REPORT);

        RecordCopy copy = copy();
        assertThat(copy.attempts()).isEqualTo(3);
        assertThat(copy.reason()).contains("the handler asked for a retry");
        assertThat(partition.openRecords()).isEqualTo(1);
        assertThat(counters.retried.sum()).isEqualTo(3);
        assertThat(counters.exhausted.sum()).isZero();
    }

    @Test
    @DisplayName("3.5, 3.6: a delay of nothing is a millisecond, here and on a retry topic: for ever, it spins no core")
    void noDelay() throws Exception {
        HandlerOutcome atOnce = HandlerOutcome.retryAfter(Duration.ZERO);

        assertThat(settlement(null, null, null).settle(handedOver(7), atOnce))
                .isEqualTo(new Disposition.Later(1_000_000));
        assertThat(settlement(null, null, "later").settle(handedOver(8), atOnce))
                .isEqualTo(Disposition.AWAITING_REPORT);
        assertThat(copy().due())
                .hasValueSatisfying(
                        due -> assertThat(due).isAfterOrEqualTo(time.now().plusMillis(1)));
    }

    @Test
    @DisplayName("7.1: a cap of one is no retry at all")
    void capOfOne() throws Exception {
        Delivery delivery = handedOver(7);
        assertThat(settlement(1, "dead", null).settle(delivery, HandlerOutcome.retry()))
                .isEqualTo(Disposition.AWAITING_REPORT);
        assertThat(copy().attempts()).isEqualTo(1);
    }

    @Test
    @DisplayName("7.1: with no dead-letter topic a record at its cap is dropped, and counted as given up")
    void droppedAtTheCap() {
        TrackedSettlement settlement = settlement(2, null, null);
        Delivery delivery = handedOver(7);
        assertThat(settlement.settle(delivery, HandlerOutcome.retry())).isEqualTo(Disposition.RETRY);
        delivery.nextAttempt();
        assertThat(settlement.settle(delivery, HandlerOutcome.retry())).isEqualTo(Disposition.DONE);

        assertThat(partition.openRecords()).isZero();
        assertThat(partition.position().offset()).isEqualTo(8);
        assertThat(counters.exhausted.sum()).isEqualTo(1);
        assertThat(counters.dropped.sum()).isZero();
        assertThat(sent).isEmpty();
    }

    @Test
    @DisplayName("7.4: attempts are counted per record: those of others, settled or not, make no difference")
    void perRecord() {
        TrackedSettlement settlement = settlement(2, null, null);
        Delivery first = handedOver(7);
        Delivery second = handedOver(8);
        Delivery third = handedOver(9);
        assertThat(settlement.settle(first, HandlerOutcome.retry())).isEqualTo(Disposition.RETRY);
        assertThat(settlement.settle(second, HandlerOutcome.ack())).isEqualTo(Disposition.DONE);
        assertThat(settlement.settle(third, HandlerOutcome.retry())).isEqualTo(Disposition.RETRY);
        assertThat(counters.exhausted.sum()).isZero();
        assertThat(partition.attempts().failed(7)).isEqualTo(1);
        assertThat(partition.attempts().failed(9)).isEqualTo(1);
        first.nextAttempt();
        assertThat(settlement.settle(first, HandlerOutcome.ack())).isEqualTo(Disposition.DONE);
        assertThat(partition.attempts().failed(7)).isZero();
        assertThat(counters.exhausted.sum()).isZero();
    }

    @Test
    @DisplayName("7.4: a record whose failed attempts are known from before goes on counting where they ended")
    void knownFromBefore() throws Exception {
        TrackedSettlement settlement = settlement(3, "dead", null);
        partition.attempts().failed(7, 2);
        Delivery last = handedOver(7);
        assertThat(last.attempt()).isEqualTo(3);
        assertThat(recovery.exhausted(last)).as("the last attempt is refused").isFalse();
        assertThat(settlement.settle(last, HandlerOutcome.retry())).isEqualTo(Disposition.AWAITING_REPORT);
        assertThat(copy().attempts()).isEqualTo(3);

        partition.attempts().failed(8, 3);
        Delivery exhausted = handedOver(8);
        assertThat(recovery.exhausted(exhausted)).isTrue();
        assertThat(settlement.exhausted(exhausted)).isEqualTo(Disposition.AWAITING_REPORT);
        RecordCopy copy = copy();
        assertThat(copy.attempts()).isEqualTo(3);
        assertThat(copy.reason()).contains("its last attempt ended the process or the service that made it");
    }

    @Test
    @DisplayName("1.2: a record of an assignment that is over is neither given up nor copied")
    void stale() {
        TrackedSettlement settlement = settlement(1, "dead", null);
        Delivery delivery = handedOver(7);
        partition.discard();
        assertThat(settlement.settle(delivery, HandlerOutcome.retry())).isEqualTo(Disposition.DONE);
        assertThat(settlement.settle(delivery, HandlerOutcome.deadLetter("late")))
                .isEqualTo(Disposition.DONE);
        assertThat(settlement.exhausted(delivery)).isEqualTo(Disposition.DONE);
        assertThat(counters.stale.sum()).isEqualTo(3);
        assertThat(sent).isEmpty();
    }

    @Test
    @DisplayName("7.6: a drop is final, also on the last attempt, and never a dead letter")
    void dropIsFinal() {
        assertThat(settlement(1, "dead", null).settle(handedOver(7), HandlerOutcome.drop()))
                .isEqualTo(Disposition.DONE);
        assertThat(counters.dropped.sum()).isEqualTo(1);
        assertThat(sent).isEmpty();
    }

    @Test
    @DisplayName("6.3, 7.1: a reply that is not accepted on the last attempt has the record given up, and says why")
    void failedReply() throws Exception {
        settlement(1, "dead", null)
                .replyFailed(
                        handedOver(7),
                        new PublishException(PublishException.Reason.NOT_ACCEPTED, "receipts", "no answer", null));
        RecordCopy copy = copy();
        assertThat(copy.failure()).contains("io.settlestream.PublishException");
        assertThat(copy.reason()).contains("no answer");
    }

    @Test
    @DisplayName("3.5: with a retry topic a delay is a copy there, with the attempts so far and when it is due")
    void retryTopic() throws Exception {
        Delivery delivery = handedOver(7);
        assertThat(settlement(3, "dead", "later").settle(delivery, HandlerOutcome.retryAfter(Duration.ofSeconds(5))))
                .isEqualTo(Disposition.AWAITING_REPORT);
        RecordCopy copy = copy();
        assertThat(copy.attempts()).isEqualTo(1);
        assertThat(copy.due()).contains(time.now().plusSeconds(5));
    }

    @Test
    @DisplayName("3.5: a delay that no clock can tell is as good as for ever, and not in the past")
    void endlessDelay() {
        Disposition disposition = settlement(null, null, null)
                .settle(handedOver(7), HandlerOutcome.retryAfter(Duration.ofSeconds(Long.MAX_VALUE)));
        assertThat(disposition).isEqualTo(new Disposition.Later(Long.MAX_VALUE / 2));
    }

    @Test
    @DisplayName("7.1: a dead letter without a topic is an error that names the subscription")
    void nowhereToGo() {
        Delivery delivery = handedOver(7);
        assertThatIllegalStateException()
                .isThrownBy(() -> settlement(null, null, null).settle(delivery, HandlerOutcome.deadLetter("why")))
                .withMessageContaining("subscription in has no dead-letter topic");
    }
}
