package io.settlestream.testing.internal.kafka;

import io.settlestream.testing.internal.kafka.LogView.Stored;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.TopicPartition;

/** An Apache Kafka in this process: makes its clients, and does what an administrator, or an accident, does to it. */
public final class InProcessKafka {

    private final Cluster cluster;

    /** A cluster without topics. */
    public InProcessKafka(Host host) {
        cluster = new Cluster(host);
    }

    /**
     * Creates a topic.
     *
     * @param configs settings of the topic, by Kafka's names
     * @throws org.apache.kafka.common.errors.TopicExistsException if there is one of that name
     */
    public void createTopic(String name, int partitions, Map<String, String> configs) {
        cluster.createTopic(name, partitions, configs);
    }

    /** From now on a topic that a producer asks for and that is missing is made, with one partition, as brokers do. */
    public void createTopics() {
        cluster.createTopics();
    }

    /** The clients of a process, which crash together. */
    public ProcessClients clients() {
        return new ProcessClients(cluster);
    }

    /** Where a partition ends for readers of committed records: its last stable offset. */
    public long stableOffset(TopicPartition partition) {
        return cluster.locked(() -> log(partition).lastStableOffset());
    }

    /** Deletes a topic and all its records. One that is created later under its name is another topic. */
    public void deleteTopic(String name) {
        cluster.deleteTopic(name);
    }

    /** Adds partitions to a topic until it has {@code total}. */
    public void addPartitions(String name, int total) {
        cluster.addPartitions(name, total);
    }

    /** The names of all topics. */
    public List<String> topics() {
        return cluster.locked(cluster::topicNames);
    }

    /** How many partitions a topic has. */
    public int partitions(String topic) {
        return cluster.locked(() -> cluster.require(topic).partitions().size());
    }

    /** A producer with the configuration of {@code KafkaProducer}. */
    public Producer<byte[], byte[]> producer(Map<String, Object> configs) {
        return new InProcessProducer(cluster, configs);
    }

    /** A consumer with the configuration of {@code KafkaConsumer}. */
    public Consumer<byte[], byte[]> consumer(Map<String, Object> configs) {
        return new InProcessConsumer(cluster, configs);
    }

    /** The offsets that a group has committed. */
    public Map<TopicPartition, OffsetAndMetadata> committed(String group) {
        return group(group).committed();
    }

    /** A group, and what can happen to it. */
    public GroupControl group(String id) {
        return new GroupControl(cluster, id);
    }

    /**
     * Ends a consumer as a crash of its process would: all that its threads call throws, and its group notices when its
     * session ends.
     *
     * @param atOnce whether the group notices now
     */
    public void crash(Consumer<byte[], byte[]> consumer, boolean atOnce) {
        if (!(consumer instanceof InProcessConsumer mine)) {
            throw new IllegalArgumentException(consumer + " is no consumer of an in-process Kafka");
        }
        mine.crash(atOnce);
    }

    /**
     * Ends a producer as a crash of its process would: records that were not sent are gone, its transaction stays open
     * until it times out or another producer takes its transactional id, and no callback is called.
     */
    public void crash(Producer<byte[], byte[]> producer) {
        if (!(producer instanceof InProcessProducer mine)) {
            throw new IllegalArgumentException(producer + " is no producer of an in-process Kafka");
        }
        mine.crash();
    }

    /** Deletes the records of a partition before an offset, as retention does. */
    public void trim(TopicPartition partition, long offset) {
        cluster.change(() -> log(partition).deleteRecordsBefore(offset));
    }

    /** Lets the log cleaner run over all partitions of a topic with {@code cleanup.policy=compact}. */
    public void compact(String topic) {
        cluster.change(() -> cluster.require(topic).partitions().forEach(PartitionLog::compact));
    }

    /**
     * Lets the open transaction of an id time out now.
     *
     * @throws IllegalArgumentException if no producer has used the id
     * @throws IllegalStateException if no transaction of it is open
     */
    public void expireTransaction(String transactionalId) {
        cluster.change(() -> cluster.transactions().expire(transactionalId));
    }

    /**
     * Makes somebody else the holder of a transactional id, as another instance does that starts with it.
     *
     * @throws IllegalArgumentException if no producer has used the id
     */
    public void fence(String transactionalId) {
        cluster.change(() -> cluster.transactions().fence(transactionalId));
    }

    /** From now on readers see nothing new of a topic, while producers go on. */
    public void pause(String topic) {
        cluster.change(() -> cluster.require(topic).partitions().forEach(PartitionLog::pause));
    }

    /** As {@link #pause(String)}, of one partition. */
    public void pause(TopicPartition partition) {
        cluster.change(() -> log(partition).pause());
    }

    /** Readers see all of a topic again. */
    public void resume(String topic) {
        cluster.change(() -> cluster.require(topic).partitions().forEach(PartitionLog::resume));
    }

    /** As {@link #resume(String)}, of one partition. */
    public void resume(TopicPartition partition) {
        cluster.change(() -> log(partition).resume());
    }

    /** Another leader takes a partition over. Nothing is lost. */
    public void changeLeader(TopicPartition partition) {
        cluster.change(() -> log(partition).changeLeader());
    }

    /** The records of a topic that were not aborted and whose transactions, if any, are committed; by partition. */
    public Map<TopicPartition, List<Stored>> records(String topic) {
        return records(topic, false);
    }

    /**
     * The records of a topic, by partition.
     *
     * @param uncommitted whether with those of transactions that are open or were aborted
     */
    public Map<TopicPartition, List<Stored>> records(String topic, boolean uncommitted) {
        return cluster.locked(() -> {
            Map<TopicPartition, List<Stored>> records =
                    new TreeMap<>((one, other) -> Integer.compare(one.partition(), other.partition()));
            List<PartitionLog> logs = cluster.require(topic).partitions();
            for (int partition = 0; partition < logs.size(); partition++) {
                PartitionLog log = logs.get(partition);
                records.put(new TopicPartition(topic, partition), uncommitted ? log.all() : log.committed());
            }
            return records;
        });
    }

    /** As {@link #records(String)}, one after the other. */
    public List<StoredRecord> committedRecords(String topic) {
        return records(topic).entrySet().stream()
                .flatMap(entry -> entry.getValue().stream()
                        .map(record -> new StoredRecord(
                                entry.getKey().partition(),
                                record.offset(),
                                record.timestamp(),
                                record.key(),
                                record.value(),
                                List.of(record.headers().toArray()))))
                .toList();
    }

    /** The first offset of a partition that can be read. */
    public long startOffset(TopicPartition partition) {
        return cluster.locked(() -> log(partition).startOffset());
    }

    /** The offset behind the last one of a partition that can be read. */
    public long endOffset(TopicPartition partition) {
        return cluster.locked(() -> log(partition).endOffset());
    }

    /** For tests of its parts. */
    Cluster cluster() {
        return cluster;
    }

    /** What goes wrong with requests. */
    public Faults faults() {
        return cluster.faults();
    }

    private PartitionLog log(TopicPartition partition) {
        PartitionLog log = cluster.log(partition);
        if (log == null) {
            throw new org.apache.kafka.common.errors.UnknownTopicOrPartitionException("There is no " + partition + "; "
                    + partition.topic() + " has "
                    + cluster.require(partition.topic()).partitions().size() + " partitions");
        }
        return log;
    }
}
