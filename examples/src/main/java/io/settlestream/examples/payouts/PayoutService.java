package io.settlestream.examples.payouts;

import io.settlestream.App;
import io.settlestream.BatchContext;
import io.settlestream.BatchOutcome;
import io.settlestream.Context;
import io.settlestream.HandlerOutcome;
import io.settlestream.LaneKey;
import io.settlestream.Outgoing;
import io.settlestream.Reply;
import io.settlestream.SettleStream;
import io.settlestream.Subscriber;
import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaPublish;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.kafka.StartOffset;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends payouts through a bank and confirms them, counts page views, and checks statement lines. Each of the three
 * topics is read in the way that its loss or repetition costs least.
 */
public final class PayoutService {

    private static final Logger log = LoggerFactory.getLogger(PayoutService.class);

    /** What handlers work with. */
    public record Clients(Bank bank, AnalyticsStore analytics) {}

    /** Money to be sent. */
    public record Payout(long id, long amountCents) {}

    /** The confirmation that a payout was sent. */
    @Outgoing("payouts.done")
    public record Paid(long payoutId) {}

    /** Somebody looked at a page. */
    public record PageView(String page) {}

    /** A line of the bank's statement. */
    public record StatementLine(long payoutId, long amountCents) {}

    /** What is read, by which group, and what that commits. */
    public record Sources(KafkaTopic payouts, KafkaTopic pageViews, KafkaTopic statements) {

        /** A payout or a statement line must not be lost, so they are tracked; a lost page view does no harm. */
        public static Sources create() {
            return new Sources(
                    KafkaTopic.of("payouts").commit(Commit.tracked()).startOffset(StartOffset.EARLIEST),
                    KafkaTopic.of("page-views").group("analytics"),
                    KafkaTopic.of("statements")
                            .group("reconciliation")
                            .commit(Commit.tracked())
                            .startOffset(StartOffset.EARLIEST));
        }
    }

    private PayoutService() {}

    /** The cluster at {@code bootstrapServers}, as this service uses it. */
    public static KafkaBroker broker(String... bootstrapServers) {
        return KafkaBroker.of(bootstrapServers).defaultGroup("payouts").flushTimeout(Duration.ofSeconds(10));
    }

    /** The whole service on the cluster at {@code bootstrapServers}; its bank and its store are {@link Simulation}s. */
    public static App<Clients> app(String... bootstrapServers) {
        return app(
                broker(bootstrapServers),
                Sources.create(),
                () -> new Clients(Simulation.bank(0.02, Duration.ZERO, 1), Simulation.analytics(0.01, 1)),
                8);
    }

    /**
     * The whole service.
     *
     * @param clients opens what handlers work with, before anything is read
     * @param workers how many payouts are with the bank at a time, those of one account (the record's key) in order
     */
    public static App<Clients> app(KafkaBroker kafka, Sources sources, Callable<Clients> clients, int workers) {
        Subscriber<Payout, Clients> payouts = Subscriber.on(sources.payouts(), Payout.class)
                .handleReply(Paid.class, PayoutService::payOut)
                .reply(KafkaPublish.create().queueTimeout(Duration.ofSeconds(5)));
        Subscriber<PageView, Clients> pageViews =
                Subscriber.on(sources.pageViews(), PageView.class).handle(PayoutService::countView);
        Subscriber<StatementLine, Clients> statements = Subscriber.on(sources.statements(), StatementLine.class)
                .handleBatch(PayoutService::reconcile)
                .batch(500);

        return SettleStream.app("payouts", "0.1.0").onStartup(clients).withBroker(kafka, scope -> {
            scope.include(payouts).workersByKey(workers, LaneKey.RECORD_KEY);
            scope.include(pageViews);
            scope.include(statements);
        });
    }

    /** A payout that the bank refuses comes back; one that it took is settled when Kafka has its confirmation. */
    static Reply<Paid> payOut(Payout payout, Context<Clients> delivery) throws InterruptedException {
        if (payout.amountCents() == 0) {
            return Reply.drop();
        }
        if (!delivery.state().bank().pay(payout.id(), payout.amountCents())) {
            log.atDebug().addKeyValue("payout", payout.id()).log("refused by the bank, comes back");
            return Reply.retry();
        }
        log.atDebug().addKeyValue("payout", payout.id()).log("paid");
        return Reply.of(new Paid(payout.id()));
    }

    /** Nothing brings a page view back under {@link Commit#auto()}: the retry is reported, and the view is lost. */
    static HandlerOutcome countView(PageView view, Context<Clients> delivery) {
        return delivery.state().analytics().add(view.page()) ? HandlerOutcome.ack() : HandlerOutcome.retry();
    }

    /** Each line of a batch is settled on its own. */
    static BatchOutcome reconcile(List<StatementLine> lines, BatchContext<Clients> batch) {
        return BatchOutcome.each(lines.stream().map(PayoutService::check).toList());
    }

    private static HandlerOutcome check(StatementLine line) {
        if (line.amountCents() == 0) {
            log.atDebug().addKeyValue("payout", line.payoutId()).log("empty statement line dropped");
            return HandlerOutcome.drop();
        }
        return HandlerOutcome.ack();
    }
}
