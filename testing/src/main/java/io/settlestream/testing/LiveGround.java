package io.settlestream.testing;

import io.settlestream.Health;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.spi.AppEnvironment;
import io.settlestream.spi.AppObserver;
import io.settlestream.spi.KafkaClients;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** A cluster and real time. What is in process at once has to be waited for here; what would need an accident is refused. */
final class LiveGround implements Ground {

    /** How often it looks whether something has become true. */
    static final Duration LOOK = Duration.ofMillis(10);

    /** How long a commit may take to be seen; it is made on the client's interval. */
    private static final Duration COMMIT_PATIENCE = Duration.ofSeconds(15);

    private final String bootstrapServers;
    private final Map<String, Object> connection;
    private final Admin admin;
    private final TestClock clock = new RealClock();

    /**
     * @param brokers the application's; what the first one says about its clients, such as how to authenticate, holds for
     *     those of the test, too
     */
    LiveGround(String bootstrapServers, List<KafkaBroker> brokers) {
        this.bootstrapServers = bootstrapServers;
        this.connection = new HashMap<>();
        brokers.stream().findFirst().ifPresent(broker -> {
            connection.putAll(broker.config());
            connection.putAll(broker.pluginConfig());
        });
        connection
                .keySet()
                .removeIf(property -> !AdminClientConfig.configNames().contains(property));
        connection.put(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers);
        this.admin = Admin.create(connection);
    }

    private static UnsupportedOperationException lacking(String what) {
        return new UnsupportedOperationException(
                what + " is possible on the in-process Kafka only: use TestApp.start, not startLive");
    }

    @Override
    public Launched process(String name) {
        return new Launched() {
            @Override
            public AppEnvironment environment(AppObserver observer) {
                AppEnvironment system = AppEnvironment.system();
                return new AppEnvironment(new OtherCluster(system.clients()), system.scheduler(), observer);
            }

            @Override
            public void crash() {
                throw lacking("crash()");
            }

            @Override
            public void abandonStart() {
                // A start that fails closes what it has opened, and one that hangs on a cluster ends by its own
                // timeouts.
            }
        };
    }

    /** Leads an application's clients to the cluster of the test. */
    private final class OtherCluster implements KafkaClients {

        private final KafkaClients clients;

        OtherCluster(KafkaClients clients) {
            this.clients = clients;
        }

        @Override
        public Consumer<byte[], byte[]> consumer(Map<String, Object> properties) {
            return clients.consumer(moved(properties));
        }

        @Override
        public Producer<byte[], byte[]> producer(Map<String, Object> properties) {
            return clients.producer(moved(properties));
        }

        private Map<String, Object> moved(Map<String, Object> properties) {
            Map<String, Object> moved = new HashMap<>(properties);
            moved.put(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers);
            return moved;
        }
    }

    @Override
    public void requireTest() {} // on a cluster nothing waits for the test's thread

    @Override
    public Runnable between() {
        return () -> {};
    }

    @Override
    public TestClock clock() {
        return clock;
    }

    @Override
    public <T> T call(String what, Callable<T> task) throws Exception {
        return task.call();
    }

    @Override
    public <T> T callAhead(Launched process, String what, Callable<T> task) throws Exception {
        return task.call();
    }

    @Override
    public void settle(List<TestApp<?>> apps, Duration limit) {
        long end = System.nanoTime() + limit.toNanos();
        List<String> open = open(apps);
        while (!open.isEmpty()) {
            if (System.nanoTime() - end > 0) {
                throw new NotAtRestError(
                        "The reaction did not come to rest within " + limit + ".",
                        open,
                        "A record that is retried for ever never comes to rest. A reaction that needs longer has"
                                + " settleLimit(...).");
            }
            advance(LOOK);
            open = open(apps);
        }
    }

    private List<String> open(List<TestApp<?>> apps) {
        List<String> open = new ArrayList<>();
        for (TestApp<?> app : apps) {
            Health health = app.healthNow();
            if (health == null || app.hasEnded()) {
                continue;
            }
            if (health.status() != Health.Status.RUNNING) {
                open.add("the application is " + health.status());
            }
            for (Health.Subscription subscription : health.subscriptions()) {
                open.addAll(open(subscription));
            }
            open.addAll(app.recorder().unanswered());
            if (open.isEmpty()) {
                app.reads().forEach(read -> open.addAll(uncommitted(read, pausedByUser(health))));
            }
        }
        return open;
    }

    /** What is committed up to the end has been handled under Tracked and handed over under Auto. */
    private List<String> uncommitted(Read read, Set<TopicPartition> paused) {
        List<String> open = new ArrayList<>();
        Optional<String> group = read.group();
        if (group.isPresent()) {
            Map<TopicPartition, OffsetAndMetadata> committed = committed(group.get());
            topics().stream()
                    .filter(read.source()::reads)
                    .forEach(topic -> ends(topic).forEach((partition, end) -> {
                        OffsetAndMetadata position = committed.get(partition);
                        if (end > 0
                                && read.reads(partition)
                                && !paused.contains(partition)
                                && (position == null || position.offset() < end)) {
                            open.add(partition + " is committed up to "
                                    + (position == null ? "nothing" : position.offset()) + " of " + end);
                        }
                    }));
        }
        return open;
    }

    private static Set<TopicPartition> pausedByUser(Health health) {
        return health.subscriptions().stream()
                .flatMap(subscription -> subscription.partitions().stream())
                .filter(Health.Partition::pausedByUser)
                .map(partition -> new TopicPartition(partition.topic(), partition.partition()))
                .collect(Collectors.toSet());
    }

    private List<String> open(Health.Subscription subscription) {
        List<String> open = new ArrayList<>();
        subscription.partitions().stream()
                .filter(partition -> (partition.openRecords() > 0 && !partition.pausedByUser()) || partition.paused())
                .forEach(partition -> open.add(partition.topic() + "-" + partition.partition() + " has "
                        + partition.openRecords() + " open records"
                        + (partition.paused() ? " and is paused" : "")));
        if (open.isEmpty()) {
            subscription.partitions().stream()
                    .filter(partition -> !partition.pausedByUser())
                    // One that goes on where its group was, and has read nothing since, is where that is committed.
                    .filter(partition -> partition.fetchedTo().isPresent()
                            || subscription.group().isEmpty())
                    .forEach(partition -> open.addAll(unread(partition)));
        }
        return open;
    }

    /** Without a group, and after a seek back from what is committed, nothing tells from outside how far it has read. */
    private List<String> unread(Health.Partition partition) {
        TopicPartition name = new TopicPartition(partition.topic(), partition.partition());
        long end = ends(partition.topic()).getOrDefault(name, 0L);
        return partition.fetchedTo().orElse(-1L) < end
                ? List.of(name + " is read up to "
                        + partition.fetchedTo().map(String::valueOf).orElse("nothing") + " of " + end)
                : List.of();
    }

    @Override
    public void proceed() {
        // It does by itself.
    }

    @Override
    public void advance(Duration time) {
        try {
            clock.sleep(time);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while it let time pass", e);
        }
    }

    @Override
    public List<String> topics() {
        return ask(() -> admin.listTopics().names().get()).stream().sorted().toList();
    }

    @Override
    public List<TestRecord> records(String topic) {
        Map<TopicPartition, Long> ends = ends(topic);
        List<TestRecord> records = new ArrayList<>();
        Map<String, Object> reading = new HashMap<>(connection);
        reading.keySet().removeIf(property -> !ConsumerConfig.configNames().contains(property));
        reading.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        try (Consumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(reading, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(ends.keySet());
            consumer.seekToBeginning(ends.keySet());
            while (ends.entrySet().stream().anyMatch(end -> consumer.position(end.getKey()) < end.getValue())) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(LOOK)) {
                    if (record.offset() < ends.getOrDefault(new TopicPartition(topic, record.partition()), 0L)) {
                        records.add(seen(record));
                    }
                }
            }
        }
        records.sort(Comparator.comparingInt(TestRecord::partition).thenComparingLong(TestRecord::offset));
        return records;
    }

    private static TestRecord seen(ConsumerRecord<byte[], byte[]> record) {
        return new TestRecord(
                record.topic(),
                record.partition(),
                record.offset(),
                Instant.ofEpochMilli(record.timestamp()),
                record.key(),
                record.value(),
                List.of(record.headers().toArray()));
    }

    @Override
    public Map<TopicPartition, Long> ends(String topic) {
        List<TopicPartition> partitions =
                ask(() -> admin.describeTopics(List.of(topic)).allTopicNames().get()).values().stream()
                        .flatMap(description -> description.partitions().stream())
                        .map(partition -> new TopicPartition(topic, partition.partition()))
                        .toList();
        Map<TopicPartition, OffsetSpec> wanted = new HashMap<>();
        partitions.forEach(partition -> wanted.put(partition, OffsetSpec.latest()));
        Map<TopicPartition, Long> ends = new TreeMap<>(Comparator.comparingInt(TopicPartition::partition));
        ask(() -> admin.listOffsets(
                                wanted,
                                new org.apache.kafka.clients.admin.ListOffsetsOptions(IsolationLevel.READ_COMMITTED))
                        .all()
                        .get())
                .forEach((partition, end) -> ends.put(partition, end.offset()));
        return ends;
    }

    @Override
    public Map<TopicPartition, OffsetAndMetadata> committed(String group) {
        return ask(() -> {
            try {
                return admin.listConsumerGroupOffsets(group)
                        .partitionsToOffsetAndMetadata()
                        .get();
            } catch (ExecutionException e) {
                if (e.getCause() instanceof GroupIdNotFoundException) {
                    return Map.<TopicPartition, OffsetAndMetadata>of();
                }
                throw e;
            }
        });
    }

    private static <T> T ask(Callable<T> question) {
        try {
            return question.call();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while asking the cluster", e);
        } catch (Exception e) {
            throw new IllegalStateException("the cluster did not answer", e);
        }
    }

    @Override
    public Duration assertionPatience() {
        return COMMIT_PATIENCE;
    }

    @Override
    public void close() {
        admin.close();
    }

    private static final class RealClock implements TestClock {

        @Override
        public Instant now() {
            return Instant.now();
        }

        @Override
        public void sleep(Duration time) throws InterruptedException {
            Thread.sleep(time);
        }
    }
}
