package io.settlestream.internal.settle;

import io.settlestream.HandlerOutcome;
import io.settlestream.PublishException;
import io.settlestream.internal.health.Counters;
import io.settlestream.internal.health.Episodes;
import io.settlestream.internal.position.Slots;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Settles by outcome: the position never passes an open record, and a retry keeps its record open. */
public final class TrackedSettlement implements Settlement {

    private static final Logger log = LoggerFactory.getLogger(TrackedSettlement.class);

    private final String subscription;
    private final Counters counters;
    private final Episodes failedReplies;

    public TrackedSettlement(String subscription, Counters counters, Episodes failedReplies) {
        this.subscription = subscription;
        this.counters = counters;
        this.failedReplies = failedReplies;
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
            case HandlerOutcome.Ack ack -> {
                (delivery.settle() ? counters.acked : counters.stale).increment();
                yield Disposition.DONE;
            }
            case HandlerOutcome.Drop drop -> {
                (delivery.settle() ? counters.dropped : counters.stale).increment();
                yield Disposition.DONE;
            }
            case HandlerOutcome.Retry retry -> retry(delivery);
        };
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
        return retry(delivery);
    }

    private Disposition retry(Delivery delivery) {
        if (delivery.cancelled()) {
            counters.stale.increment();
            return Disposition.DONE;
        }
        counters.retried.increment();
        return Disposition.RETRY;
    }
}
