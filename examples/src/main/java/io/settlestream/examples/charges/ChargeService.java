package io.settlestream.examples.charges;

import io.settlestream.App;
import io.settlestream.Context;
import io.settlestream.ExceptionPolicy;
import io.settlestream.HandlerOutcome;
import io.settlestream.LaneKey;
import io.settlestream.SettleStream;
import io.settlestream.Subscriber;
import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.kafka.StartOffset;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes charges through a payment gateway. A charge that the gateway turns away comes back before the charges of its
 * account that are behind it, and nothing is committed past it until it is taken or given up.
 */
public final class ChargeService {

    /** What is read. */
    public static final String CHARGES = "charges";

    /** Where charges go that are given up. */
    public static final String DEAD_CHARGES = "charges.dead";

    private static final Logger log = LoggerFactory.getLogger(ChargeService.class);

    /** What handlers work with. */
    public record Clients(Gateway gateway) {}

    /** Money to be taken; the record's key is the account. */
    public record Charge(long id, long cents) {}

    private ChargeService() {}

    /** The cluster at {@code bootstrapServers}, as this service uses it. */
    public static KafkaBroker broker(String... bootstrapServers) {
        return KafkaBroker.of(bootstrapServers).defaultGroup("payments");
    }

    /**
     * The whole service.
     *
     * @param clients opens what handlers work with, before anything is read
     */
    public static App<Clients> app(KafkaBroker kafka, Callable<Clients> clients) {
        Subscriber<Charge, Clients> charges = Subscriber.on(
                        KafkaTopic.of(CHARGES).commit(Commit.tracked()).startOffset(StartOffset.EARLIEST), Charge.class)
                .handle(ChargeService::take);

        return SettleStream.app("payments", "0.1.0")
                .onStartup(clients)
                .withBroker(
                        kafka,
                        scope -> scope.include(charges)
                                .workersByKey(8, LaneKey.RECORD_KEY)
                                .maxAttempts(5)
                                .deadLetter(DEAD_CHARGES)
                                .onException(ExceptionPolicy.byCause(ChargeService::whenItThrows)));
    }

    /** A charge of nothing is given up at once; one for which the gateway is busy comes back. */
    static HandlerOutcome take(Charge charge, Context<Clients> delivery) throws Exception {
        if (charge.cents() <= 0) {
            return HandlerOutcome.deadLetter("the amount is not positive");
        }
        if (!delivery.state().gateway().take(charge.id(), charge.cents())) {
            log.atDebug().addKeyValue("charge", charge.id()).log("turned away, comes back");
            return HandlerOutcome.retry();
        }
        log.atDebug().addKeyValue("charge", charge.id()).log("taken");
        return HandlerOutcome.ack();
    }

    /** A gateway that is down may be up again soon; what it refuses it will refuse again; all else is a mistake of ours. */
    static ExceptionPolicy whenItThrows(Exception cause) {
        return switch (cause) {
            case TimeoutException down -> ExceptionPolicy.RETRY;
            case IllegalArgumentException refused -> ExceptionPolicy.DEAD_LETTER;
            default -> ExceptionPolicy.FAIL_FAST;
        };
    }
}
