package io.settlestream.internal.lane;

import io.settlestream.internal.position.OwnedPartition;
import io.settlestream.internal.position.Slots;
import io.settlestream.internal.settle.Delivery;
import io.settlestream.internal.testing.Records;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jetbrains.lincheck.Lincheck;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A worker takes a record while its partition goes, in every order that matters. */
@Tag("lincheck")
class HandOverLincheckTest {

    private static final TopicPartition ORDERS_3 = new TopicPartition("orders", 3);
    private static final List<ConsumerRecord<byte[], byte[]>> ONE = Records.row(ORDERS_3, 0, 1);

    @Test
    @DisplayName(
            "2.1, 3.8: after the owner forbids, a worker is refused or seen, and no position passes what is refused")
    void refusedOrSeen() {
        Lincheck.runConcurrentTest(1_000, () -> {
            OwnedPartition partition = new OwnedPartition(ORDERS_3, Slots.State.HANDED, settled -> {});
            Delivery delivery = new Delivery(null, partition.register(ONE, 1, 0, 0), 0);
            Worker worker = new Worker(null);
            boolean[] handled = new boolean[1];
            Thread thread = new Thread(() -> {
                worker.begin(delivery);
                handled[0] = delivery.handOver();
            });
            thread.start();
            partition.admitNothing();
            boolean seen = worker.unit() != null;
            long position = partition.position().offset();
            join(thread);
            check(seen || !handled[0], "handled unseen");
            check(position == 0 || handled[0], "position past a record that was refused");
        });
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** AssertJ does not go through what the checker rewrites. */
    private static void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalStateException(otherwise);
        }
    }
}
