package io.settlestream.internal.position;

import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.internal.testing.Records;
import io.settlestream.internal.testing.Seeds;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Many threads settle in any order while the owner goes on. */
class OwnedPartitionStressTest {

    private static final TopicPartition ORDERS_3 = new TopicPartition("orders", 3);
    private static final int SETTLERS = 4;
    private static final int POLLS = 400;

    private record Handed(Slots slots, int slot, ConsumerRecord<byte[], byte[]> record) {}

    private final LongAdder winners = new LongAdder();

    @Test
    @DisplayName("1.2, 3.1, 3.2: each record is settled once, the position never goes down, and ends at the log's end")
    void settlesEverythingOnce() {
        Seeds.each(15, this::run);
    }

    private void run(SplittableRandom random) throws Exception {
        winners.reset();
        LongAdder heard = new LongAdder();
        OwnedPartition partition = new OwnedPartition(ORDERS_3, Slots.State.SETTLED, settled -> heard.increment());
        List<Queue<Handed>> queues = new ArrayList<>();
        List<FutureTask<Void>> settlers = new ArrayList<>();
        // Each slot is offered to two of the settlers: one of them wins.
        for (int i = 0; i < SETTLERS; i++) {
            Queue<Handed> queue = new ConcurrentLinkedQueue<>();
            queues.add(queue);
            Random own = new Random(random.nextLong());
            FutureTask<Void> settler = new FutureTask<>(() -> settle(partition, queue, own), null);
            settlers.add(settler);
            Thread.ofPlatform().daemon().start(settler);
        }

        partition.watch(true);
        long logEnd = 0;
        long before = 0;
        for (int poll = 0; poll < POLLS; poll++) {
            List<ConsumerRecord<byte[], byte[]>> records = Records.row(ORDERS_3, logEnd, 1 + random.nextInt(40));
            logEnd += records.size() + random.nextInt(3);
            Slots slots = partition.register(records, logEnd, 0, 0);
            for (int slot = 0; slot < slots.size(); slot++) {
                slots.handOver(slot);
                Handed handed = new Handed(slots, slot, records.get(slot));
                int first = random.nextInt(SETTLERS);
                queues.get(first).add(handed);
                queues.get((first + 1 + random.nextInt(SETTLERS - 1)) % SETTLERS)
                        .add(handed);
            }
            long position = partition.position().offset();
            assertThat(position).isBetween(before, logEnd);
            before = position;
            if (random.nextInt(10) == 0) {
                partition.compact();
            }
        }
        Handed end = new Handed(null, 0, null);
        queues.forEach(queue -> queue.add(end));
        for (FutureTask<Void> settler : settlers) {
            settler.get(20, TimeUnit.SECONDS);
        }

        long registered = winners.sum();
        assertThat(heard.sum()).isEqualTo(registered);
        assertThat(partition.openRecords()).isZero();
        assertThat(partition.openBytes()).isZero();
        assertThat(partition.position()).isEqualTo(new Position(logEnd, 0));
    }

    /** Settles what comes, some at a time and shuffled, until the end comes. */
    private void settle(OwnedPartition partition, Queue<Handed> queue, Random random) {
        List<Handed> held = new ArrayList<>();
        boolean ended = false;
        while (!ended) {
            Handed next = queue.poll();
            ended = next != null && next.slots() == null;
            if (next != null && !ended) {
                held.add(next);
            }
            if (ended || held.size() > random.nextInt(100)) {
                Collections.shuffle(held, random);
                for (Handed handed : held) {
                    if (partition.settle(handed.slots(), handed.slot(), handed.record())) {
                        winners.increment();
                    }
                }
                held.clear();
            }
        }
    }
}
