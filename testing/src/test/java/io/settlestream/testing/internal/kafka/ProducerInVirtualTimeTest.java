package io.settlestream.testing.internal.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.settlestream.testing.internal.kafka.Faults.Request;
import io.settlestream.testing.internal.sim.Simulation;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What takes minutes on a cluster takes none here. */
@Timeout(30)
class ProducerInVirtualTimeTest {

    private static final TopicPartition PARTITION = new TopicPartition("topic", 0);

    private Simulation simulation = Simulation.usual();
    private InProcessKafka kafka = withTopic();

    @AfterEach
    void close() {
        simulation.close();
    }

    @Test
    @DisplayName("a record waits for linger.ms and no longer")
    void linger() throws Exception {
        RecordMetadata where =
                send(producer("linger.ms", 5000, "batch.size", 1 << 20), "x").get();

        assertThat(where.offset()).isZero();
        assertThat(elapsed()).isEqualTo(Duration.ofSeconds(5));
    }

    @Test
    @DisplayName("an unknown topic is waited for as long as max.block.ms is by default")
    void unknownTopic() {
        assertThatThrownBy(() -> producer().partitionsFor("nowhere")).isInstanceOf(TimeoutException.class);
        assertThat(elapsed()).isEqualTo(Duration.ofMinutes(1));
    }

    @Test
    @DisplayName("answers that never come fail a record after delivery.timeout.ms, and the next is not a duplicate")
    void expired() throws Exception {
        Producer<byte[], byte[]> producer = producer("linger.ms", 0);
        kafka.faults().on(Request.PRODUCE, "topic", 1, Integer.MAX_VALUE, new Fault.Delay(Duration.ofHours(1)));

        assertThat(catchThrowable(send(producer, "slow")::get)).hasCauseInstanceOf(TimeoutException.class);
        assertThat(elapsed()).isEqualTo(Duration.ofMinutes(2));
        kafka.faults().clear();
        send(producer, "next").get();

        // The broker has the first one, once: each repetition was known as one.
        assertThat(values()).containsExactly("slow", "next");
    }

    @Test
    @DisplayName("a record that lies in the log, but whose repetition is refused for good, does not hide the next one")
    void refusedAfterItWasAppended() {
        Producer<byte[], byte[]> producer = producer("linger.ms", 0);
        kafka.faults().on(Request.PRODUCE, "topic", 1, 1, new Fault.LoseAnswer());
        kafka.faults().on(Request.PRODUCE, "topic", 1, 1, new Fault.Fail(new TopicAuthorizationException("topic")));

        assertThat(catchThrowable(send(producer, "refused")::get))
                .hasCauseInstanceOf(TopicAuthorizationException.class);
        assertThatNoException().isThrownBy(send(producer, "next")::get);

        assertThat(values()).containsExactly("refused", "next");
    }

    @Test
    @DisplayName("a transaction that takes too long is aborted at its time, with the offsets in it")
    void timedOut() throws Exception {
        Producer<byte[], byte[]> producer = producer("transactional.id", "id");
        producer.initTransactions();
        producer.beginTransaction();
        send(producer, "late").get();
        producer.sendOffsetsToTransaction(Map.of(PARTITION, new OffsetAndMetadata(1)), nobody("group"));
        Duration begun = elapsed();

        assertThat(simulation.await(() -> kafka.endOffset(PARTITION) == 2, Long.MAX_VALUE))
                .isTrue();

        assertThat(elapsed()).isBetween(Duration.ofSeconds(59), begun.plusMinutes(1));
        assertThat(values()).isEmpty();
        assertThat(kafka.committed("group")).isEmpty();
    }

    @Test
    @DisplayName("offsets are committed with their transaction")
    void offsets() {
        Producer<byte[], byte[]> producer = producer("transactional.id", "id");
        producer.initTransactions();
        producer.beginTransaction();
        producer.sendOffsetsToTransaction(Map.of(PARTITION, new OffsetAndMetadata(7, "meta")), nobody("group"));
        assertThat(kafka.committed("group")).isEmpty();

        producer.commitTransaction();

        assertThat(kafka.committed("group")).containsExactly(Map.entry(PARTITION, new OffsetAndMetadata(7, "meta")));
    }

    @Test
    @DisplayName("offsets of a member that the group does not know make the transaction abortable")
    void strangersOffsets() {
        Producer<byte[], byte[]> producer = producer("transactional.id", "id");
        producer.initTransactions();
        producer.beginTransaction();

        assertThatThrownBy(() -> producer.sendOffsetsToTransaction(
                        Map.of(PARTITION, new OffsetAndMetadata(7)), member("group", 5, "stranger")))
                .isInstanceOf(CommitFailedException.class);
        assertThatThrownBy(producer::commitTransaction).hasCauseInstanceOf(CommitFailedException.class);
        producer.abortTransaction();
        producer.beginTransaction();
        producer.sendOffsetsToTransaction(Map.of(PARTITION, new OffsetAndMetadata(7)), nobody("group"));
        producer.commitTransaction();

        assertThat(kafka.committed("group")).containsKey(PARTITION);
    }

    @Test
    @DisplayName(
            "offsets of a topic that does not exist are tried until max.block.ms, and the transaction can be aborted")
    void offsetsOfNoTopic() {
        Producer<byte[], byte[]> producer = producer("transactional.id", "id");
        producer.initTransactions();
        producer.beginTransaction();

        assertThatThrownBy(() -> producer.sendOffsetsToTransaction(
                        Map.of(new TopicPartition("nowhere", 0), new OffsetAndMetadata(7)), nobody("group")))
                .isInstanceOf(TimeoutException.class);
        assertThat(elapsed()).isEqualTo(Duration.ofMinutes(1));
    }

    @Test
    @DisplayName(
            "a crash sends nothing more, calls nobody, and leaves its transaction open for the next holder to abort")
    void crash() throws Exception {
        List<String> called = new ArrayList<>();
        Producer<byte[], byte[]> producer = producer("transactional.id", "id", "linger.ms", 1000);
        producer.initTransactions();
        producer.beginTransaction();
        send(producer, "sent").get();
        producer.send(new ProducerRecord<>("topic", 0, null, bytes("unsent")), (where, error) -> called.add("back"));

        kafka.crash(producer);
        simulation.sleep(Duration.ofSeconds(10));

        assertThat(called).isEmpty();
        assertThat(kafka.records("topic", true).get(PARTITION)).hasSize(1);
        assertThat(kafka.endOffset(PARTITION)).isEqualTo(1);
        Producer<byte[], byte[]> next = producer("transactional.id", "id");
        next.initTransactions();
        assertThat(kafka.endOffset(PARTITION)).isEqualTo(2);
    }

    @Test
    @DisplayName("whatever chance decides, an idempotent producer's records lie in the log once and in order")
    void chance() throws Exception {
        for (long seed = 0; seed < 20; seed++) {
            simulation.close();
            simulation = Simulation.seeded(seed);
            kafka = withTopic();
            Producer<byte[], byte[]> producer = producer("batch.size", 200, "linger.ms", 3);
            kafka.faults().on(Request.PRODUCE, "topic", 2, 2, new Fault.LoseAnswer());
            kafka.faults().on(Request.PRODUCE, "topic", 3, 1, new Fault.Delay(Duration.ofMinutes(1)));
            List<String> expected = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                expected.add("value-" + i);
                send(producer, "value-" + i);
            }
            producer.flush();

            assertThat(values()).as("seed " + seed).isEqualTo(expected);
        }
    }

    private InProcessKafka withTopic() {
        InProcessKafka made = new InProcessKafka(simulation);
        made.createTopic("topic", 1, Map.of());
        return made;
    }

    private Producer<byte[], byte[]> producer(Object... configs) {
        Map<String, Object> all = new HashMap<>();
        for (int i = 0; i < configs.length; i += 2) {
            all.put((String) configs[i], configs[i + 1]);
        }
        return kafka.producer(all);
    }

    private static Future<RecordMetadata> send(Producer<byte[], byte[]> producer, String value) {
        return producer.send(new ProducerRecord<>("topic", 0, null, bytes(value)));
    }

    private List<String> values() {
        return kafka.records("topic").get(PARTITION).stream()
                .map(record -> new String(record.value(), StandardCharsets.UTF_8))
                .toList();
    }

    private Duration elapsed() {
        return Duration.between(Simulation.BEGIN, simulation.now());
    }

    private static ConsumerGroupMetadata nobody(String group) {
        return member(group, -1, "");
    }

    @SuppressWarnings({"deprecation", "removal"}) // no other way for one who is no consumer
    private static ConsumerGroupMetadata member(String group, int generation, String member) {
        return new ConsumerGroupMetadata(group, generation, member, Optional.empty());
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
