package io.settlestream.internal.settle;

import io.settlestream.Context;
import io.settlestream.Publisher;
import io.settlestream.SubscriptionControl;
import io.settlestream.internal.position.OwnedPartition;
import io.settlestream.internal.position.Slots;
import io.settlestream.kafka.KafkaPosition;
import io.settlestream.kafka.RecordCopy;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * One record on its way from a lane to its settlement, and what its handler sees of it.
 *
 * <p>Held by one thread at a time: its lane's worker, or after a reply was published, whoever hears the report. Passing
 * it back to the lane goes through the lane's lock, so the attempt needs no ordering of its own.
 */
public final class Delivery implements Context<Object>, Unit {

    /** What all deliveries of one subscription share. */
    public record Shared(Object state, Publisher publisher, DeliveryControl control) {}

    /** What a header may claim, so that one can be added for a long time. */
    private static final int MOST_ATTEMPTS = 1 << 30;

    private final Shared shared;
    private final Slots slots;
    private final int slot;
    private final ConsumerRecord<byte[], byte[]> record;
    private final @Nullable RecordCopy origin;
    private int attempt;

    /** Whether it was handed over before. */
    private boolean handed;

    /** Whether the service stopped waiting for this delivery although its assignment goes on. */
    private volatile boolean abandoned;

    /** Whether it is not waited for any more because of a seek that its handler has asked for. */
    private volatile boolean spared;

    public Delivery(Shared shared, Slots slots, int slot) {
        this(shared, slots, slot, null);
    }

    private Delivery(Shared shared, Slots slots, int slot, @Nullable RecordCopy origin) {
        this.shared = shared;
        this.slots = slots;
        this.slot = slot;
        this.record = slots.record(slot);
        this.origin = origin;
        int before = slots.partition().attempts().failed(record.offset());
        this.attempt = 1 + Math.min(MOST_ATTEMPTS, origin == null ? before : Math.max(before, origin.attempts()));
    }

    /** The delivery of a record from a retry topic. */
    public static Delivery ofCopy(Shared shared, Slots slots, int slot) {
        return new Delivery(
                shared, slots, slot, RecordCopy.of(slots.record(slot).headers()).orElse(null));
    }

    /** Marks the record as handed to a worker. False if it may not be handled, and is not marked then. */
    public boolean handOver() {
        slots.take(slot);
        boolean admitted = owner().admits(record.offset());
        if (admitted || handed) {
            handed = true;
            slots.handOver(slot);
        } else {
            slots.takeBack(slot);
        }
        return admitted;
    }

    /** Whether it was marked as handed over before, so that it is one that runs again. */
    public boolean handedOver() {
        return handed;
    }

    /** Settles the record for good. False if that changes nothing any more. */
    public boolean settle() {
        return !abandoned && owner().settle(slots, slot, record);
    }

    /** Settles a record that no handler is to see, whatever may be handed over now. */
    public void settleUnseen() {
        slots.handOver(slot);
        boolean unused = settle();
    }

    /** Notes that this attempt has failed. */
    void attemptFailed() {
        owner().attempts().failed(record.offset(), attempt);
    }

    /** Gives the delivery up: its record stays open whatever its handler still answers. */
    public void abandon() {
        abandoned = true;
    }

    /** What follows voids this delivery because its handler has asked for that, which is no reason to interrupt it. */
    public void spare() {
        spared = true;
    }

    @Override
    public boolean spared() {
        return spared && !abandoned;
    }

    @Override
    public boolean concerns(OwnedPartition partition) {
        return slots.partition() == partition && !cancelled();
    }

    @Override
    public List<Delivery> deliveries() {
        return List.of(this);
    }

    /** When the record was fetched, on the time source's clock. */
    public long fetchedAt() {
        return slots.fetchedAt();
    }

    /** Orders deliveries of one lane as they were fetched. */
    public int compareByArrival(Delivery other) {
        int byPoll = Long.signum(slots.fetchedAt() - other.slots.fetchedAt());
        return byPoll != 0 ? byPoll : Long.compare(record.offset(), other.record.offset());
    }

    /** Counts one more attempt. */
    public void nextAttempt() {
        attempt++;
    }

    public OwnedPartition owner() {
        return slots.partition();
    }

    public ConsumerRecord<byte[], byte[]> record() {
        return record;
    }

    @Override
    public Object state() {
        return shared.state();
    }

    @Override
    public String topic() {
        return record.topic();
    }

    @Override
    public int partition() {
        return record.partition();
    }

    @Override
    public long offset() {
        return record.offset();
    }

    @Override
    public Instant timestamp() {
        return origin == null ? Instant.ofEpochMilli(record.timestamp()) : origin.timestamp();
    }

    @Override
    public byte @Nullable [] key() {
        return record.key();
    }

    @Override
    public Headers headers() {
        return new ReadOnlyHeaders(record.headers(), origin != null);
    }

    @Override
    public Optional<RecordCopy> origin() {
        return Optional.ofNullable(origin);
    }

    @Override
    public int attempt() {
        return attempt;
    }

    @Override
    public boolean cancelled() {
        return abandoned || owner().discarded();
    }

    @Override
    public KafkaPosition position() {
        return KafkaPosition.offset(record.offset());
    }

    @Override
    public void seek(KafkaPosition position) {
        shared.control().seek(this, position);
    }

    @Override
    public SubscriptionControl subscription() {
        return shared.control();
    }

    @Override
    public Publisher publisher() {
        return shared.publisher();
    }

    @Override
    public String toString() {
        return record.topic() + "-" + record.partition() + "@" + record.offset();
    }
}
