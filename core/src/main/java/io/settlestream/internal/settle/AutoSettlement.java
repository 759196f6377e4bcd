package io.settlestream.internal.settle;

import io.settlestream.HandlerOutcome;
import io.settlestream.PublishException;
import io.settlestream.internal.health.Counters;
import io.settlestream.internal.health.Episodes;
import io.settlestream.internal.position.Slots;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The position moves when a record is handed over, whatever becomes of it; nothing comes back. */
public final class AutoSettlement implements Settlement {

    private static final Logger log = LoggerFactory.getLogger(AutoSettlement.class);

    private final String subscription;
    private final Counters counters;
    private final Episodes unsupportedRetries;
    private final Episodes failedReplies;

    public AutoSettlement(String subscription, Counters counters, Episodes unsupportedRetries, Episodes failedReplies) {
        this.subscription = subscription;
        this.counters = counters;
        this.unsupportedRetries = unsupportedRetries;
        this.failedReplies = failedReplies;
    }

    @Override
    public Slots.State passedWhen() {
        return Slots.State.HANDED;
    }

    @Override
    public boolean commitsStart() {
        return false;
    }

    @Override
    public Disposition settle(Delivery delivery, HandlerOutcome outcome) {
        boolean live = delivery.settle();
        switch (outcome) {
            case HandlerOutcome.Ack ack -> (live ? counters.acked : counters.stale).increment();
            case HandlerOutcome.Drop drop -> (live ? counters.dropped : counters.stale).increment();
            case HandlerOutcome.Retry retry when !live -> counters.stale.increment();
            case HandlerOutcome.Retry retry -> {
                counters.unsupportedRetries.increment();
                unsupportedRetries.failed(n -> log.atWarn()
                        .addKeyValue("subscription", subscription)
                        .addKeyValue("record", delivery)
                        .addKeyValue("retries", n)
                        .log("retry is unsupported under Commit.auto(), the record does not come back;"
                                + " use Commit.tracked() to have it again"));
            }
        }
        return Disposition.DONE;
    }

    @Override
    public boolean losesFailedReplies() {
        return true;
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
                .log("reply not accepted and lost, as Commit.auto() allows"));
        if (!delivery.settle()) {
            counters.stale.increment();
        }
        return Disposition.DONE;
    }
}
