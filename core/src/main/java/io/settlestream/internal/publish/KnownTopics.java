package io.settlestream.internal.publish;

import io.settlestream.PublishException;
import io.settlestream.PublishException.Reason;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;

/**
 * The topics that were published to, with their numbers of partitions. It keeps bad destinations away from the producer:
 * {@code send} waits all of {@code max.block.ms} for a partition that does not exist, and until a topic's metadata is
 * there, which here happens before the record takes room that others need.
 *
 * <p>Thread-safe. Holds only topics that the cluster knows, so it is no larger than the cluster's metadata.
 */
final class KnownTopics {

    private final ConcurrentMap<String, Integer> partitionCounts = new ConcurrentHashMap<>();

    /**
     * Returns if {@code topic} exists, and {@code partition} in it if one is asked for.
     *
     * @throws InterruptedException if interrupted while metadata is on its way
     */
    void require(Producer<?, ?> producer, String topic, @Nullable Integer partition) throws InterruptedException {
        Integer count = partitionCounts.get(topic);
        if (count == null) {
            TopicName.requireLegal(topic);
            count = fetch(producer, topic);
        }
        if (partition != null && partition >= count) {
            // The topic may have grown since: ask again, which costs nothing, as the producer answers from its own
            // cache.
            count = fetch(producer, topic);
            if (partition >= count) {
                throw new PublishException(
                        Reason.UNKNOWN_PARTITION,
                        topic,
                        "Topic " + TopicName.shown(topic) + " has no partition " + partition + ": it has " + count
                                + " of them, numbered from 0. Partitions added to a topic are seen after metadata.max.age.ms"
                                + " at the latest.",
                        null);
            }
        }
    }

    /** A failure of the producer as a typed error. A topic that turns out to be gone is asked for again next time. */
    PublishException failure(String topic, Throwable failure, Failures.Stage stage, boolean closed) {
        PublishException typed = Failures.of(topic, failure, stage, closed);
        if (typed.reason() == Reason.UNKNOWN_TOPIC) {
            partitionCounts.remove(topic);
        }
        return typed;
    }

    private int fetch(Producer<?, ?> producer, String topic) throws InterruptedException {
        int count;
        try {
            count = producer.partitionsFor(topic).size();
        } catch (InterruptException interrupted) {
            throw Failures.interrupted(interrupted);
        }
        partitionCounts.put(topic, count);
        return count;
    }
}
