package io.settlestream.testing;

import io.settlestream.spi.KafkaClients;
import io.settlestream.testing.internal.kafka.InProcessKafka;
import io.settlestream.testing.internal.sim.Simulation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.TopicPartition;

/**
 * An Apache Kafka in the test's process, with a virtual clock: topics, groups and transactions as a cluster has them,
 * without a network, files or threads of its own. It is empty, stands still while no application or test uses it, and is
 * forgotten when it is closed.
 *
 * <p>A test with one application need not care for it: {@link TestApp#start} makes one. A test with several applications
 * on one Kafka, with topics of more than one partition, with faults or with a seed makes it first:
 *
 * <pre>{@code
 * try (TestKafka kafka = TestKafka.create().topic("payouts", 3);
 *         TestApp<Clients> app = TestApp.of(PayoutService.app()).on(kafka).start()) {
 *     kafka.faults().commit("payouts").loseAnswer();
 *     app.publish("payouts", new Payout(1, 500));
 *     app.group("payouts").hasLag("payouts", 0);
 * }
 * }</pre>
 *
 * <p>As a broker with default settings does, it makes a topic that a producer asks for and that is missing, with one
 * partition. Used from one thread at a time, the test's; handlers may use its {@link #clock()}.
 *
 * @since 0.1.0
 */
public final class TestKafka implements AutoCloseable {

    /** Names a seed for every Kafka that was not made with one, as in {@code -Dsettlestream.seed=42}. */
    public static final String SEED_PROPERTY = "settlestream.seed";

    private final InProcessGround ground;
    private final InProcessKafka kafka;
    private final List<TestApp<?>> apps;
    private boolean closed;

    private TestKafka(InProcessGround ground, InProcessKafka kafka, List<TestApp<?>> apps) {
        this.ground = ground;
        this.kafka = kafka;
        this.apps = apps;
    }

    private static TestKafka of(Simulation simulation) {
        InProcessGround ground = new InProcessGround(simulation);
        return new TestKafka(ground, ground.main(), new ArrayList<>());
    }

    /**
     * One in which everything that Kafka leaves open takes its usual course, the same in every run; with the system property
     * {@value #SEED_PROPERTY} set, one {@linkplain #seeded seeded} with it.
     */
    public static TestKafka create() {
        Long seed = Long.getLong(SEED_PROPERTY);
        return seed == null ? of(Simulation.usual()) : seeded(seed);
    }

    /**
     * One that decides by chance what Kafka leaves open, the same way for the same seed: how many records a poll brings and
     * of which partition first, which of several lanes goes on, when an answer arrives, where a record without a key goes.
     */
    public static TestKafka seeded(long seed) {
        return of(Simulation.seeded(seed));
    }

    /** The seed, if this was made with one. */
    public OptionalLong seed() {
        return ground.simulation().seed();
    }

    /**
     * Whether the run so far can be had again exactly: it cannot if a handler has blocked in something that is not the
     * test's, such as a lock or a network, for more than some milliseconds.
     */
    public boolean reproducible() {
        return ground.simulation().outsiders() == 0;
    }

    /** Equal for two runs that did the same; see {@link #seeded}. */
    public long fingerprint() {
        return ground.simulation().fingerprint();
    }

    /** The virtual time. It begins with 2026 in every test. */
    public TestClock clock() {
        return ground.clock();
    }

    /** Lets time pass for all applications; what becomes due meanwhile happens at its time. */
    public void advance(Duration time) {
        ground().advance(time);
    }

    /** Lets all applications react until they are at rest; see {@link TestApp#settle}. */
    public void settle() {
        ground().settle(apps, TestApp.SETTLE_LIMIT);
    }

    /** Lets all applications do what they can do without time going on. */
    public void proceed() {
        ground().proceed();
    }

    // --- topics

    /** Creates a topic. */
    public TestKafka topic(String name, int partitions) {
        return topic(name, partitions, Map.of());
    }

    /**
     * Creates a topic.
     *
     * @param config the topic's settings, by Kafka's names, such as {@code cleanup.policy}
     * @throws org.apache.kafka.common.errors.TopicExistsException if there is one of this name
     * @throws org.apache.kafka.common.errors.ApiException if Kafka would refuse it
     */
    public TestKafka topic(String name, int partitions, Map<String, String> config) {
        kafka.createTopic(name, partitions, config);
        return this;
    }

    /** Gives a topic more partitions, until it has {@code total}. */
    public TestKafka addPartitions(String topic, int total) {
        kafka.addPartitions(topic, total);
        return this;
    }

    /** Deletes a topic with its records. */
    public TestKafka deleteTopic(String topic) {
        kafka.deleteTopic(topic);
        return this;
    }

    /** The records of a topic. */
    public TestTopic topic(String name) {
        return TestApp.knownTopic(name, ground, kafka.topics(), new Unmet(apps));
    }

    /** What a group has committed. */
    public TestGroup group(String name) {
        return new TestGroup(name, ground, new Unmet(apps));
    }

    /** How many partitions a topic has. */
    public int partitions(String topic) {
        return kafka.partitions(topic);
    }

    /** The offset of the first record of a partition that is still there, or will be. */
    public long startOffset(String topic, int partition) {
        return kafka.startOffset(new TopicPartition(topic, partition));
    }

    /** The offset behind the last record of a partition, those of open transactions included. */
    public long endOffset(String topic, int partition) {
        return kafka.endOffset(new TopicPartition(topic, partition));
    }

    /**
     * Kafka's own clients on this Kafka, for what a test does by hand: records in transactions, a reader with settings of its
     * own. What blocks in production drives all applications here. They find this Kafka by themselves; the test closes them.
     */
    public KafkaClients clients() {
        KafkaClients clients = kafka.clients();
        return new KafkaClients() {
            @Override
            public Consumer<byte[], byte[]> consumer(Map<String, Object> properties) {
                return clients.consumer(connected(properties));
            }

            @Override
            public Producer<byte[], byte[]> producer(Map<String, Object> properties) {
                return clients.producer(connected(properties));
            }
        };
    }

    private static Map<String, Object> connected(Map<String, Object> properties) {
        Map<String, Object> connected = new HashMap<>(properties);
        connected.putIfAbsent(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, "in-process:9092");
        return connected;
    }

    // --- accidents

    /** What shall go wrong. */
    public Faults faults() {
        return new Faults(kafka.faults());
    }

    /** Deletes the records of a partition in front of an offset, as retention does. */
    public TestKafka trim(String topic, int partition, long offset) {
        kafka.trim(new TopicPartition(topic, partition), offset);
        return this;
    }

    /** Lets the log cleaner run over a compacted topic. */
    public TestKafka compact(String topic) {
        kafka.compact(topic);
        return this;
    }

    /** From now on nobody sees what is written to a topic, until {@link #resumeLog}. */
    public TestKafka pauseLog(String topic) {
        kafka.pause(topic);
        return this;
    }

    /** Everybody sees all of a topic again. */
    public TestKafka resumeLog(String topic) {
        kafka.resume(topic);
        return this;
    }

    /**
     * Lets the open transaction of a transactional id time out now: it is aborted, and its producer learns of that by what
     * it asks for next.
     *
     * @throws IllegalArgumentException if no producer has used the id
     * @throws IllegalStateException if no transaction of it is open
     */
    public TestKafka expireTransaction(String transactionalId) {
        kafka.expireTransaction(transactionalId);
        return this;
    }

    /**
     * Makes somebody else the holder of a transactional id, as a second instance does that starts with it: the producer
     * that held it is fenced, and its open transaction aborted.
     *
     * @throws IllegalArgumentException if no producer has used the id
     */
    public TestKafka fence(String transactionalId) {
        kafka.fence(transactionalId);
        return this;
    }

    /** Makes a group assign its partitions anew. */
    public TestKafka rebalance(String group) {
        kafka.group(group).rebalance();
        return this;
    }

    /**
     * Lets a member join a group that owns partitions and does nothing with them: their owners have to give them up.
     *
     * @return its id
     */
    public String addMember(String group, String topic, int... partitions) {
        return kafka.group(group).addBareMember(existing(topic, partitions));
    }

    /** Partitions that are there, in the order in which they were named, for a set's own differs from JVM to JVM. */
    Set<TopicPartition> existing(String topic, int... partitions) {
        int total = kafka.partitions(topic);
        Set<TopicPartition> existing = new LinkedHashSet<>();
        for (int partition : partitions) {
            if (partition < 0 || partition >= total) {
                throw new IllegalArgumentException(
                        "There is no partition " + partition + " of " + topic + "; it has " + total
                                + ", numbered from 0. Make it with more, with TestKafka.topic(name, partitions) before the application starts, or with addPartitions(...)");
            }
            existing.add(new TopicPartition(topic, partition));
        }
        return existing;
    }

    /** Lets a member that was {@linkplain #addMember added} leave. */
    public TestKafka removeMember(String group, String memberId) {
        kafka.group(group).expire(memberId);
        return this;
    }

    /** Another broker becomes the leader of a partition. Nothing is lost; the leader epoch grows. */
    public TestKafka changeLeader(String topic, int partition) {
        kafka.changeLeader(new TopicPartition(topic, partition));
        return this;
    }

    /** Forgets everything and ends all applications that still run on it, as a crash does. */
    @Override
    public void close() {
        ground.requireTest();
        closed = true;
        List.copyOf(apps).forEach(TestApp::abandon);
        ground.close();
    }

    /**
     * What its applications stand on.
     *
     * @throws IllegalStateException if it is closed
     */
    InProcessGround ground() {
        if (closed) {
            throw new IllegalStateException(
                    "This TestKafka is closed, and all that was in it is gone; make another one with TestKafka.create()");
        }
        return ground;
    }

    InProcessKafka inProcess() {
        return kafka;
    }

    List<TestApp<?>> apps() {
        return apps;
    }
}
