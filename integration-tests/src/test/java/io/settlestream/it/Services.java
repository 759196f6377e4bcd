package io.settlestream.it;

import io.settlestream.Health;
import io.settlestream.Mount;
import io.settlestream.RunningApp;
import io.settlestream.SettleStream;
import io.settlestream.ShutdownResult;
import io.settlestream.Subscriber;
import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.kafka.StartOffset;
import io.settlestream.spi.AppEnvironment;
import java.time.Duration;
import java.util.function.Consumer;

/** Services of one subscription on the shared broker, and what a test wants to know of them. */
final class Services {

    private static final Duration SHUTDOWN = Duration.ofSeconds(10);

    private Services() {}

    /** A topic read from its beginning, whose positions are committed as often as is sensible. */
    static KafkaTopic topic(String topic, String group, Commit commit) {
        return KafkaTopic.of(topic)
                .group(group)
                .commit(commit)
                .startOffset(StartOffset.EARLIEST)
                .config("auto.commit.interval.ms", 50);
    }

    static KafkaTopic tracked(String topic, String group) {
        return topic(topic, group, Commit.tracked());
    }

    static RunningApp start(Subscriber<?, Object> subscriber) {
        return start(subscriber, mount -> {});
    }

    static RunningApp start(Subscriber<?, Object> subscriber, Consumer<Mount> options) {
        return SettleStream.app("service", "1")
                .shutdownTimeout(SHUTDOWN)
                .withBroker(broker(), scope -> options.accept(scope.include(subscriber)))
                .start();
    }

    static RunningApp start(AppEnvironment environment, Subscriber<?, Object> subscriber, Consumer<Mount> options) {
        return start(environment, broker(), subscriber, options);
    }

    static RunningApp start(
            AppEnvironment environment, KafkaBroker broker, Subscriber<?, Object> subscriber, Consumer<Mount> options) {
        return SettleStream.app("service", "1")
                .shutdownTimeout(SHUTDOWN)
                .withBroker(broker, scope -> options.accept(scope.include(subscriber)))
                .start(environment);
    }

    static KafkaBroker broker() {
        return KafkaBroker.of(LiveKafka.shared().bootstrap());
    }

    /** The service's only subscription. */
    static Health.Subscription subscription(RunningApp app) {
        return app.health().subscriptions().get(0);
    }

    static Health.Counts counts(RunningApp app) {
        return subscription(app).counts();
    }

    /** How many records are fetched and not settled. */
    static long open(RunningApp app) {
        return subscription(app).partitions().stream()
                .mapToLong(Health.Partition::openRecords)
                .sum();
    }

    static void eventuallyOpen(RunningApp app, long records) {
        LiveKafka.eventually(records + " records are open", () -> open(app) == records);
    }

    /** Waits for the end of a service that stops of itself, or is told to now. */
    static ShutdownResult stopped(RunningApp app) {
        return LiveKafka.get(app.shutdown());
    }
}
