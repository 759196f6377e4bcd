package io.settlestream.examples;

import io.settlestream.Context;
import io.settlestream.ExceptionPolicy;
import io.settlestream.HandlerOutcome;
import io.settlestream.Scope;
import io.settlestream.Subscriber;
import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.kafka.RecordCopy;
import java.time.Duration;
import java.util.concurrent.TimeoutException;

/** The code of docs/retries-and-dead-letters.md. */
final class Retries {

    /** Money to be taken. */
    record Charge(long id, long cents) {}

    /** What takes it. */
    interface Gateway {

        /** Whether it is taken. */
        boolean take(Charge charge) throws TimeoutException;

        /** How long it wants to be left alone. */
        Duration closedFor();
    }

    private Retries() {}

    static HandlerOutcome take(Charge charge, Context<Gateway> delivery) throws TimeoutException {
        if (charge.cents() <= 0) {
            return HandlerOutcome.deadLetter("the amount is not positive");
        }
        Gateway gateway = delivery.state();
        if (!gateway.closedFor().isZero()) {
            return HandlerOutcome.retryAfter(gateway.closedFor());
        }
        return gateway.take(charge) ? HandlerOutcome.ack() : HandlerOutcome.retry();
    }

    static void mount(Scope<Gateway> scope) {
        Subscriber<Charge, Gateway> charges = Subscriber.on(
                        KafkaTopic.of("charges").commit(Commit.tracked()), Charge.class)
                .handle(Retries::take);

        scope.include(charges)
                .maxAttempts(5)
                .deadLetter("charges.dead")
                .onException(ExceptionPolicy.byCause(cause -> switch (cause) {
                    case TimeoutException slow -> ExceptionPolicy.RETRY;
                    case IllegalArgumentException bad -> ExceptionPolicy.DEAD_LETTER;
                    default -> ExceptionPolicy.FAIL_FAST;
                }));
    }

    static void mountWithRetryTopic(Scope<Gateway> scope, Subscriber<Charge, Gateway> charges) {
        scope.include(charges).maxAttempts(5).retryTopic("charges.retry").deadLetter("charges.dead");
    }

    static String whereFrom(Context<?> delivery) {
        String from = delivery.origin().map(RecordCopy::topic).orElse(delivery.topic());
        return from;
    }
}
