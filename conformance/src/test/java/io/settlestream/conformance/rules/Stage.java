package io.settlestream.conformance.rules;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;

import io.settlestream.App;
import io.settlestream.BatchHandler;
import io.settlestream.Handler;
import io.settlestream.Health;
import io.settlestream.Message;
import io.settlestream.Mount;
import io.settlestream.NoState;
import io.settlestream.Scope;
import io.settlestream.SettleStream;
import io.settlestream.Subscriber;
import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaSource;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.kafka.StartOffset;
import io.settlestream.spi.KafkaClients;
import io.settlestream.testing.TestApp;
import io.settlestream.testing.TestKafka;
import io.settlestream.testing.TestRecord;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * Where one scenario is played once: a Kafka, the applications that run on it, and the trace. Topics and the group are named
 * as if nobody else used them.
 */
final class Stage implements AutoCloseable {

    /** Between two commits, so that a scenario on a broker need not wait long for one. */
    static final int COMMIT_INTERVAL_MS = 100;

    private static final Duration LOOK = Duration.ofMillis(10);

    private final Kafka kafka;
    private final Protocol protocol;
    private final List<TestApp<?>> running = new CopyOnWriteArrayList<>();
    private final List<Gate> gates = new CopyOnWriteArrayList<>();
    private final List<String> trace = new CopyOnWriteArrayList<>();
    private @Nullable TestApp<NoState> writer;

    Stage(Ground ground) {
        kafka = ground.open();
        protocol = ground.protocol();
    }

    // --- the trace

    /** Notes what is seen. */
    void note(String what, Object seen) {
        trace.add(what + ": " + seen);
    }

    List<String> trace() {
        return trace;
    }

    // --- Kafka

    String name(String name) {
        return kafka.name(name);
    }

    String group() {
        return name("group");
    }

    void topic(String topic, int partitions) {
        topic(topic, partitions, Map.of());
    }

    void topic(String topic, int partitions, Map<String, String> config) {
        kafka.createTopic(name(topic), partitions, config);
    }

    void addPartitions(String topic, int total) {
        kafka.addPartitions(name(topic), total);
        TestApp<NoState> old = writer;
        if (old != null) {
            old.close(); // it would hear of them late
            writer = null;
        }
    }

    void trim(String topic, int partition, long offset) {
        kafka.trim(name(topic), partition, offset);
    }

    void refusingTopic(String topic) {
        kafka.createRefusingTopic(name(topic));
    }

    void acceptWrites(String topic) {
        kafka.acceptWrites(name(topic));
    }

    void missingTopic(String topic) {
        kafka.missingTopic(name(topic));
    }

    void appears(String topic) {
        kafka.appears(name(topic));
    }

    void compact(String topic) {
        kafka.compact(name(topic));
    }

    /** Writes values to a partition; nobody reacts before all are there. */
    void write(String topic, int partition, String... values) {
        for (String value : values) {
            write(topic, Message.of(value).partition(partition));
        }
    }

    /** Writes values with a key to partition 0. */
    void writeKeyed(String topic, String key, String... values) {
        for (String value : values) {
            write(topic, Message.of(value).partition(0).key(key));
        }
    }

    void write(String topic, Message<?> message) {
        writer().send(name(topic), message);
    }

    private TestApp<NoState> writer() {
        TestApp<NoState> by = writer;
        if (by == null) {
            by = kafka.start(SettleStream.app("writer", "1").withBroker(broker(), scope -> {}));
            writer = by;
        }
        return by;
    }

    /** Writes bytes, or none, to partition 0. */
    void write(String topic, byte @Nullable [] key, byte @Nullable [] value, Headers headers) throws Exception {
        try (Producer<byte[], byte[]> producer = kafka.clients().producer(Map.of())) {
            producer.send(new ProducerRecord<>(name(topic), 0, null, key, value, headers))
                    .get();
        }
    }

    KafkaClients clients() {
        return kafka.clients();
    }

    /** The in-process Kafka, for a scenario that is played on no other. */
    TestKafka inProcess() {
        return ((InProcessKafka) kafka).kafka();
    }

    // --- applications

    KafkaBroker broker() {
        return brokerWithoutGroup().defaultGroup(group());
    }

    KafkaBroker brokerWithoutGroup() {
        return KafkaBroker.of(kafka.bootstrapServers());
    }

    /** A topic read from its beginning under Commit.auto(). */
    KafkaTopic auto(String topic) {
        return auto(KafkaTopic.of(name(topic)));
    }

    /** What was named by {@link #name}, read like {@link #auto(String) a topic}. */
    <S extends KafkaSource<S>> S auto(S source) {
        return protocol.apply(source)
                .commit(Commit.auto())
                .startOffset(StartOffset.EARLIEST)
                .config("metadata.max.age.ms", 200)
                .config("auto.commit.interval.ms", COMMIT_INTERVAL_MS);
    }

    /** A topic read from its beginning under Commit.tracked(). */
    KafkaTopic tracked(String topic) {
        return auto(topic).commit(Commit.tracked());
    }

    /** What was named by {@link #name}, read like {@link #tracked(String) a topic}. */
    <S extends KafkaSource<S>> S tracked(S source) {
        return auto(source).commit(Commit.tracked());
    }

    Subscriber<String, Object> handled(KafkaSource<?> source, Handler<String, Object> handler) {
        return Subscriber.on(source, String.class).handle(handler);
    }

    Subscriber<String, Object> handledInBatches(KafkaSource<?> source, int size, BatchHandler<String, Object> handler) {
        return Subscriber.on(source, String.class).<Object>handleBatch(handler).batch(size);
    }

    App<NoState> app(Consumer<Scope<NoState>> scope) {
        return app(broker(), scope);
    }

    App<NoState> app(KafkaBroker broker, Consumer<Scope<NoState>> scope) {
        return SettleStream.app("service", "1")
                .shutdownTimeout(Duration.ofSeconds(2))
                .withBroker(broker, scope);
    }

    /** Starts an application with one subscription, named "in". */
    TestApp<NoState> start(Subscriber<?, Object> subscriber) {
        return start(subscriber, mount -> {});
    }

    TestApp<NoState> start(Subscriber<?, Object> subscriber, Consumer<Mount> options) {
        return start(app(scope -> options.accept(scope.include(subscriber).name("in"))));
    }

    TestApp<NoState> start(App<NoState> app) {
        TestApp<NoState> started = kafka.start(app);
        running.add(0, started);
        return started;
    }

    void stop(TestApp<?> app) {
        app.close();
        running.remove(app);
    }

    Gate gate() {
        Gate gate = new Gate(kafka.clock());
        gates.add(gate);
        return gate;
    }

    /** Keeps a handler busy for a while. */
    void busy(Duration time) throws InterruptedException {
        kafka.clock().sleep(time);
    }

    Instant now() {
        return kafka.clock().now();
    }

    // --- waiting

    void pass(Duration time) {
        kafka.pass(time);
    }

    void settle() {
        running.forEach(TestApp::settle);
    }

    /** Waits until something holds; the scenario fails if it never does. */
    void eventually(String what, BooleanSupplier condition) {
        Instant end = kafka.clock().now().plus(kafka.patience());
        while (!condition.getAsBoolean()) {
            if (kafka.clock().now().isAfter(end)) {
                throw new AssertionError("never happened: " + what + "; seen until then: " + trace);
            }
            kafka.pass(LOOK);
        }
    }

    void eventuallyCommitted(String topic, String committed) {
        try {
            eventually("committed " + committed, () -> committed(topic).equals(committed));
        } catch (AssertionError e) {
            throw new AssertionError("committed is " + committed(topic) + " instead of " + committed, e);
        }
    }

    // --- looking

    /** What a group has committed of a topic: {@code 0@3 1@7} for offsets 3 and 7 of partitions 0 and 1. */
    String committed(String topic) {
        return committed(group(), topic);
    }

    String committed(String group, String topic) {
        Map<Integer, Long> offsets = new TreeMap<>();
        for (Map.Entry<TopicPartition, Long> each : kafka.committed(group).entrySet()) {
            if (each.getKey().topic().equals(name(topic))) {
                offsets.put(each.getKey().partition(), each.getValue());
            }
        }
        return offsets.entrySet().stream()
                .map(entry -> entry.getKey() + "@" + entry.getValue())
                .collect(joining(" "));
    }

    List<TestRecord> published(String topic) {
        return writer().topic(name(topic)).records();
    }

    /** The values in a topic, partition by partition. */
    List<String> publishedValues(String topic) {
        return published(topic).stream()
                .map(record -> record.value() == null ? "null" : new String(record.value(), UTF_8))
                .toList();
    }

    static Health.Subscription health(TestApp<?> app) {
        return app.health().subscriptions().get(0);
    }

    static Health.Counts counts(TestApp<?> app) {
        return health(app).counts();
    }

    static long open(TestApp<?> app) {
        return health(app).partitions().stream()
                .mapToLong(Health.Partition::openRecords)
                .sum();
    }

    @Override
    public void close() {
        gates.forEach(Gate::open);
        List<TestApp<?>> closing = new ArrayList<>(running);
        if (writer != null) {
            closing.add(writer);
        }
        try {
            closing.forEach(TestApp::close);
        } finally {
            kafka.close();
        }
    }
}
