package io.settlestream.conformance.simulation;

import io.settlestream.Health;
import io.settlestream.testing.TestApp;
import java.util.Optional;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** One life of one member, from a start to a stop, crash or failure: the application's state. */
final class Life {

    private final String member;
    private final int number;
    private @Nullable TestApp<Life> app;

    Life(String member, int number) {
        this.member = member;
        this.number = number;
    }

    /** Its start has returned. */
    void started(TestApp<Life> started) {
        app = started;
    }

    /** It is over. */
    void ended() {
        app = null;
    }

    /** What it knows of a subscription; empty while it starts and once it has ended. */
    Optional<Health.Subscription> health(String subscription) {
        TestApp<Life> current = app;
        return current == null
                ? Optional.empty()
                : current.health().subscriptions().stream()
                        .filter(each -> each.name().equals(subscription))
                        .findFirst();
    }

    static boolean owns(Health.Subscription subscription, TopicPartition partition) {
        return subscription.partitions().stream()
                .anyMatch(owned -> owned.partition() == partition.partition()
                        && owned.topic().equals(partition.topic()));
    }

    @Override
    public String toString() {
        return member + "." + number;
    }
}
