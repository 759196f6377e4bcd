package io.settlestream.conformance.clients;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/**
 * Where a script plays: a Kafka, names nobody else uses on it, and the trace of what was seen. The trace has names
 * without the part that makes them unique.
 */
@SuppressWarnings("try") // what a script opened may say anything at close
final class Stage implements AutoCloseable {

    /** How long what must happen may take before it is said that it did not. */
    static final Duration PATIENCE = Duration.ofSeconds(20);

    @FunctionalInterface
    interface Action {
        void run() throws Exception;
    }

    private final KafkaUnderTest kafka;
    private final String prefix;
    private final Map<String, Object> consumers;
    private final Trace trace = new Trace();
    private final ConcurrentLinkedDeque<AutoCloseable> open = new ConcurrentLinkedDeque<>();
    private Producer<byte[], byte[]> writer;

    /**
     * @param prefix what makes names unique
     * @param consumers settings of all consumers that do not set them themselves
     */
    Stage(KafkaUnderTest kafka, String prefix, Map<String, Object> consumers) {
        this.kafka = kafka;
        this.prefix = prefix;
        this.consumers = consumers;
    }

    KafkaUnderTest kafka() {
        return kafka;
    }

    List<String> trace() {
        return trace.lines();
    }

    /** A name of this stage, for a group, a transaction or a topic that may not exist. */
    String name(String plain) {
        return prefix + plain;
    }

    String topic(String plain, int partitions) {
        return topic(plain, partitions, Map.of());
    }

    String topic(String plain, int partitions, Map<String, String> config) {
        kafka.createTopic(name(plain), partitions, config);
        return name(plain);
    }

    /** A consumer that ends with the stage: no automatic commits, from the earliest offset, quick to rebalance. */
    Consumer<byte[], byte[]> consumer(Object... config) {
        Map<String, Object> all = new HashMap<>(Map.of("enable.auto.commit", false, "auto.offset.reset", "earliest"));
        all.putAll(consumers);
        all.putAll(map(config));
        Consumer<byte[], byte[]> consumer = kafka.consumer(without(all));
        open.addFirst(() -> consumer.close(CloseOptions.timeout(Duration.ofSeconds(2))));
        return consumer;
    }

    /** A producer that ends with the stage. */
    Producer<byte[], byte[]> producer(Object... config) {
        Producer<byte[], byte[]> producer = kafka.producer(without(map(config)));
        open.addFirst(() -> producer.close(Duration.ZERO));
        return producer;
    }

    void closing(AutoCloseable resource) {
        open.addFirst(resource);
    }

    /** Pairs of names and values. */
    static Map<String, Object> map(Object... pairs) {
        Map<String, Object> all = new HashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            all.put((String) pairs[i], pairs[i + 1]);
        }
        return all;
    }

    static Object[] pairs(Map<String, Object> map) {
        List<Object> pairs = new ArrayList<>();
        map.forEach((name, value) -> {
            pairs.add(name);
            pairs.add(value);
        });
        return pairs.toArray();
    }

    /** An empty text stands for a setting that is not made. */
    private static Map<String, Object> without(Map<String, Object> config) {
        config.values().removeIf(""::equals);
        return config;
    }

    void note(String what, Object value) {
        note(what + ": " + Words.of(value));
    }

    void note(String what) {
        trace.add(what.replace(prefix, "").stripTrailing());
    }

    /** Writes down what a call returns or throws. */
    void call(String what, Callable<?> call) {
        Object result;
        try {
            result = call.call();
        } catch (Exception e) {
            note(what + " throws", e);
            return;
        }
        note(what, result);
    }

    /** Writes down that a call returns or what it throws. */
    void run(String what, Action action) {
        call(what, () -> {
            action.run();
            return "done";
        });
    }

    /** Writes values to a partition and waits until they are there. */
    void write(String topic, int partition, String... values) {
        if (writer == null) {
            writer = producer();
        }
        List<Future<RecordMetadata>> sent = Arrays.stream(values)
                .map(value -> writer.send(new ProducerRecord<>(topic, partition, null, bytes(value))))
                .toList();
        sent.forEach(Stage::get);
    }

    /** Polls until so many records have come, and returns them in the order of their coming. */
    List<ConsumerRecord<byte[], byte[]>> read(Consumer<byte[], byte[]> consumer, int count) {
        List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
        eventually(count + " records come", () -> {
            consumer.poll(Duration.ofMillis(50)).forEach(records::add);
            return records.size() >= count;
        });
        return records;
    }

    /** The values that are read next. */
    List<String> values(Consumer<byte[], byte[]> consumer, int count) {
        return read(consumer, count).stream()
                .map(record -> record.value() == null ? null : new String(record.value(), UTF_8))
                .toList();
    }

    /** Polls until something is so; records are of no interest. */
    void pollUntil(String what, Consumer<byte[], byte[]> consumer, BooleanSupplier condition) {
        eventually(what, () -> {
            consumer.poll(Duration.ofMillis(20));
            return condition.getAsBoolean();
        });
    }

    static void eventually(String what, BooleanSupplier condition) {
        try {
            Awaitility.await(what)
                    .atMost(PATIENCE)
                    .pollInSameThread()
                    .pollInterval(Duration.ofMillis(5))
                    .until(condition::getAsBoolean);
        } catch (ConditionTimeoutException e) {
            throw new AssertionError("never happened: " + what, e);
        }
    }

    static byte[] bytes(String text) {
        return text == null ? null : text.getBytes(UTF_8);
    }

    static TopicPartition partition(String topic, int partition) {
        return new TopicPartition(topic, partition);
    }

    static List<TopicPartition> partitions(String topic, int count) {
        List<TopicPartition> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            all.add(partition(topic, i));
        }
        return all;
    }

    static <T> T get(Future<T> future) {
        try {
            return future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() throws Exception {
        for (AutoCloseable client : open) {
            client.close();
        }
    }
}
