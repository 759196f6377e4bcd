package io.settlestream.internal.lane;

import io.settlestream.LaneKey;
import io.settlestream.internal.handle.DeliveryHandler;
import io.settlestream.internal.position.OwnedPartition;
import io.settlestream.internal.position.Slots;
import io.settlestream.internal.settle.Backoff;
import io.settlestream.internal.settle.Delivery;
import io.settlestream.internal.settle.Disposition;
import io.settlestream.spi.Scheduler;
import io.settlestream.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * A lane per key that has records, and workers that go from lane to lane. A lane is run by one worker at a time, so
 * deliveries of one key run one after the other; any free worker takes any lane that has something to run, so no key
 * waits for another while a worker is free. A lane that waits for a retry occupies no worker.
 *
 * <p>Each record is taken and marked as handed over under the lock. That makes a stop exact: at one moment it is known
 * which records were begun, and those in front of them can still be handled while the rest is dropped.
 */
public final class KeyedLanes extends Lanes {

    /** Equal bytes within one topic; a record without a key goes with those of its partition. */
    @SuppressWarnings("ArrayRecordComponent") // compared by content below
    private record RecordKey(String topic, int partition, byte @Nullable [] key) {

        static RecordKey of(ConsumerRecord<byte[], byte[]> record) {
            byte[] key = record.key();
            return new RecordKey(record.topic(), key == null ? record.partition() : -1, key);
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof RecordKey that
                    && partition == that.partition
                    && topic.equals(that.topic)
                    && Arrays.equals(key, that.key);
        }

        @Override
        public int hashCode() {
            return 31 * (31 * topic.hashCode() + partition) + Arrays.hashCode(key);
        }
    }

    private final class Lane {
        final Object key;
        final ArrayDeque<Delivery> queue = new ArrayDeque<>();
        final RetryQueue retries = new RetryQueue(true, backoff, scheduler, () -> wake(this));

        /** Whether it stands in {@link #ready}. */
        boolean queued;

        /** The worker that runs it, unless that worker's handler was given up: then any other may go on with the lane. */
        @Nullable
        Worker worker;

        /** Its next delivery when it was put into {@link #ready}: what it is ordered by there. */
        @Nullable
        Delivery next;

        Lane(Object key) {
            this.key = key;
        }

        /** When it was put into {@link #ready}, as a count: of records that arrived together, whose turn it is. */
        long turn;

        /** A redelivery that waits for an earlier handler of its record, and until when at the latest. */
        @Nullable
        Delivery waits;

        /** Deliveries that wait for the end of a delay, and with them all of their key: its order is to be kept. */
        final List<Delivery> delayed = new ArrayList<>(0);

        private long waitsUntil;
        private TimeSource.@Nullable Timer waitTimer;

        boolean held() {
            return queued || worker != null;
        }

        @Nullable
        Delivery peek() {
            return retries.isEmpty() ? queue.peekFirst() : retries.peek();
        }

        @Nullable
        Delivery poll() {
            waitIsOver();
            Delivery due = retries.pollDue();
            return due != null || !retries.isEmpty() ? due : queue.pollFirst();
        }

        boolean runnable() {
            return delayed.isEmpty() && (retries.isEmpty() ? !queue.isEmpty() : retries.isDue()) && !blocked();
        }

        /** Whether the next delivery still waits for an earlier handler of its record. */
        boolean blocked() {
            return waits != null && waits == peek() && waitsUntil - scheduler.nanoTime() > 0 && earlierRuns(waits);
        }

        /** Whether the next delivery must wait for an earlier handler of its record; it does from now on, bounded. */
        boolean mustWait() {
            Delivery next = peek();
            if (next == null || next == waits || !earlierRuns(next)) {
                return blocked();
            }
            waits = next;
            waitsUntil = scheduler.nanoTime() + stuckBound.toNanos();
            waitTimer = scheduler.schedule(stuckBound, () -> wake(this));
            return true;
        }

        void waitIsOver() {
            waits = null;
            if (waitTimer != null) {
                waitTimer.cancel();
                waitTimer = null;
            }
        }

        boolean finished() {
            return delayed.isEmpty() && retries.isEmpty() && queue.isEmpty();
        }
    }

    private final DeliveryHandler handler;
    private final LaneKey laneKey;
    private final Backoff backoff;
    /** In the order in which they came: what is done to all of them is done in an order that a seeded run can repeat. */
    private final Map<Object, Lane> lanes = new LinkedHashMap<>();

    /**
     * Lanes that have something to run, the one with the oldest record first: so that the lowest open offsets, and with
     * them the committed positions, are never far behind, however many keys there are.
     */
    private final PriorityQueue<Lane> ready = new PriorityQueue<>(KeyedLanes::byArrival);

    private long turns;

    public KeyedLanes(
            Workers plan,
            Scheduler scheduler,
            Duration stuckBound,
            Listener listener,
            Delivery.Shared shared,
            DeliveryHandler handler,
            LaneKey laneKey,
            Backoff backoff) {
        super(plan, scheduler, stuckBound, listener, shared);
        this.handler = handler;
        this.laneKey = laneKey;
        this.backoff = backoff;
    }

    private static int byArrival(Lane a, Lane b) {
        if (a.next == null || b.next == null) {
            return a.next == b.next ? Long.compare(a.turn, b.turn) : a.next == null ? -1 : 1;
        }
        int byArrival = a.next.compareByArrival(b.next);
        return byArrival != 0 ? byArrival : Long.compare(a.turn, b.turn);
    }

    @Override
    public void offer(Slots slots) {
        lock.lock();
        try {
            if (stopped) {
                return;
            }
            int added = 0;
            for (int slot = 0; slot < slots.size(); slot++) {
                Delivery delivery = new Delivery(shared, slots, slot);
                Lane lane = laneOf(delivery);
                lane.queue.addLast(delivery);
                if (!lane.held() && lane.runnable()) {
                    makeReady(lane);
                    added++;
                }
            }
            signalWorkers(added);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void retry(Delivery delivery) {
        lock.lock();
        try {
            if (delivery.cancelled()) {
                // Given up since its attempt has ended: its lane may be gone, and another must not be made for it.
                return;
            }
            Lane lane = laneOf(delivery);
            if (stopped) {
                hold(lane, delivery);
            } else {
                lane.retries.add(delivery);
                wake(lane);
            }
        } finally {
            lock.unlock();
        }
    }

    /** A record key waits as a whole. A partition does not: it is a lane only so that its records come in order. */
    @Override
    void onDelayed(Delivery delivery) {
        if (laneKey == LaneKey.RECORD_KEY && delivery.key() != null) {
            laneOf(delivery).delayed.add(delivery);
        }
    }

    @Override
    void runNext(Delivery delivery) {
        Lane lane = laneOf(delivery);
        lane.delayed.remove(delivery);
        lane.retries.addDue(delivery);
        wake(lane);
    }

    @Override
    void onLeftOpen(Delivery delivery) {
        hold(laneOf(delivery), delivery);
    }

    @Override
    void work(Worker worker) throws InterruptedException {
        Lane lane = null;
        while (true) {
            lane = takeLane(worker, lane);
            if (lane == null) {
                return;
            }
            Delivery delivery = next(worker, lane);
            if (delivery == null) {
                continue;
            }
            Disposition disposition = handler.run(delivery, this);
            if (disposition.equals(Disposition.RETRY)) {
                retry(delivery);
            } else if (disposition instanceof Disposition.Later later) {
                later(delivery, later.nanos());
            } else if (disposition.equals(Disposition.FAILED)) {
                failed(lane, delivery);
            }
            ended(worker, delivery);
        }
    }

    /** Puts back the lane the worker had and takes the one with the oldest record; null when all is closed. */
    private @Nullable Lane takeLane(Worker worker, @Nullable Lane previous) throws InterruptedException {
        lock.lock();
        try {
            if (previous != null && previous.worker == worker) {
                previous.worker = null;
                putBack(previous);
            }
            while (!closed) {
                Lane lane = halted ? null : ready.poll();
                if (lane != null) {
                    lane.queued = false;
                    lane.worker = worker;
                    return lane;
                }
                park(worker);
            }
            return null;
        } finally {
            lock.unlock();
        }
    }

    /** The lane's next delivery, shown as in hand and handed over; null if it has none that may be handled. */
    private @Nullable Delivery next(Worker worker, Lane lane) {
        lock.lock();
        try {
            Delivery delivery = halted || closed || lane.mustWait() ? null : lane.poll();
            if (delivery == null) {
                return null;
            }
            worker.begin(delivery);
            if (handOver(delivery)) {
                return delivery;
            }
            ended(worker, delivery);
            return null;
        } finally {
            lock.unlock();
        }
    }

    private void failed(Lane lane, Delivery delivery) {
        lock.lock();
        try {
            hold(lane, delivery);
            halt();
        } finally {
            lock.unlock();
        }
    }

    /** The record stays open for good: what lies behind it in its lane or its partition is not begun any more. */
    private static void hold(Lane lane, Delivery delivery) {
        delivery.owner().holdAt(delivery.offset());
        lane.queue.clear();
    }

    private Lane laneOf(Delivery delivery) {
        ConsumerRecord<byte[], byte[]> record = delivery.record();
        Object key = switch (laneKey) {
            case PARTITION -> delivery.owner().topicPartition();
            case RECORD_KEY -> RecordKey.of(record);
        };
        return lanes.computeIfAbsent(key, Lane::new);
    }

    /** Called when a retry has become due; the lane may have gone on in the meantime. */
    private void wake(Lane lane) {
        lock.lock();
        try {
            if (!lane.held() && lane.runnable()) {
                makeReady(lane);
                signalWorkers(1);
            }
        } finally {
            lock.unlock();
        }
    }

    private void makeReady(Lane lane) {
        lane.queued = true;
        lane.next = lane.peek();
        lane.turn = turns++;
        ready.add(lane);
    }

    /** After a lane was run: it is ready again, waits for a retry, or is forgotten. */
    private void putBack(Lane lane) {
        if (lane.runnable()) {
            makeReady(lane);
        } else if (lane.finished()) {
            lanes.remove(lane.key, lane);
        }
    }

    /** How many keys have something to run or to wait for. */
    int lanes() {
        lock.lock();
        try {
            return lanes.size();
        } finally {
            lock.unlock();
        }
    }

    @Override
    boolean hasWork() {
        return !ready.isEmpty();
    }

    @Override
    void onResume(OwnedPartition partition, List<Delivery> kept) {
        // A record is taken and handed over under one lock, so no worker has one in its hands that could overtake
        // these.
        partition.letGo();
        for (Delivery delivery : kept.reversed()) {
            Lane lane = laneOf(delivery);
            lane.queue.addFirst(delivery);
            if (!lane.held() && lane.runnable()) {
                makeReady(lane);
            }
        }
    }

    @Override
    void onGivenUpEnded() {
        for (Lane lane : lanes.values()) {
            if (lane.waits != null) {
                wake(lane);
            }
        }
    }

    @Override
    void onDiscard() {
        for (Lane lane : List.copyOf(lanes.values())) {
            lane.queue.removeIf(Delivery::cancelled);
            lane.retries.purge();
            lane.delayed.removeIf(Delivery::cancelled);
            if (lane.waits != null && lane.waits.cancelled()) {
                lane.waitIsOver();
            }
            if (lane.worker != null && lane.worker.givenUp() != null) {
                // A handler that nobody waits for must not hold up its key when the partition comes back.
                lane.worker = null;
            }
            if (!lane.held()) {
                // The retry it waited for may be gone, and with it all it had, or what stood behind may go on.
                putBack(lane);
            }
        }
    }

    @Override
    void onStop(Iterable<OwnedPartition> partitions) {
        partitions.forEach(OwnedPartition::admitUpToHighestHanded);
        halted = false;
        for (Lane lane : lanes.values()) {
            lane.retries.forEach(delivery -> hold(lane, delivery));
            lane.retries.clear();
        }
    }
}
