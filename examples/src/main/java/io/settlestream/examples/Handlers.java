package io.settlestream.examples;

import io.settlestream.App;
import io.settlestream.BatchOutcome;
import io.settlestream.BatchSubscriber;
import io.settlestream.HandlerOutcome;
import io.settlestream.LaneKey;
import io.settlestream.RunningApp;
import io.settlestream.Scope;
import io.settlestream.SettleStream;
import io.settlestream.ShutdownResult;
import io.settlestream.Subscriber;
import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaTopic;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The code of docs/commits.md, docs/handlers.md and docs/lifecycle.md. */
final class Handlers {

    private static final Logger log = LoggerFactory.getLogger(Handlers.class);

    record Charge(long id, long cents) {}

    record StatementLine(long payoutId, long amountCents) {}

    interface Gateway {
        boolean charge(Charge charge);
    }

    record Clients(Gateway gateway) {
        static Clients open() {
            return new Clients(charge -> charge.cents() < 1_000_000);
        }

        void close() {}
    }

    static final Subscriber<Charge, Clients> TAKE_CHARGE = Subscriber.on(
                    KafkaTopic.of("charges").group("payments").commit(Commit.tracked()), Charge.class)
            .handle((charge, context) -> {
                if (context.state().gateway().charge(charge)) {
                    return HandlerOutcome.ack();
                }
                return HandlerOutcome.retry();
            });

    static final BatchSubscriber<StatementLine, Object> RECONCILE = Subscriber.on(
                    KafkaTopic.of("statements").group("reconciliation").commit(Commit.tracked()), StatementLine.class)
            .handleBatch((lines, context) -> BatchOutcome.each(lines.stream()
                    .map(line -> line.amountCents() == 0 ? HandlerOutcome.drop() : HandlerOutcome.ack())
                    .toList()));

    private Handlers() {}

    static void modes() {
        KafkaTopic payouts = KafkaTopic.of("payouts").commit(Commit.tracked());
        KafkaBroker broker =
                KafkaBroker.of("localhost:9092").defaultGroup("payouts").commit(Commit.tracked());
        log.info("{} at {}", payouts, broker);
    }

    static void batches(Scope<Clients> scope) {
        scope.include(RECONCILE.batch(500));
    }

    static void anyOrder(Scope<Clients> scope) {
        scope.include(TAKE_CHARGE).workers(8);
    }

    static void inOrderForEachKey(Scope<Clients> scope) {
        scope.include(TAKE_CHARGE).workersByKey(8, LaneKey.RECORD_KEY);
    }

    static App<Clients> app(KafkaBroker broker) {
        return SettleStream.app("payments", "1.4.0")
                .onStartup(Clients::open)
                .withBroker(broker, scope -> {
                    scope.include(Handlers.TAKE_CHARGE).workersByKey(8, LaneKey.RECORD_KEY);
                    scope.include(Handlers.RECONCILE.batch(500));
                })
                .afterShutdown(Clients::close);
    }

    static ShutdownResult startAndStop(KafkaBroker broker) {
        RunningApp running = app(broker).start();
        running.stopping().thenAccept(reason -> log.info("stopping because of {}", reason));
        ShutdownResult result = running.shutdown().join();
        return result;
    }
}
