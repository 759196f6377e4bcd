package io.settlestream.testing.internal.kafka;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.jspecify.annotations.Nullable;

/**
 * The state of the in-process Kafka: topics, groups and transactions, and the one lock that guards them. Clients keep
 * what their own threads share under the same lock, so that what someone waits for can be asked with no other lock.
 */
final class Cluster {

    private final Host host;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Topic> topics = new LinkedHashMap<>();
    private final Groups groups = new Groups(this);
    private final TransactionCoordinator transactions = new TransactionCoordinator(this);
    private final Faults faults = new Faults(lock);
    private long topicsMade;
    private boolean createsTopics;
    private long producersMade;

    Cluster(Host host) {
        this.host = host;
    }

    Host host() {
        return host;
    }

    /** Held for single steps, never while waiting or calling code of the application. */
    ReentrantLock lock() {
        return lock;
    }

    /** Does a step with the lock. */
    <T extends @Nullable Object> T locked(Supplier<T> step) {
        lock.lock();
        try {
            return step.get();
        } finally {
            lock.unlock();
        }
    }

    /** Does a step with the lock that may let others go on. */
    void change(Runnable step) {
        lock.lock();
        try {
            step.run();
        } finally {
            lock.unlock();
        }
        host.changed();
    }

    /** With the lock: the partitions of a topic, or null if there is no such topic. */
    @Nullable
    List<? extends LogView> topic(String name) {
        Topic topic = topics.get(name);
        return topic == null ? null : topic.partitions();
    }

    /** With the lock: the topic, or null. */
    @Nullable
    Topic find(String name) {
        return topics.get(name);
    }

    /** With the lock: the topic. */
    Topic require(String name) {
        Topic topic = topics.get(name);
        if (topic == null) {
            throw new UnknownTopicOrPartitionException("There is no topic " + name + "; there are " + topics.keySet());
        }
        return topic;
    }

    /** With the lock: the log of a partition, or null. */
    @Nullable
    PartitionLog log(TopicPartition partition) {
        Topic topic = topics.get(partition.topic());
        return topic == null || partition.partition() >= topic.partitions().size()
                ? null
                : topic.partitions().get(partition.partition());
    }

    /** With the lock: the names of all topics, in the order of their creation. */
    List<String> topicNames() {
        return new ArrayList<>(topics.keySet());
    }

    void createTopic(String name, int partitions, Map<String, String> configs) {
        Topic.requireLegalName(name);
        TopicSettings settings = TopicSettings.of(name, configs);
        change(() -> {
            if (topics.containsKey(name)) {
                throw new TopicExistsException("Topic '" + name + "' already exists.");
            }
            topics.put(name, new Topic(name, new Uuid(1, ++topicsMade), settings, partitions, host));
            groups.topicsChanged();
        });
    }

    /** From now on a topic that a producer asks for and that is missing is made, with one partition, as brokers do. */
    void createTopics() {
        change(() -> createsTopics = true);
    }

    /** A producer asks for a topic. */
    void wanted(String name) {
        boolean missing = locked(() -> createsTopics && !topics.containsKey(name) && Topic.isLegalName(name));
        if (missing) {
            createTopic(name, 1, Map.of());
        }
    }

    void deleteTopic(String name) {
        change(() -> {
            require(name);
            topics.remove(name);
            groups.topicsChanged();
        });
    }

    void addPartitions(String name, int total) {
        change(() -> {
            require(name).grow(total);
            groups.topicsChanged();
        });
    }

    /** With the lock: a produce request for one partition, as its leader answers it. */
    Produce.Answer produce(TopicPartition partition, Produce batch, @Nullable String transactionalId) {
        PartitionLog log = log(partition);
        if (log == null) {
            return new Produce.Refused(
                    new UnknownTopicOrPartitionException("This server does not host this topic-partition."));
        }
        Produce.Sender sender = batch.sender();
        if (sender.transactional() && transactionalId != null) {
            try {
                transactions.addPartition(
                        transactionalId,
                        new TransactionCoordinator.Identity(sender.producerId(), sender.epoch()),
                        partition);
            } catch (ApiException refused) {
                return new Produce.Refused(refused);
            }
        }
        return log.append(batch);
    }

    /** With the lock: an id that no producer had. */
    long newProducerId() {
        return producersMade++;
    }

    TransactionCoordinator transactions() {
        return transactions;
    }

    Groups groups() {
        return groups;
    }

    Faults faults() {
        return faults;
    }
}
