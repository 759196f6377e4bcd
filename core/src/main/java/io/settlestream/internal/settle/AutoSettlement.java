package io.settlestream.internal.settle;

import io.settlestream.HandlerOutcome;
import io.settlestream.PublishException;
import io.settlestream.internal.health.Counters;
import io.settlestream.internal.health.Episodes;
import io.settlestream.internal.position.Slots;
import io.settlestream.spi.TimeSource;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The position moves when a record is handed over, whatever becomes of it; nothing comes back. */
public final class AutoSettlement implements Settlement {

    private static final Logger log = LoggerFactory.getLogger(AutoSettlement.class);

    private final String subscription;
    private final Counters counters;
    private final Recovery recovery;
    private final Episodes unsupportedRetries;
    private final Episodes failedReplies;

    public AutoSettlement(String subscription, Counters counters, Recovery recovery, TimeSource time) {
        this.subscription = subscription;
        this.counters = counters;
        this.recovery = recovery;
        this.unsupportedRetries = new Episodes(time);
        this.failedReplies = new Episodes(time);
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
        return switch (outcome) {
            case HandlerOutcome.DeadLetter letter -> settle(delivery, outcome, Reason.said(letter.reason()));
            case HandlerOutcome.Ack ack -> settled(delivery, counters.acked);
            case HandlerOutcome.Drop drop -> settled(delivery, counters.dropped);
            case HandlerOutcome.Retry retry -> unsupported(delivery, retry);
            case HandlerOutcome.RetryAfter later -> unsupported(delivery, later);
        };
    }

    @Override
    public Disposition settle(Delivery delivery, HandlerOutcome outcome, Reason reason) {
        return outcome instanceof HandlerOutcome.DeadLetter
                ? recovery.deadLetter(delivery, delivery.attempt(), reason)
                : settle(delivery, outcome);
    }

    /** Nothing comes back, so nothing is counted. */
    @Override
    public void attemptFailed(Delivery delivery) {}

    @Override
    public Disposition exhausted(Delivery delivery) {
        throw new IllegalStateException("there is no cap where nothing comes back");
    }

    private Disposition settled(Delivery delivery, LongAdder counter) {
        (delivery.settle() ? counter : counters.stale).increment();
        return Disposition.DONE;
    }

    private Disposition unsupported(Delivery delivery, HandlerOutcome outcome) {
        if (!delivery.settle()) {
            counters.stale.increment();
            return Disposition.DONE;
        }
        counters.unsupportedRetries.increment();
        unsupportedRetries.failed(n -> log.atWarn()
                .addKeyValue("subscription", subscription)
                .addKeyValue("record", delivery)
                .addKeyValue("outcome", outcome)
                .addKeyValue("retries", n)
                .log("a retry is unsupported under Commit.auto(), the record does not come back;"
                        + " use Commit.tracked() to have it again"));
        return Disposition.DONE;
    }

    @Override
    public boolean retries() {
        return false;
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
