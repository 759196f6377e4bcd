package io.settlestream.internal.handle;

import io.settlestream.DecodeException;
import io.settlestream.DecodePolicy;
import io.settlestream.ExceptionPolicy;
import io.settlestream.HandlerOutcome;
import io.settlestream.ServiceFailedException;
import io.settlestream.internal.health.Counters;
import io.settlestream.internal.health.Episodes;
import io.settlestream.internal.health.FailureListener;
import io.settlestream.internal.settle.Delivery;
import io.settlestream.internal.settle.Disposition;
import io.settlestream.internal.settle.Settlement;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Settles deliveries that ended without an outcome: the handler threw, or the record could not be decoded. */
final class Policies {

    private static final Logger log = LoggerFactory.getLogger(Policies.class);

    private final String subscription;
    private final ExceptionPolicy onException;
    private final DecodePolicy onDecodeFailure;
    private final Settlement settlement;
    private final Counters counters;
    private final FailureListener failures;
    private final Episodes exceptionEpisodes;
    private final Episodes decodeEpisodes;

    Policies(HandlerEnvironment environment) {
        this.subscription = environment.subscription();
        this.onException = environment.onException();
        this.onDecodeFailure = environment.onDecodeFailure();
        this.settlement = environment.settlement();
        this.counters = environment.counters();
        this.failures = environment.failures();
        this.exceptionEpisodes = new Episodes(environment.time());
        this.decodeEpisodes = new Episodes(environment.time());
    }

    /** An attempt threw. An {@link Error} always fails the subscription. */
    Disposition threw(Delivery delivery, Throwable thrown) {
        if (thrown instanceof Error) {
            // Also when nobody waits for the outcome any more: it says something about the process, not the record.
            counters.exceptions.increment();
            return failed(delivery, "the handler of " + delivery + " threw an error", thrown);
        }
        if (delivery.cancelled()) {
            counters.stale.increment();
            return Disposition.DONE;
        }
        counters.exceptions.increment();
        if (onException == ExceptionPolicy.FAIL_FAST) {
            return failed(
                    delivery,
                    "the handler of " + delivery + " threw on attempt " + delivery.attempt()
                            + "; the record stays open and is read again by the next start."
                            + " Choose another policy with onException(...) where the subscriber is included",
                    thrown);
        }
        exceptionEpisodes.failed(n -> log.atWarn()
                .addKeyValue("subscription", subscription)
                .addKeyValue("record", delivery)
                .addKeyValue("attempt", delivery.attempt())
                .addKeyValue("policy", onException)
                .addKeyValue("failures", n)
                .setCause(thrown)
                .log("handler threw"));
        return settlement.settle(
                delivery, onException == ExceptionPolicy.RETRY ? HandlerOutcome.retry() : HandlerOutcome.drop());
    }

    /** A record's bytes are not a value. */
    Disposition undecodable(Delivery delivery, Throwable thrown) {
        if (delivery.cancelled()) {
            counters.stale.increment();
            return Disposition.DONE;
        }
        counters.undecodable.increment();
        if (thrown instanceof Error) {
            return failed(delivery, "decoding " + delivery + " threw an error", thrown);
        }
        DecodeException why = why(thrown);
        if (onDecodeFailure == DecodePolicy.FAIL_FAST) {
            return failed(
                    delivery,
                    delivery + " cannot be decoded; the record stays open and is read again by the next start."
                            + " Choose another policy with onDecodeFailure(...) where the subscriber is included",
                    why);
        }
        decodeEpisodes.failed(n -> log.atWarn()
                .addKeyValue("subscription", subscription)
                .addKeyValue("record", delivery)
                .addKeyValue("policy", onDecodeFailure)
                .addKeyValue("failures", n)
                .addKeyValue("cause", why.getMessage())
                .log("record cannot be decoded"));
        return settlement.settle(
                delivery, onDecodeFailure == DecodePolicy.RETRY ? HandlerOutcome.retry() : HandlerOutcome.drop());
    }

    /** Other exceptions of a codec may quote the payload, which no log must show: of them their kind and place. */
    private static DecodeException why(Throwable thrown) {
        if (thrown instanceof DecodeException why) {
            return why;
        }
        DecodeException why =
                new DecodeException("the codec threw a " + thrown.getClass().getName(), null);
        why.setStackTrace(thrown.getStackTrace());
        return why;
    }

    private Disposition failed(Delivery delivery, String what, Throwable thrown) {
        delivery.owner().holdAt(delivery.offset());
        failures.failed(new ServiceFailedException("subscription " + subscription + " failed: " + what, thrown));
        return Disposition.FAILED;
    }
}
