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
import io.settlestream.internal.settle.Reason;
import io.settlestream.internal.settle.Recovery;
import io.settlestream.internal.settle.Settlement;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Settles deliveries, above all those that ended without an outcome: the handler threw, its reply cannot be published, or
 * the record could not be decoded.
 */
final class Policies {

    private static final Logger log = LoggerFactory.getLogger(Policies.class);

    /** A choice may lead to another choice, but not for ever. */
    private static final int DEEPEST_CHOICE = 8;

    private static final String STAYS_OPEN = "the record stays open and is read again by the next start.";
    private static final String STAY_OPEN = "they stay open and are read again by the next start.";
    private static final String ON_EXCEPTION =
            " Choose another policy with onException(...) where the subscriber is included";

    private final String subscription;
    private final ExceptionPolicy onException;
    private final DecodePolicy onDecodeFailure;
    private final Recovery recovery;
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
        this.recovery = environment.recovery();
        this.settlement = environment.settlement();
        this.counters = environment.counters();
        this.failures = environment.failures();
        this.exceptionEpisodes = new Episodes(environment.scheduler());
        this.replyEpisodes = new Episodes(environment.scheduler());
        this.decodeEpisodes = new Episodes(environment.scheduler());
    }

    /** A handler has answered. A dead letter that has nowhere to go counts as an exception that says so. */
    Disposition answered(Delivery delivery, HandlerOutcome outcome) {
        if (outcome instanceof HandlerOutcome.DeadLetter && !recovery.hasDeadLetters()) {
            return threw(
                    delivery,
                    new IllegalStateException(
                            "the handler answered with a dead letter, but subscription " + subscription
                                    + " has no dead-letter topic: name one with deadLetter(...) where the subscriber is included"));
        }
        return settlement.settle(delivery, outcome);
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
            deliveries.forEach(settlement::attemptFailed);
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
        HandlerOutcome outcome = choice(thrown);
        if (outcome == null) {
            live.forEach(settlement::attemptFailed);
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
                .addKeyValue("outcome", outcome)
                .addKeyValue("failures", n)
                .setCause(thrown)
                .log("handler threw"));
        Reason reason = Reason.threw(thrown);
        live.forEach(delivery -> dispositions.put(delivery, settlement.settle(delivery, outcome, reason)));
        return dispositions;
    }

    /** Kafka does not take a reply, and never will. */
    Disposition replyRefused(Delivery delivery, PublishException refusal) {
        counters.failedReplies.increment();
        if (delivery.cancelled()) {
            counters.stale.increment();
            return Disposition.DONE;
        }
        HandlerOutcome outcome = choice(refusal);
        if (outcome == null) {
            settlement.attemptFailed(delivery);
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
        return settlement.settle(delivery, outcome, Reason.threw(refusal));
    }

    /** What the policy chooses; null to fail. */
    private @Nullable HandlerOutcome choice(Throwable thrown) {
        ExceptionPolicy policy = onException;
        try {
            for (int depth = 0; policy instanceof ExceptionPolicy.ByCause choice && depth < DEEPEST_CHOICE; depth++) {
                policy = choice.choice().apply((Exception) thrown);
            }
        } catch (Throwable e) { // an Error as well: it must not hide what the handler threw
            thrown.addSuppressed(new IllegalStateException("the exception policy threw itself", e));
            return null;
        }
        HandlerOutcome outcome = switch (policy) {
            case ExceptionPolicy.RetryAfter later -> settlement.retries() ? later.outcome() : null;
            case ExceptionPolicy.Fixed fixed ->
                switch (fixed) {
                    case RETRY -> settlement.retries() ? HandlerOutcome.retry() : null;
                    case DROP -> HandlerOutcome.drop();
                    case DEAD_LETTER -> recovery.hasDeadLetters() ? HandlerOutcome.deadLetter("") : null;
                    case FAIL_FAST -> null;
                };
            case ExceptionPolicy.ByCause endless -> null;
            case null -> null;
        };
        if (outcome == null && !ExceptionPolicy.FAIL_FAST.equals(policy)) {
            thrown.addSuppressed(new IllegalStateException(
                    "the exception policy " + notFollowed(policy, ExceptionPolicy.DEAD_LETTER.equals(policy))));
        }
        return outcome;
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
        HandlerOutcome outcome = choice(why);
        if (outcome == null) {
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
                .addKeyValue("outcome", outcome)
                .addKeyValue("failures", n)
                .addKeyValue("cause", why.getMessage())
                .log("record cannot be decoded"));
        return settlement.settle(delivery, outcome, Reason.threw(why));
    }

    /** What the policy chooses; null to fail. */
    private @Nullable HandlerOutcome choice(DecodeException why) {
        DecodePolicy policy = onDecodeFailure;
        try {
            for (int depth = 0; policy instanceof DecodePolicy.ByCause choice && depth < DEEPEST_CHOICE; depth++) {
                policy = choice.choice().apply(why);
            }
        } catch (Throwable e) { // an Error as well: it must not hide which record it was about
            why.addSuppressed(new IllegalStateException("the decode policy threw itself", e));
            return null;
        }
        HandlerOutcome outcome = switch (policy) {
            case DecodePolicy.Fixed fixed ->
                switch (fixed) {
                    case RETRY -> settlement.retries() ? HandlerOutcome.retry() : null;
                    case DROP -> HandlerOutcome.drop();
                    case DEAD_LETTER -> recovery.hasDeadLetters() ? HandlerOutcome.deadLetter("") : null;
                    case FAIL_FAST -> null;
                };
            case DecodePolicy.ByCause endless -> null;
            case null -> null;
        };
        if (outcome == null && !DecodePolicy.FAIL_FAST.equals(policy)) {
            why.addSuppressed(new IllegalStateException(
                    "the decode policy " + notFollowed(policy, DecodePolicy.DEAD_LETTER.equals(policy))));
        }
        return outcome;
    }

    /** Why a choice that was made came to nothing, and the way out. A policy without a choice was looked at before the start. */
    private static String notFollowed(@Nullable Object chosen, boolean deadLetter) {
        if (deadLetter) {
            return "chose DEAD_LETTER, but there is no dead-letter topic: name one with deadLetter(...) where the"
                    + " subscriber is included";
        }
        return switch (chosen) {
            case null -> "chose null, which counts as FAIL_FAST";
            case ExceptionPolicy.ByCause endless -> "chose BY_CAUSE over and over, which counts as FAIL_FAST";
            case DecodePolicy.ByCause endless -> "chose BY_CAUSE over and over, which counts as FAIL_FAST";
            default ->
                "chose " + chosen + " under Commit.auto(), where nothing comes back: use Commit.tracked(), or choose"
                        + " another policy";
        };
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
