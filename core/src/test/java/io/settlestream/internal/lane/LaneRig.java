package io.settlestream.internal.lane;

import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.HandlerOutcome;
import io.settlestream.LaneKey;
import io.settlestream.Message;
import io.settlestream.PublishedRecord;
import io.settlestream.Publisher;
import io.settlestream.internal.handle.BatchRunner;
import io.settlestream.internal.health.Counters;
import io.settlestream.internal.lane.Lanes.Workers;
import io.settlestream.internal.position.OwnedPartition;
import io.settlestream.internal.position.Slots;
import io.settlestream.internal.settle.Backoff;
import io.settlestream.internal.settle.BatchUnit;
import io.settlestream.internal.settle.Delivery;
import io.settlestream.internal.settle.Disposition;
import io.settlestream.internal.settle.Recoveries;
import io.settlestream.internal.settle.TrackedSettlement;
import io.settlestream.internal.testing.ManualTime;
import io.settlestream.internal.testing.Records;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;

/**
 * Lanes with real workers, without Kafka: the test is the poll thread, time stands still until the test moves it, and
 * whatever the test waits for is followed by a call of the lanes' listener or of the handler.
 */
final class LaneRig implements Lanes.Listener, AutoCloseable {

    static final Duration STUCK_BOUND = Duration.ofMinutes(1);
    static final int BATCH_SIZE = 5;

    /** Ends a test that has failed already. */
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private static final Duration LOOK_AGAIN = Duration.ofMillis(20);

    /** The kinds of lanes. */
    enum Kind {
        ONE(1, true),
        SHARED(3, false),
        DEDICATED(3, false),
        BY_PARTITION(3, true),
        BY_KEY(3, false),
        BATCH(1, true),
        BATCHES(3, false);

        final int workers;

        /** Whether records of a partition are handled one after the other, in order. */
        final boolean partitionInOrder;

        Kind(int workers, boolean partitionInOrder) {
            this.workers = workers;
            this.partitionInOrder = partitionInOrder;
        }
    }

    /** What is done with a delivery, or with each element of a batch. */
    @FunctionalInterface
    interface Handling {
        Disposition of(LaneRig rig, Delivery delivery) throws InterruptedException;
    }

    /** What is done with a batch. */
    @FunctionalInterface
    interface BatchHandling {
        BatchRunner.Result of(LaneRig rig, BatchUnit batch) throws InterruptedException;
    }

    private final Semaphore changes = new Semaphore(0);
    final ManualTime time = new ManualTime(this::progressed);
    final Counters counters = new Counters();
    final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();

    /** Whether {@link #begun} is written. */
    volatile boolean begunIsKept = true;

    /** Every begun attempt, as {@code partition@offset#attempt}. */
    final ConcurrentLinkedQueue<String> begun = new ConcurrentLinkedQueue<>();

    private final TrackedSettlement settlement =
            new TrackedSettlement("orders", counters, Recoveries.none(counters, time), time);
    private final Delivery.Shared shared = new Delivery.Shared("state", new NoPublisher(), null);
    private Lanes lanes;

    static LaneRig start(Kind kind, Handling handling) {
        return start(kind, kind.workers, handling);
    }

    static LaneRig start(Kind kind, int workers, Handling handling) {
        LaneRig rig = new LaneRig();
        Workers plan = new Workers(workers, kind == Kind.DEDICATED, "lane-test");
        rig.lanes = switch (kind) {
            case ONE, SHARED, DEDICATED ->
                new SharedLane(
                        plan,
                        rig.time,
                        STUCK_BOUND,
                        rig,
                        rig.shared,
                        (delivery, lanes) -> rig.run(delivery, handling),
                        Backoff.DEFAULT);
            case BY_PARTITION -> rig.keyed(plan, LaneKey.PARTITION, handling);
            case BY_KEY -> rig.keyed(plan, LaneKey.RECORD_KEY, handling);
            case BATCH, BATCHES -> rig.batches(plan, BATCH_SIZE, batch -> rig.each(batch, handling));
        };
        return rig.begin();
    }

    static LaneRig startBatches(int workers, int maxSize, BatchHandling handling) {
        LaneRig rig = new LaneRig();
        rig.lanes = rig.batches(new Workers(workers, false, "lane-test"), maxSize, batch -> {
            rig.note(batch.deliveries());
            try {
                return handling.of(rig, batch);
            } catch (InterruptedException e) {
                batch.deliveries().forEach(rig::ack);
                return new BatchRunner.Result(List.of(), List.of(), false);
            } catch (Throwable t) {
                rig.failures.add(t);
                return new BatchRunner.Result(List.of(), List.of(), false);
            } finally {
                rig.progressed();
            }
        });
        return rig.begin();
    }

    private LaneRig begin() {
        lanes.watch(true);
        lanes.start();
        return this;
    }

    private Lanes keyed(Workers plan, LaneKey key, Handling handling) {
        return new KeyedLanes(
                plan,
                time,
                STUCK_BOUND,
                this,
                shared,
                (delivery, handBack) -> run(delivery, handling),
                key,
                Backoff.DEFAULT);
    }

    private Lanes batches(Workers plan, int maxSize, BatchRunner runner) {
        return new BatchLane(plan, time, STUCK_BOUND, this, shared, runner, maxSize, Backoff.DEFAULT);
    }

    private Disposition run(Delivery delivery, Handling handling) {
        note(List.of(delivery));
        try {
            return handling.of(this, delivery);
        } catch (InterruptedException e) {
            // As a handler does that was interrupted: whatever it answers is stale.
            return ack(delivery);
        } catch (Throwable t) {
            failures.add(t);
            return Disposition.DONE;
        } finally {
            progressed();
        }
    }

    private BatchRunner.Result each(BatchUnit batch, Handling handling) {
        List<Delivery> again = new ArrayList<>();
        List<BatchRunner.Later> later = new ArrayList<>();
        boolean failed = false;
        for (Delivery delivery : batch.deliveries()) {
            Disposition disposition = run(delivery, handling);
            failed |= disposition.equals(Disposition.FAILED);
            if (disposition.equals(Disposition.RETRY)) {
                again.add(delivery);
            } else if (disposition instanceof Disposition.Later delay) {
                later.add(new BatchRunner.Later(delivery, delay.nanos()));
            }
        }
        return new BatchRunner.Result(again, later, failed);
    }

    private void note(List<Delivery> deliveries) {
        if (begunIsKept) {
            deliveries.forEach(d -> begun.add(d.partition() + "@" + d.offset() + "#" + d.attempt()));
        }
        progressed();
    }

    // --- what handlers answer

    Disposition ack(Delivery delivery) {
        return settlement.settle(delivery, HandlerOutcome.ack());
    }

    Disposition retry(Delivery delivery) {
        return settlement.settle(delivery, HandlerOutcome.retry());
    }

    Disposition retryAfter(Delivery delivery, Duration delay) {
        return settlement.settle(delivery, HandlerOutcome.retryAfter(delay));
    }

    Disposition fail(Delivery delivery) {
        delivery.owner().holdAt(delivery.offset());
        return Disposition.FAILED;
    }

    // --- what a poll thread does

    Lanes lanes() {
        return lanes;
    }

    OwnedPartition assign(int partition) {
        return assign(partition, Slots.State.SETTLED);
    }

    OwnedPartition assign(int partition, Slots.State passedWhen) {
        return new OwnedPartition(new TopicPartition("orders", partition), passedWhen, settled -> progressed());
    }

    /** A poll with records of one partition, one per key; a key may be null. */
    void offer(OwnedPartition partition, long first, String... keys) {
        List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int i = 0; i < keys.length; i++) {
            records.add(Records.keyed(partition.topicPartition(), first + i, keys[i]));
        }
        offer(partition, records);
    }

    /** A poll with records of one partition without keys. */
    void offer(OwnedPartition partition, long first, int count) {
        offer(partition, Records.row(partition.topicPartition(), first, count));
    }

    void offer(OwnedPartition partition, List<ConsumerRecord<byte[], byte[]>> records) {
        long next = records.get(records.size() - 1).offset() + 1;
        lanes.offer(partition.register(records, next, 0, time.nanoTime()));
    }

    /** The partition goes without a word: what runs for it is given up. */
    void lose(OwnedPartition partition) {
        partition.discard();
        lanes.giveUpDiscarded();
    }

    void stop(OwnedPartition... partitions) {
        lanes.stop(List.of(partitions));
    }

    long position(OwnedPartition partition) {
        return partition.position().offset();
    }

    // --- waiting

    /** Waits for something that is followed by a call of the listener or of the handler. */
    void await(String what, BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        changes.drainPermits();
        while (!condition.getAsBoolean()) {
            assertThat(deadline - System.nanoTime())
                    .as("%s; begun %s, failures %s", what, begun.size() < 50 ? begun : begun.size(), failures)
                    .isPositive();
            // What a handler of a test notes itself is not told here, so it is looked at now and then as well.
            boolean unused = changes.tryAcquire(LOOK_AGAIN.toMillis(), TimeUnit.MILLISECONDS);
            changes.drainPermits();
        }
    }

    void awaitBegun(String... attempts) throws InterruptedException {
        await("begun: " + List.of(attempts), () -> begun.containsAll(List.of(attempts)));
    }

    void awaitQuiet() throws InterruptedException {
        await("quiet", lanes::quiet);
    }

    /** Waits until workers have nothing to do, whatever is queued; only for lanes that no handler runs in for long. */
    void awaitQuietWorkers() throws InterruptedException {
        await("a worker is idle", lanes::hungry);
    }

    /** Lets time go on, from one timer to the next, until a condition holds. */
    void passTimeUntil(String what, BooleanSupplier condition) throws InterruptedException {
        while (!condition.getAsBoolean()) {
            await(what, () -> condition.getAsBoolean() || time.timers() > 0);
            time.advanceToNext();
        }
    }

    /** In a handler: lets other workers run in between. */
    @SuppressWarnings("ThreadPriorityCheck") // any schedule is as good as any other
    static void yieldToOthers() {
        Thread.yield();
    }

    static void await(CountDownLatch latch) throws InterruptedException {
        assertThat(latch.await(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                .as("released")
                .isTrue();
    }

    @Override
    public void progressed() {
        changes.release();
    }

    @Override
    public void failed(Throwable failure) {
        failures.add(failure);
        changes.release();
    }

    /** Ends the workers; they must have nothing in hand. */
    @Override
    public void close() {
        lanes.close();
        try {
            awaitEnd();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        assertThat(failures).isEmpty();
    }

    /** Waits for the end of the workers, after the lanes were closed. */
    void awaitEnd() throws InterruptedException {
        for (Thread thread : lanes.threads()) {
            thread.join(PATIENCE);
            assertThat(thread.isAlive()).as("%s after the close", thread).isFalse();
        }
    }

    private static final class NoPublisher implements Publisher {

        @Override
        public CompletionStage<PublishedRecord> publish(Message<?> message) {
            throw new UnsupportedOperationException();
        }

        @Override
        public PublishedRecord publishAndWait(Message<?> message) {
            throw new UnsupportedOperationException();
        }
    }
}
