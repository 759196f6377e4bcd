package io.settlestream.internal.lane;

import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.internal.lane.Lanes.Workers;
import io.settlestream.internal.position.OwnedPartition;
import io.settlestream.internal.position.Slots;
import io.settlestream.internal.settle.Delivery;
import io.settlestream.internal.settle.Unit;
import io.settlestream.internal.testing.ManualTime;
import io.settlestream.internal.testing.Records;
import io.settlestream.internal.testing.Seeds;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** One worker takes and ends as fast as it can while another thread gives up what it has in hand. */
class WorkerStressTest {

    private static final TopicPartition ORDERS_3 = new TopicPartition("orders", 3);
    private static final List<ConsumerRecord<byte[], byte[]>> ONE = Records.row(ORDERS_3, 0, 1);
    private static final int UNITS = 100_000;

    /** However the threads are scheduled, a run goes on until this many units were given up. */
    private static final int GIVEN_UP = 100;

    private record Tally(int units, int refused) {}

    @Test
    @DisplayName("1.3: an interrupt never hits a worker that has nothing in hand or something else")
    void interruptsExactly() {
        Seeds.each(15, WorkerStressTest::run);
    }

    private static void run(SplittableRandom random) throws Exception {
        Worker worker =
                new Worker(new SharedLane(new Workers(0, true, ""), new ManualTime(), null, null, null, null, null));
        SplittableRandom speeds = random.split();
        AtomicInteger givenUp = new AtomicInteger();
        FutureTask<Tally> working = new FutureTask<>(() -> work(worker, speeds, givenUp));
        Thread thread = Thread.ofPlatform().daemon().start(working);

        while (!working.isDone()) {
            Unit unit = worker.unit();
            if (unit != null) {
                unit.deliveries().get(0).owner().discard();
                if (worker.giveUp(0) != null) {
                    givenUp.incrementAndGet();
                }
            }
            for (int i = random.nextInt(50); i > 0; i--) {
                Thread.onSpinWait();
            }
        }
        Tally tally = working.get(20, TimeUnit.SECONDS);
        thread.join();
        assertThat(tally.refused()).isLessThan(tally.units());
        assertThat(worker.givenUp()).isNull();
    }

    private static Tally work(Worker worker, SplittableRandom random, AtomicInteger givenUp) {
        int units = 0;
        int refused = 0;
        worker.bind(Thread.currentThread());
        while (units < UNITS || givenUp.get() < GIVEN_UP) {
            units++;
            OwnedPartition partition = new OwnedPartition(ORDERS_3, Slots.State.SETTLED, settled -> {});
            Delivery delivery = new Delivery(null, partition.register(ONE, 1, 0, 0), 0);
            worker.begin(delivery);
            if (delivery.handOver()) {
                for (int spins = random.nextInt(20); spins > 0; spins--) {
                    Thread.onSpinWait();
                }
            } else {
                refused++;
            }
            if (Thread.currentThread().isInterrupted()) {
                assertThat(delivery.cancelled())
                        .as("interrupted although it is wanted")
                        .isTrue();
            }
            worker.end(delivery);
            assertThat(Thread.currentThread().isInterrupted())
                    .as("interrupted with nothing in hand")
                    .isFalse();
        }
        return new Tally(units, refused);
    }
}
