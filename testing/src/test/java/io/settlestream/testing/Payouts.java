package io.settlestream.testing;

import io.settlestream.App;
import io.settlestream.Handler;
import io.settlestream.HandlerOutcome;
import io.settlestream.Mount;
import io.settlestream.Outgoing;
import io.settlestream.Reply;
import io.settlestream.SettleStream;
import io.settlestream.Subscriber;
import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaPublish;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.kafka.StartOffset;
import java.util.function.Consumer;

/** A small service to be tested with. */
final class Payouts {

    record Payout(long id, long amountCents) {}

    @Outgoing("payouts.done")
    record Paid(long payoutId) {}

    /** A bank that refuses the first payouts. */
    static final class Bank {
        private int refusals;

        Bank(int refusals) {
            this.refusals = refusals;
        }

        boolean pay() {
            refusals--;
            return refusals < 0;
        }
    }

    static final KafkaBroker BROKER = KafkaBroker.of("localhost:9092").defaultGroup("payouts");

    private Payouts() {}

    static KafkaTopic topic() {
        return KafkaTopic.of("payouts").commit(Commit.tracked()).startOffset(StartOffset.EARLIEST);
    }

    /** Pays and confirms. */
    static App<Bank> replying() {
        return SettleStream.app("payouts", "1")
                .onStartup(() -> new Bank(0))
                .withBroker(
                        BROKER,
                        scope -> scope.include(Subscriber.on(topic(), Payout.class)
                                .<Paid, Bank>handleReply(
                                        Paid.class,
                                        (payout, delivery) -> delivery.state().pay()
                                                ? Reply.of(new Paid(payout.id()))
                                                : Reply.retry())
                                .reply(KafkaPublish.create())));
    }

    /** Does what a test says. */
    static App<Bank> handling(Handler<Payout, Bank> handler) {
        return handling(handler, mount -> {});
    }

    static App<Bank> handling(Handler<Payout, Bank> handler, Consumer<Mount> options) {
        return SettleStream.app("payouts", "1")
                .onStartup(() -> new Bank(0))
                .withBroker(
                        BROKER,
                        scope -> options.accept(scope.include(
                                Subscriber.on(topic(), Payout.class).handle(handler))));
    }

    /** Acks everything. */
    static App<Bank> acking() {
        return handling((payout, delivery) -> HandlerOutcome.ack());
    }
}
