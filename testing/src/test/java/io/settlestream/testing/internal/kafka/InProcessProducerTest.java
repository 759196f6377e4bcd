package io.settlestream.testing.internal.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.settlestream.testing.internal.kafka.Faults.Request;
import io.settlestream.testing.internal.kafka.LogView.Stored;
import io.settlestream.testing.internal.sim.Simulation;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.clients.producer.RoundRobinPartitioner;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.utils.Utils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class InProcessProducerTest {

    private final Simulation host = Simulation.usual();
    private final InProcessKafka kafka = new InProcessKafka(host);
    private final List<Producer<byte[], byte[]>> producers = new ArrayList<>();

    @BeforeEach
    void createTopic() {
        kafka.createTopic("topic", 3, Map.of());
    }

    @AfterEach
    void close() {
        producers.forEach(producer -> producer.close(Duration.ZERO));
        host.close();
    }

    @Test
    @DisplayName("a report says where the record lies, on the producer's thread, before the future is done")
    void report() throws Exception {
        Producer<byte[], byte[]> producer = producer(Map.of());
        List<String> seen = Collections.synchronizedList(new ArrayList<>());
        AtomicReference<Future<RecordMetadata>> future = new AtomicReference<>();

        future.set(producer.send(new ProducerRecord<>("topic", 1, 42L, bytes("k"), bytes("value")), (where, error) -> {
            seen.add(Thread.currentThread().getName() + " " + where + " " + error);
        }));

        RecordMetadata where = future.get().get();
        assertThat(seen).containsExactly("kafka-producer-network-thread | producer-1 topic-1@0 null");
        assertThat(where.partition()).isEqualTo(1);
        assertThat(where.offset()).isZero();
        assertThat(where.timestamp()).isEqualTo(42);
        assertThat(where.serializedKeySize()).isEqualTo(1);
        assertThat(where.serializedValueSize()).isEqualTo(5);
        assertThat(values(1)).containsExactly("value");
    }

    @Test
    @DisplayName("records of one key go where the Java client sends them")
    void keyed() throws Exception {
        Producer<byte[], byte[]> producer = producer(Map.of());

        for (int i = 0; i < 20; i++) {
            byte[] key = bytes("key-" + i);
            assertThat(producer.send(new ProducerRecord<>("topic", key, null))
                            .get()
                            .partition())
                    .isEqualTo(Utils.toPositive(Utils.murmur2(key)) % 3);
        }
    }

    @Test
    @DisplayName("records without key stay on a partition until batch.size bytes went there")
    void keyless() throws Exception {
        Producer<byte[], byte[]> producer = producer(Map.of("batch.size", 1000));
        List<Integer> partitions = new ArrayList<>();

        for (int i = 0; i < 9; i++) {
            partitions.add(producer.send(new ProducerRecord<>("topic", new byte[400]))
                    .get()
                    .partition());
        }

        assertThat(partitions).containsExactly(0, 0, 0, 1, 1, 1, 2, 2, 2);
    }

    @Test
    @DisplayName("a topic that does not exist is waited for, and fails as a future with what metadata said")
    void unknownTopic() throws Exception {
        Producer<byte[], byte[]> producer = producer(Map.of("max.block.ms", 50));
        AtomicReference<Exception> reported = new AtomicReference<>();

        Future<RecordMetadata> future =
                producer.send(new ProducerRecord<>("nowhere", bytes("x")), (where, error) -> reported.set(error));

        assertThat(failure(future))
                .isInstanceOf(TimeoutException.class)
                .hasMessage("Topic nowhere not present in metadata after 50 ms.");
        assertThat(reported.get()).isSameAs(failure(future));
        assertThat(failure(producer.send(new ProducerRecord<>("topic", 3, null, bytes("x")))))
                .isInstanceOf(TimeoutException.class)
                .hasMessage(
                        "Partition 3 of topic topic with partition count 3 is not present in metadata after 50 ms.");
        assertThatThrownBy(() -> producer.partitionsFor("nowhere")).isInstanceOf(TimeoutException.class);
    }

    @Test
    @DisplayName("a topic that appears while a send waits for it is used")
    void lateTopic() throws Exception {
        Producer<byte[], byte[]> producer = producer(Map.of());
        var creation = host.schedule(Duration.ofMillis(20), () -> kafka.createTopic("late", 1, Map.of()));

        assertThat(producer.send(new ProducerRecord<>("late", bytes("x"))).get().offset())
                .isZero();
        creation.cancel();
    }

    @Test
    @DisplayName("an illegal topic name and a record that is too large for the client fail as futures")
    void refusedByClient() {
        Producer<byte[], byte[]> producer = producer(Map.of("max.request.size", 1000));

        assertThat(failure(producer.send(new ProducerRecord<>("a b", bytes("x")))))
                .isInstanceOf(InvalidTopicException.class);
        assertThat(failure(producer.send(new ProducerRecord<>("topic", new byte[1000]))))
                .isInstanceOf(RecordTooLargeException.class);
    }

    @Test
    @DisplayName("a record that is too large for its topic fails by its report, and others of its batch do not")
    void tooLargeForTopic() throws Exception {
        kafka.createTopic("small", 1, Map.of("max.message.bytes", "500"));
        Producer<byte[], byte[]> producer = producer(Map.of("linger.ms", 60_000, "delivery.timeout.ms", 120_000));

        Future<RecordMetadata> one = producer.send(new ProducerRecord<>("small", new byte[200]));
        Future<RecordMetadata> tooLarge = producer.send(new ProducerRecord<>("small", new byte[1000]));
        Future<RecordMetadata> two = producer.send(new ProducerRecord<>("small", new byte[300]));
        producer.flush();

        assertThat(one.get().offset()).isZero();
        assertThat(failure(tooLarge)).isInstanceOf(RecordTooLargeException.class);
        assertThat(two.get().offset()).isEqualTo(1);
    }

    @Test
    @DisplayName("a record without key spoils its batch on a compacted topic")
    void keylessToCompacted() {
        kafka.createTopic("compacted", 1, Map.of("cleanup.policy", "compact"));
        Producer<byte[], byte[]> producer = producer(Map.of("linger.ms", 60_000, "delivery.timeout.ms", 120_000));

        Future<RecordMetadata> good = producer.send(new ProducerRecord<>("compacted", bytes("k"), bytes("v")));
        Future<RecordMetadata> bad = producer.send(new ProducerRecord<>("compacted", bytes("v")));
        producer.flush();

        assertThat(failure(bad)).isInstanceOf(InvalidRecordException.class);
        assertThat(failure(good)).isExactlyInstanceOf(KafkaException.class);
    }

    @Test
    @DisplayName("a batch waits for linger.ms, and flush does not let it")
    void linger() throws Exception {
        Producer<byte[], byte[]> producer = producer(Map.of("linger.ms", 60_000, "delivery.timeout.ms", 120_000));

        Future<RecordMetadata> future = producer.send(new ProducerRecord<>("topic", bytes("x")));
        assertThat(catchThrowable(() -> future.get(20, TimeUnit.MILLISECONDS)))
                .isInstanceOf(java.util.concurrent.TimeoutException.class);
        producer.flush();

        assertThat(future.isDone()).isTrue();
    }

    @Test
    @DisplayName("an answer that is lost makes no duplicate of an idempotent producer's records, and one otherwise")
    void lostAnswer() throws Exception {
        kafka.faults().next(Request.PRODUCE, "topic", new Fault.LoseAnswer());
        RecordMetadata idempotent = producer(Map.of("retry.backoff.ms", 1))
                .send(new ProducerRecord<>("topic", 0, null, bytes("once")))
                .get();
        kafka.faults().next(Request.PRODUCE, "topic", new Fault.LoseAnswer());
        RecordMetadata plain = producer(Map.of("retry.backoff.ms", 1, "enable.idempotence", false))
                .send(new ProducerRecord<>("topic", 1, null, bytes("twice")))
                .get();

        assertThat(values(0)).containsExactly("once");
        assertThat(idempotent.offset()).isZero();
        assertThat(values(1)).containsExactly("twice", "twice");
        assertThat(plain.offset()).isEqualTo(1);
    }

    @Test
    @DisplayName("with no retries a lost answer is reported, and the next record is not taken for the lost one")
    void lostForGood() throws Exception {
        Producer<byte[], byte[]> producer = producer(Map.of("retries", 0));
        kafka.faults().next(Request.PRODUCE, "topic", new Fault.LoseAnswer());

        assertThat(failure(producer.send(new ProducerRecord<>("topic", 0, null, bytes("lost")))))
                .isInstanceOf(org.apache.kafka.common.errors.NetworkException.class);
        producer.send(new ProducerRecord<>("topic", 0, null, bytes("next"))).get();

        assertThat(values(0)).containsExactly("lost", "next");
    }

    @Test
    @DisplayName("what the broker refuses for good is reported and can be sent again")
    void refused() throws Exception {
        Producer<byte[], byte[]> producer = producer(Map.of());
        kafka.faults().on(Request.PRODUCE, "topic", 2, 1, new Fault.Fail(new TopicAuthorizationException("topic")));

        producer.send(new ProducerRecord<>("topic", 0, null, bytes("a"))).get();
        assertThat(failure(producer.send(new ProducerRecord<>("topic", 0, null, bytes("b")))))
                .isInstanceOf(TopicAuthorizationException.class);
        producer.send(new ProducerRecord<>("topic", 0, null, bytes("c"))).get();

        assertThat(values(0)).containsExactly("a", "c");
    }

    @Test
    @DisplayName(
            "a record after one that was appended, then refused for good as its answer was lost, is not taken for it")
    void appendedAndRefused() throws Exception {
        Producer<byte[], byte[]> producer = producer(Map.of("retry.backoff.ms", 1));
        kafka.faults().next(Request.PRODUCE, "topic", new Fault.LoseAnswer());
        kafka.faults().on(Request.PRODUCE, "topic", 2, 1, new Fault.Fail(new TopicAuthorizationException("topic")));

        assertThat(failure(producer.send(new ProducerRecord<>("topic", 0, null, bytes("refused")))))
                .isInstanceOf(TopicAuthorizationException.class);
        producer.send(new ProducerRecord<>("topic", 0, null, bytes("next"))).get();

        assertThat(values(0)).containsExactly("refused", "next");
    }

    @Test
    @DisplayName("a topic that is deleted under the producer fails its records after delivery.timeout.ms")
    void deletedTopic() throws Exception {
        Producer<byte[], byte[]> producer =
                producer(Map.of("delivery.timeout.ms", 60, "request.timeout.ms", 50, "linger.ms", 0));
        producer.send(new ProducerRecord<>("topic", bytes("x"))).get();
        kafka.deleteTopic("topic");

        assertThat(failure(producer.send(new ProducerRecord<>("topic", bytes("y")))))
                .isInstanceOf(TimeoutException.class)
                .hasMessageStartingWith("Expiring 1 record(s) for topic-0:");
    }

    @Test
    @DisplayName("a full buffer blocks the sender, then fails its future")
    void fullBuffer() throws Exception {
        Producer<byte[], byte[]> producer =
                producer(Map.of("buffer.memory", 2000, "batch.size", 1000, "max.block.ms", 50));
        kafka.faults().on(Request.PRODUCE, null, 1, 2, new Fault.Delay(Duration.ofMillis(200)));

        producer.send(new ProducerRecord<>("topic", 0, null, new byte[900]));
        Future<RecordMetadata> second = producer.send(new ProducerRecord<>("topic", 1, null, new byte[900]));

        assertThat(failure(producer.send(new ProducerRecord<>("topic", 2, null, new byte[900]))))
                .isInstanceOf(BufferExhaustedException.class);
        second.get();
        assertThat(producer.send(new ProducerRecord<>("topic", 2, null, new byte[900]))
                        .get()
                        .offset())
                .isZero();
    }

    @Test
    @DisplayName("acks=0 reports at once and without an offset")
    void noAcks() throws Exception {
        Producer<byte[], byte[]> producer = producer(Map.of("acks", "0"));

        RecordMetadata where =
                producer.send(new ProducerRecord<>("topic", bytes("x"))).get();

        assertThat(where.hasOffset()).isFalse();
    }

    @Test
    @DisplayName("LogAppendTime is in the report and in the log")
    void logAppendTime() throws Exception {
        kafka.createTopic("stamped", 1, Map.of("message.timestamp.type", "LogAppendTime"));

        RecordMetadata where = producer(Map.of())
                .send(new ProducerRecord<>("stamped", 0, 42L, null, bytes("x")))
                .get();

        Stored stored =
                kafka.records("stamped").get(new TopicPartition("stamped", 0)).getFirst();
        assertThat(where.timestamp()).isGreaterThan(42).isEqualTo(stored.timestamp());
    }

    @Test
    @DisplayName("close sends what is there; then every send throws")
    void closing() throws Exception {
        Producer<byte[], byte[]> producer = producer(Map.of("linger.ms", 60_000, "delivery.timeout.ms", 120_000));
        Future<RecordMetadata> future = producer.send(new ProducerRecord<>("topic", bytes("x")));

        producer.close();

        assertThat(future.get().offset()).isZero();
        assertThatThrownBy(() -> producer.send(new ProducerRecord<>("topic", bytes("x"))))
                .isInstanceOf(IllegalStateException.class);
        producer.close();
    }

    @Test
    @DisplayName("records that are not reported when the time to close is up fail")
    void closingInTime() {
        Producer<byte[], byte[]> producer = producer(Map.of());
        kafka.faults().next(Request.PRODUCE, null, new Fault.Delay(Duration.ofSeconds(20)));
        Future<RecordMetadata> future = producer.send(new ProducerRecord<>("topic", bytes("x")));

        producer.close(Duration.ofMillis(30));

        assertThat(failure(future))
                .isExactlyInstanceOf(KafkaException.class)
                .hasMessage("Producer is closed forcefully.");
    }

    @Test
    @DisplayName("a callback may send, and may close its producer")
    void callbacks() throws Exception {
        Producer<byte[], byte[]> producer = producer(Map.of());
        AtomicReference<Future<RecordMetadata>> second = new AtomicReference<>();

        producer.send(new ProducerRecord<>("topic", 0, null, bytes("a")), (where, error) -> {
                    second.set(producer.send(new ProducerRecord<>("topic", 0, null, bytes("b"))));
                    producer.close();
                })
                .get();

        assertThat(failure(second.get())).hasMessage("Producer is closed forcefully.");
    }

    @Test
    @DisplayName("an interrupt in front of a wait comes as Kafka's exception, and the record is not sent")
    void interrupted() {
        Producer<byte[], byte[]> producer = producer(Map.of());
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> producer.send(new ProducerRecord<>("nowhere", bytes("x"))))
                .isInstanceOf(InterruptException.class);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    @DisplayName("a partitioner and interceptors of the configuration are used")
    void plugIns() throws Exception {
        Producer<byte[], byte[]> producer = producer(
                Map.of("partitioner.class", RoundRobinPartitioner.class, "interceptor.classes", List.of(Stamp.class)));
        List<Integer> partitions = new ArrayList<>();

        for (int i = 0; i < 3; i++) {
            partitions.add(producer.send(new ProducerRecord<>("topic", bytes("same"), bytes("x")))
                    .get()
                    .partition());
        }

        assertThat(partitions).containsExactlyInAnyOrder(0, 1, 2);
        assertThat(kafka.records("topic").get(new TopicPartition("topic", 1)))
                .singleElement()
                .satisfies(stored ->
                        assertThat(stored.headers().lastHeader("stamp").value()).isEqualTo(bytes("here")));
    }

    /** An interceptor that adds a header. */
    public static final class Stamp implements ProducerInterceptor<byte[], byte[]> {
        @Override
        public ProducerRecord<byte[], byte[]> onSend(ProducerRecord<byte[], byte[]> record) {
            record.headers().add("stamp", bytes("here"));
            return record;
        }

        @Override
        public void close() {}

        @Override
        public void configure(Map<String, ?> configs) {}
    }

    @Test
    @DisplayName("Kafka's own checks of the configuration apply")
    void configuration() {
        assertThatThrownBy(() -> producer(Map.of("acks", "2"))).isInstanceOf(ConfigException.class);
        assertThatThrownBy(() -> producer(Map.of("acks", "1", "enable.idempotence", true)))
                .isInstanceOf(ConfigException.class);
        assertThatThrownBy(() -> producer(Map.of("delivery.timeout.ms", 10)))
                .isInstanceOf(KafkaException.class)
                .hasCauseInstanceOf(ConfigException.class);
    }

    @Test
    @DisplayName("transactional methods need a transactional id")
    void notTransactional() {
        Producer<byte[], byte[]> producer = producer(Map.of());

        assertThatThrownBy(producer::initTransactions).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(producer::beginTransaction).isInstanceOf(IllegalStateException.class);
    }

    private Producer<byte[], byte[]> producer(Map<String, Object> configs) {
        Map<String, Object> all = new HashMap<>(configs);
        all.putIfAbsent("client.id", "producer-1");
        Producer<byte[], byte[]> producer = kafka.producer(all);
        producers.add(producer);
        return producer;
    }

    private List<String> values(int partition) {
        return kafka.records("topic").get(new TopicPartition("topic", partition)).stream()
                .map(record -> new String(record.value(), StandardCharsets.UTF_8))
                .toList();
    }

    private static Throwable failure(Future<RecordMetadata> future) {
        Throwable thrown = catchThrowable(future::get);
        assertThat(thrown).isInstanceOf(ExecutionException.class);
        return thrown.getCause();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
