package io.settlestream.internal.poll;

import io.settlestream.ControlException.Reason;
import io.settlestream.internal.health.Counters;
import io.settlestream.internal.health.Episodes;
import io.settlestream.internal.settle.Delivery;
import io.settlestream.kafka.KafkaPosition;
import io.settlestream.spi.TimeSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Seeks that are asked for and have not taken effect, because the cluster has to say first where their positions are.
 * That is asked again and again until it does, the partition leaves, or the subscription stops. Belongs to the poll thread.
 */
final class Seeks {

    private static final Logger log = LoggerFactory.getLogger(Seeks.class);

    /** Where a partition is to go, and for whom; of several the last has said where. */
    private static final class Wanted {
        private KafkaPosition target;
        private final List<Request> requests = new ArrayList<>();
        private final List<Delivery> deliveries = new ArrayList<>();

        Wanted(KafkaPosition target) {
            this.target = target;
        }
    }

    private final String subscription;
    private final Consumer<byte[], byte[]> consumer;
    private final LogPlaces places;
    private final BiConsumer<TopicPartition, Long> moved;
    private final Counters counters;
    private final Episodes episodes;

    private final Map<TopicPartition, Wanted> wanted = new LinkedHashMap<>();
    private volatile @Nullable String problem;

    /**
     * @param moved told where the consumer goes on with a partition
     */
    Seeks(
            String subscription,
            Consumer<byte[], byte[]> consumer,
            LogPlaces places,
            BiConsumer<TopicPartition, Long> moved,
            Counters counters,
            TimeSource time) {
        this.subscription = subscription;
        this.consumer = consumer;
        this.places = places;
        this.moved = moved;
        this.counters = counters;
        this.episodes = new Episodes(time);
    }

    /** Why seeks have not taken effect, if the cluster does not say. Any thread. */
    @Nullable
    String problem() {
        return problem;
    }

    boolean any() {
        return !wanted.isEmpty();
    }

    void add(TopicPartition name, KafkaPosition target, Request request) {
        Wanted unused = want(name, target, request);
    }

    /** Adds a seek that a handler has asked for, which is not interrupted by what it wanted itself. */
    void add(TopicPartition name, KafkaPosition target, Request request, Delivery delivery) {
        want(name, target, request).deliveries.add(delivery);
    }

    private Wanted want(TopicPartition name, KafkaPosition target, Request request) {
        Wanted partition = wanted.computeIfAbsent(name, unused -> new Wanted(target));
        partition.target = target;
        partition.requests.add(request);
        return partition;
    }

    /** The partition leaves this member. */
    void gone(TopicPartition name) {
        Wanted partition = wanted.remove(name);
        if (partition != null) {
            partition.requests.forEach(request -> request.failed(
                    Reason.REVOKED,
                    name + " has left this member before it was sought, and its next owner goes on at what is"
                            + " committed. Seek it there",
                    null));
        }
    }

    /** The subscription stops. */
    void tooLate() {
        wanted.values().forEach(partition -> partition.requests.forEach(Request::tooLate));
        wanted.clear();
        problem = null;
    }

    /** Finds out where to go, and goes there; what the cluster does not answer in time is asked again in the next round. */
    void resolve() {
        Map<TopicPartition, KafkaPosition> targets = new LinkedHashMap<>();
        wanted.forEach((name, partition) -> targets.put(name, partition.target));
        try {
            places.offsets(targets).forEach(this::seek);
            problem = null;
        } catch (WakeupException | InterruptException e) {
            throw e;
        } catch (RetriableException e) {
            problem = "cluster does not say where to seek: " + e;
            episodes.failed(n -> log.atWarn()
                    .addKeyValue("subscription", subscription)
                    .addKeyValue("failures", n)
                    .addKeyValue("cause", e.toString())
                    .log("cluster does not say where to seek; asking again"));
        } catch (RuntimeException e) {
            List<Wanted> refused = List.copyOf(wanted.values());
            wanted.clear();
            problem = null;
            refused.forEach(partition -> partition.requests.forEach(request -> request.failed(
                    Reason.REFUSED, "the cluster refuses to say where " + partition.target + " is: " + e, e)));
        }
    }

    private void seek(TopicPartition name, long offset) {
        Wanted partition = wanted.get(name);
        if (partition == null) {
            return;
        }
        if (partition.target instanceof KafkaPosition.Offset(long asked) && asked != offset) {
            counters.trimmed.increment();
            log.atWarn()
                    .addKeyValue("subscription", subscription)
                    .addKeyValue("partition", name)
                    .addKeyValue("position", asked)
                    .addKeyValue("resumeAt", offset)
                    .log("an offset that was sought is not in the log");
        }
        consumer.seek(name, offset);
        // Not until then: what the seek gives up must not be given up without it.
        wanted.remove(name);
        partition.deliveries.forEach(Delivery::spare);
        moved.accept(name, offset);
        partition.requests.forEach(request -> request.done(name));
    }
}
