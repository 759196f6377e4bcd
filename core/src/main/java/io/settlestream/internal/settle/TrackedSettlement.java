package io.settlestream.internal.settle;

import io.settlestream.HandlerOutcome;
import io.settlestream.PublishException;
import io.settlestream.internal.health.Counters;
import io.settlestream.internal.health.Episodes;
import io.settlestream.internal.position.Slots;
import io.settlestream.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Settles by outcome: the position never passes an open record, and a retry keeps its record open. */
public final class TrackedSettlement implements Settlement {

    private static final Logger log = LoggerFactory.getLogger(TrackedSettlement.class);

    private static final Reason ASKED = Reason.said("the handler asked for a retry");
    private static final Reason EXHAUSTED =
            Reason.said("its last attempt ended the process or the service that made it");

    private final String subscription;
    private final Counters counters;
    private final Recovery recovery;
    private final Episodes failedReplies;

    public TrackedSettlement(String subscription, Counters counters, Recovery recovery, TimeSource time) {
        this.subscription = subscription;
        this.counters = counters;
        this.recovery = recovery;
        this.failedReplies = new Episodes(time);
    }

    @Override
    public Slots.State passedWhen() {
        return Slots.State.SETTLED;
    }

    @Override
    public boolean commitsStart() {
        return true;
    }

    @Override
    public Disposition settle(Delivery delivery, HandlerOutcome outcome) {
        return switch (outcome) {
            case HandlerOutcome.Ack ack -> settled(delivery, counters.acked);
            case HandlerOutcome.Drop drop -> settled(delivery, counters.dropped);
            case HandlerOutcome.Retry retry -> settle(delivery, retry, ASKED);
            case HandlerOutcome.RetryAfter later -> settle(delivery, later, ASKED);
            case HandlerOutcome.DeadLetter letter -> settle(delivery, letter, Reason.said(letter.reason()));
        };
    }

    @Override
    public Disposition settle(Delivery delivery, HandlerOutcome outcome, Reason reason) {
        return switch (outcome) {
            case HandlerOutcome.Ack ack -> settled(delivery, counters.acked);
            case HandlerOutcome.Drop drop -> settled(delivery, counters.dropped);
            case HandlerOutcome.Retry retry -> retry(delivery, null, reason);
            case HandlerOutcome.RetryAfter later -> retry(delivery, later.delay(), reason);
            case HandlerOutcome.DeadLetter letter -> recovery.deadLetter(delivery, delivery.attempt(), reason);
        };
    }

    @Override
    public void attemptFailed(Delivery delivery) {
        delivery.attemptFailed();
    }

    @Override
    public Disposition exhausted(Delivery delivery) {
        if (delivery.cancelled()) {
            counters.stale.increment();
            return Disposition.DONE;
        }
        return recovery.giveUp(delivery, delivery.attempt() - 1, EXHAUSTED);
    }

    @Override
    public boolean retries() {
        return true;
    }

    @Override
    public boolean losesFailedReplies() {
        return false;
    }

    @Override
    public Disposition replyFailed(Delivery delivery, PublishException failure) {
        counters.failedReplies.increment();
        failedReplies.failed(n -> log.atWarn()
                .addKeyValue("subscription", subscription)
                .addKeyValue("record", delivery)
                .addKeyValue("reason", failure.reason())
                .addKeyValue("failures", n)
                .setCause(failure)
                .log("reply not accepted, its delivery comes back"));
        return retry(delivery, null, Reason.threw(failure));
    }

    private Disposition settled(Delivery delivery, LongAdder counter) {
        (delivery.settle() ? counter : counters.stale).increment();
        return Disposition.DONE;
    }

    private Disposition retry(Delivery delivery, @Nullable Duration delay, Reason reason) {
        if (delivery.cancelled()) {
            counters.stale.increment();
            return Disposition.DONE;
        }
        counters.retried.increment();
        // Also of the last one: its dead letter may not be accepted before the process ends.
        delivery.attemptFailed();
        if (recovery.wasLast(delivery)) {
            return recovery.giveUp(delivery, delivery.attempt(), reason);
        }
        return delay == null ? Disposition.RETRY : recovery.later(delivery, delay, reason);
    }
}
