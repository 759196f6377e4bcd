package io.settlestream.internal.handle;

import io.settlestream.DecodeException;
import io.settlestream.DecodePolicy;
import io.settlestream.ExceptionPolicy;
import io.settlestream.HandlerOutcome;
import io.settlestream.PublishException;
import io.settlestream.ServiceFailedException;
import io.settlestream.internal.health.Counters;
import io.settlestream.internal.health.Episodes;
import io.settlestream.internal.health.FailureListener;
import io.settlestream.internal.health.SilencedException;
import io.settlestream.internal.publish.TopicName;
import io.settlestream.internal.settle.Delivery;
import io.settlestream.internal.settle.Disposition;
import io.settlestream.internal.settle.Settlement;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Settles deliveries that ended without an outcome: the handler threw, its reply cannot be published, or the record could not be decoded. */
final class Policies {

    private static final Logger log = LoggerFactory.getLogger(Policies.class);

    private static final String STAYS_OPEN = "the record stays open and is read again by the next start.";
    private static final String STAY_OPEN = "they stay open and are read again by the next start.";
    private static final String ON_EXCEPTION =
            " Choose another policy with onException(...) where the subscriber is included";

    private final String subscription;
    private final ExceptionPolicy onException;
    private final DecodePolicy onDecodeFailure;
    private final Settlement settlement;
    private final Counters counters;
    private final FailureListener failures;
    private final Episodes exceptionEpisodes;
    private final Episodes replyEpisodes;
    private final Episodes decodeEpisodes;

    Policies(HandlerEnvironment environment) {
        this.subscription = environment.subscription();
        this.onException = environment.onException();
        this.onDecodeFailure = environment.onDecodeFailure();
        this.settlement = environment.settlement();
        this.counters = environment.counters();
        this.failures = environment.failures();
        this.exceptionEpisodes = new Episodes(environment.scheduler());
        this.replyEpisodes = new Episodes(environment.scheduler());
        this.decodeEpisodes = new Episodes(environment.scheduler());
    }

    /** An attempt threw. An {@link Error} always fails the subscription. */
    Disposition threw(Delivery delivery, Throwable thrown) {
        return Objects.requireNonNull(threw(List.of(delivery), thrown).get(delivery));
    }

    /**
     * An attempt at all of these threw: counted and reported once, and settled for each.
     *
     * @return what becomes of each of them
     */
    Map<Delivery, Disposition> threw(List<Delivery> deliveries, Throwable thrown) {
        Map<Delivery, Disposition> dispositions = new IdentityHashMap<>();
        if (thrown instanceof Error) {
            // Also when nobody waits for the outcome any more: it says something about the process, not the record.
            counters.exceptions.increment();
            failed(deliveries, "the handler of " + named(deliveries) + " threw an error", thrown);
            deliveries.forEach(delivery -> dispositions.put(delivery, Disposition.FAILED));
            return dispositions;
        }
        List<Delivery> live = new ArrayList<>(deliveries.size());
        for (Delivery delivery : deliveries) {
            if (delivery.cancelled()) {
                counters.stale.increment();
                dispositions.put(delivery, Disposition.DONE);
            } else {
                live.add(delivery);
            }
        }
        if (live.isEmpty()) {
            return dispositions;
        }
        Delivery first = live.get(0);
        counters.exceptions.increment();
        if (onException == ExceptionPolicy.FAIL_FAST) {
            failed(
                    live,
                    "the handler of " + named(live) + " threw on attempt " + first.attempt() + "; "
                            + (live.size() == 1 ? STAYS_OPEN : STAY_OPEN) + ON_EXCEPTION,
                    thrown);
            live.forEach(delivery -> dispositions.put(delivery, Disposition.FAILED));
            return dispositions;
        }
        exceptionEpisodes.failed(n -> log.atWarn()
                .addKeyValue("subscription", subscription)
                .addKeyValue("record", first)
                .addKeyValue("records", live.size())
                .addKeyValue("attempt", first.attempt())
                .addKeyValue("policy", onException)
                .addKeyValue("failures", n)
                .setCause(thrown)
                .log("handler threw"));
        live.forEach(delivery -> dispositions.put(delivery, settlement.settle(delivery, outcome())));
        return dispositions;
    }

    /** Kafka does not take a reply, and never will. */
    Disposition replyRefused(Delivery delivery, PublishException refusal) {
        counters.failedReplies.increment();
        if (delivery.cancelled()) {
            counters.stale.increment();
            return Disposition.DONE;
        }
        if (onException == ExceptionPolicy.FAIL_FAST) {
            String topic = refusal.topic();
            return failed(
                    List.of(delivery),
                    "the reply to " + delivery + " cannot be published: " + refusal.reason()
                            + (topic == null ? "" : ", topic " + TopicName.shown(topic)) + " (" + refusal.getMessage()
                            + "); "
                            + STAYS_OPEN
                            + ON_EXCEPTION,
                    refusal);
        }
        replyEpisodes.failed(n -> log.atWarn()
                .addKeyValue("subscription", subscription)
                .addKeyValue("record", delivery)
                .addKeyValue("attempt", delivery.attempt())
                .addKeyValue("reason", refusal.reason())
                .addKeyValue("policy", onException)
                .addKeyValue("failures", n)
                .setCause(refusal)
                .log("reply cannot be published"));
        return settlement.settle(delivery, outcome());
    }

    private HandlerOutcome outcome() {
        return onException == ExceptionPolicy.RETRY ? HandlerOutcome.retry() : HandlerOutcome.drop();
    }

    /** A record's bytes are not a value. */
    Disposition undecodable(Delivery delivery, Throwable thrown) {
        if (delivery.cancelled()) {
            counters.stale.increment();
            return Disposition.DONE;
        }
        counters.undecodable.increment();
        if (thrown instanceof Error error) {
            return failed(
                    List.of(delivery), "decoding " + delivery + " threw an error", SilencedException.error(error));
        }
        DecodeException why = why(thrown);
        if (onDecodeFailure == DecodePolicy.FAIL_FAST) {
            return failed(
                    List.of(delivery),
                    delivery + " cannot be decoded; " + STAYS_OPEN
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

    /** The codec's own words if it has kept to the contract; of everything else only kind and place. */
    private static DecodeException why(Throwable thrown) {
        String what = thrown instanceof DecodeException said
                ? String.valueOf(said.getMessage())
                : "the codec threw a " + thrown.getClass().getName();
        DecodeException why = new DecodeException(what, SilencedException.ofCause(thrown.getCause()));
        why.setStackTrace(thrown.getStackTrace());
        return why;
    }

    private static String named(List<Delivery> deliveries) {
        return deliveries.size() == 1
                ? deliveries.get(0).toString()
                : "a batch of " + deliveries.size() + " from " + deliveries.get(0);
    }

    private Disposition failed(List<Delivery> deliveries, String what, Throwable thrown) {
        deliveries.forEach(delivery -> delivery.owner().holdAt(delivery.offset()));
        failures.failed(new ServiceFailedException("subscription " + subscription + " failed: " + what, thrown));
        return Disposition.FAILED;
    }
}
