package io.settlestream.internal.settle;

import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.HandlerOutcome;
import io.settlestream.internal.health.Counters;
import io.settlestream.internal.position.OwnedPartition;
import io.settlestream.internal.testing.ManualTime;
import io.settlestream.internal.testing.Records;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What a commit mode makes of an outcome. */
class SettlementTest {

    private static final TopicPartition ORDERS_3 = new TopicPartition("orders", 3);

    private final Counters counters = new Counters();
    private final ManualTime time = new ManualTime();
    private final Recovery recovery = Recoveries.none(counters, time);

    private final Settlement tracked = new TrackedSettlement("orders", counters, recovery, time);
    private final Settlement auto = new AutoSettlement("orders", counters, recovery, time);

    private OwnedPartition partition;

    /** A record that a worker has, under a mode. */
    private Delivery handedOver(Settlement mode) {
        partition = new OwnedPartition(ORDERS_3, mode.passedWhen(), settled -> {});
        Delivery delivery = new Delivery(null, partition.register(Records.row(ORDERS_3, 7, 1), 8, 0, 0), 0);
        assertThat(partition.position().offset()).isEqualTo(7);
        assertThat(delivery.handOver()).isTrue();
        return delivery;
    }

    private long position() {
        return partition.position().offset();
    }

    @Test
    @DisplayName("2.1, 2.2: under Auto the position moves with the hand-over, and no outcome changes that")
    void auto() {
        Delivery delivery = handedOver(auto);
        assertThat(position()).isEqualTo(8);
        assertThat(partition.openRecords()).isEqualTo(1);
        assertThat(auto.settle(delivery, HandlerOutcome.ack())).isEqualTo(Disposition.DONE);
        assertThat(position()).isEqualTo(8);
        assertThat(partition.openRecords()).isZero();
        assertThat(counters.acked.sum()).isEqualTo(1);
    }

    @Test
    @DisplayName("2.2: a retry under Auto is counted as unsupported, and the record does not come back")
    void autoRetry() {
        Delivery delivery = handedOver(auto);
        assertThat(auto.settle(delivery, HandlerOutcome.retry())).isEqualTo(Disposition.DONE);
        assertThat(partition.openRecords()).isZero();
        assertThat(counters.unsupportedRetries.sum()).isEqualTo(1);
        assertThat(counters.retried.sum()).isZero();
    }

    @Test
    @DisplayName(
            "1.1, 3.1: under Tracked the position moves when the record is acked or dropped, not when it is retried")
    void tracked() {
        for (HandlerOutcome outcome : new HandlerOutcome[] {HandlerOutcome.ack(), HandlerOutcome.drop()}) {
            Delivery delivery = handedOver(tracked);
            assertThat(tracked.settle(delivery, HandlerOutcome.retry())).isEqualTo(Disposition.RETRY);
            assertThat(position()).isEqualTo(7);
            assertThat(partition.openRecords()).isEqualTo(1);
            assertThat(tracked.settle(delivery, outcome)).isEqualTo(Disposition.DONE);
            assertThat(position()).isEqualTo(8);
        }
        assertThat(counters.acked.sum()).isEqualTo(1);
        assertThat(counters.dropped.sum()).isEqualTo(1);
        assertThat(counters.retried.sum()).isEqualTo(2);
    }

    @Test
    @DisplayName("1.2: a second settlement, or one after the assignment or of what was given up, is stale")
    void stale() {
        for (Settlement mode : new Settlement[] {auto, tracked}) {
            long before = counters.stale.sum();
            Delivery twice = handedOver(mode);
            mode.settle(twice, HandlerOutcome.ack());
            mode.settle(twice, HandlerOutcome.drop());
            assertThat(counters.stale.sum()).isEqualTo(before + 1);

            Delivery late = handedOver(mode);
            partition.discard();
            assertThat(late.cancelled()).isTrue();
            mode.settle(late, HandlerOutcome.ack());
            assertThat(counters.stale.sum()).isEqualTo(before + 2);
            assertThat(partition.openRecords()).isEqualTo(1);

            Delivery abandoned = handedOver(mode);
            abandoned.abandon();
            assertThat(abandoned.cancelled()).isTrue();
            mode.settle(abandoned, HandlerOutcome.drop());
            assertThat(counters.stale.sum()).isEqualTo(before + 3);
            assertThat(partition.openRecords()).isEqualTo(1);
        }
        assertThat(counters.acked.sum()).isEqualTo(2);
        assertThat(counters.dropped.sum()).isZero();
    }

    @Test
    @DisplayName("1.3, 3.8: a retry of what was given up does not come back")
    void staleRetry() {
        Delivery late = handedOver(tracked);
        partition.discard();
        assertThat(tracked.settle(late, HandlerOutcome.retry())).isEqualTo(Disposition.DONE);
        assertThat(counters.stale.sum()).isEqualTo(1);
        assertThat(counters.retried.sum()).isZero();
    }
}
