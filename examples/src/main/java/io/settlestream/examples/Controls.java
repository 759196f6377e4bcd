package io.settlestream.examples;

import io.settlestream.HandlerOutcome;
import io.settlestream.RunningApp;
import io.settlestream.Subscriber;
import io.settlestream.SubscriptionControl;
import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaPosition;
import io.settlestream.kafka.KafkaTopic;
import java.time.Duration;
import java.time.Instant;

/** The code of docs/topics-groups-positions.md about seeking and pausing. */
final class Controls {

    private Controls() {}

    static void seek(RunningApp running) {
        SubscriptionControl payouts = running.subscription("payouts");
        payouts.seek(KafkaPosition.timestamp(Instant.now().minus(Duration.ofHours(1))))
                .join();
        payouts.seek("payouts", 3, KafkaPosition.offset(4711)).join();
    }

    static Subscriber<String, Object> fromAHandler() {
        return Subscriber.on(KafkaTopic.of("prices").commit(Commit.tracked()), String.class)
                .handle((price, context) -> {
                    if (context.timestamp().isBefore(Instant.now().minus(Duration.ofHours(1)))) {
                        context.seek(KafkaPosition.latest()); // nobody wants the backlog
                    }
                    return HandlerOutcome.ack();
                });
    }

    static void pause(RunningApp running) {
        SubscriptionControl payouts = running.subscription("payouts");
        payouts.pause().join();
        bankIsClosed();
        payouts.resume().join();
    }

    private static void bankIsClosed() {}
}
