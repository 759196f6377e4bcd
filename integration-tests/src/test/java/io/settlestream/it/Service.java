package io.settlestream.it;

import io.settlestream.Health;
import io.settlestream.Mount;
import io.settlestream.RunningApp;
import io.settlestream.SettleStream;
import io.settlestream.Subscriber;
import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.kafka.StartOffset;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** The small services that tests of positions start over and over. */
final class Service {

    /** Between two commits, so that a test need not wait for one. */
    static final int COMMIT_INTERVAL_MS = 50;

    private Service() {}

    /** A topic read from its beginning under Commit.tracked(), with commits that come quickly. */
    static KafkaTopic tracked(String topic, String group, String protocol) {
        return auto(topic, group, protocol).commit(Commit.tracked());
    }

    /** A topic read from its beginning under Commit.auto(), with commits that come quickly. */
    static KafkaTopic auto(String topic, String group, String protocol) {
        return KafkaTopic.of(topic)
                .group(group)
                .commit(Commit.auto())
                .startOffset(StartOffset.EARLIEST)
                .config("group.protocol", protocol)
                .config("metadata.max.age.ms", 200)
                .config("auto.commit.interval.ms", COMMIT_INTERVAL_MS);
    }

    static RunningApp start(LiveKafka kafka, Subscriber<?, Object> subscriber) {
        return start(kafka, subscriber, mount -> {});
    }

    static RunningApp start(LiveKafka kafka, Subscriber<?, Object> subscriber, Consumer<Mount> options) {
        return start(kafka, List.of(subscriber), options);
    }

    static RunningApp start(LiveKafka kafka, List<Subscriber<?, Object>> subscribers, Consumer<Mount> options) {
        return start(kafka, Duration.ofSeconds(5), subscribers, options);
    }

    /**
     * @param shutdownTimeout how long handlers have at the end
     */
    static RunningApp start(
            LiveKafka kafka,
            Duration shutdownTimeout,
            List<Subscriber<?, Object>> subscribers,
            Consumer<Mount> options) {
        return SettleStream.app(LiveKafka.unique("service"), "1")
                .shutdownTimeout(shutdownTimeout)
                .withBroker(
                        KafkaBroker.of(kafka.bootstrap()),
                        scope -> subscribers.forEach(subscriber -> options.accept(scope.include(subscriber))))
                .start();
    }

    /** The health of a service's only subscription. */
    static Health.Subscription only(RunningApp app) {
        return app.health().subscriptions().get(0);
    }

    /** In a handler: waits for what the test allows later. */
    static void await(CountDownLatch latch) throws InterruptedException {
        if (!latch.await(LiveKafka.PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
            throw new IllegalStateException("the test never let the handler go on");
        }
    }
}
