package io.settlestream.testing.internal.kafka;

import java.util.SortedSet;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;

/** Calls the application's rebalance listener, on the thread that polls. */
final class Listeners {

    private interface Call {
        void on(ConsumerRebalanceListener listener);
    }

    private final Subscriptions subscriptions;

    Listeners(Subscriptions subscriptions) {
        this.subscriptions = subscriptions;
    }

    /** Returns what the listener threw, as the other methods do; wake-ups and interrupts are thrown on. */
    @Nullable
    RuntimeException assigned(SortedSet<TopicPartition> partitions) {
        return call(listener -> listener.onPartitionsAssigned(partitions));
    }

    @Nullable
    RuntimeException revoked(SortedSet<TopicPartition> partitions) {
        return call(listener -> listener.onPartitionsRevoked(partitions));
    }

    @Nullable
    RuntimeException lost(SortedSet<TopicPartition> partitions) {
        return call(listener -> listener.onPartitionsLost(partitions));
    }

    /** As the application sees a failure of its listener. */
    static KafkaException wrapped(RuntimeException failure) {
        return new KafkaException("User rebalance callback throws an error", failure);
    }

    @Nullable
    private RuntimeException call(Call call) {
        ConsumerRebalanceListener listener = subscriptions.listener();
        if (listener == null) {
            return null;
        }
        try {
            call.on(listener);
            return null;
        } catch (WakeupException | InterruptException | ClientCrashed e) {
            throw e;
        } catch (RuntimeException e) {
            return e;
        }
    }
}
