package io.settlestream.testing.internal.kafka;

import static org.assertj.core.api.Assertions.assertThat;
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
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.CoordinatorNotAvailableException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.InvalidTxnStateException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TransactionAbortedException;
import org.apache.kafka.common.errors.TransactionalIdAuthorizationException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a transactional producer sees. Each case with an error was compared with a broker of version 4.4. */
@Timeout(30)
class TransactionsTest {

    private static final TopicPartition PARTITION = new TopicPartition("topic", 0);

    private final Simulation host = Simulation.usual();
    private final InProcessKafka kafka = new InProcessKafka(host);
    private final List<Producer<byte[], byte[]>> producers = new ArrayList<>();

    @BeforeEach
    void createTopic() {
        kafka.createTopic("topic", 2, Map.of());
    }

    @AfterEach
    void close() {
        producers.forEach(producer -> producer.close(Duration.ZERO));
        host.close();
    }

    @Test
    @DisplayName("records of a transaction are committed together, and a marker takes an offset")
    void commit() throws Exception {
        Producer<byte[], byte[]> producer = initialised("id");

        producer.beginTransaction();
        RecordMetadata first = send(producer, 0, "a").get();
        send(producer, 1, "b");
        assertThat(committed()).isEmpty();
        producer.commitTransaction();
        producer.beginTransaction();
        RecordMetadata next = send(producer, 0, "c").get();
        producer.commitTransaction();

        assertThat(committed()).containsExactly("a", "c", "b");
        assertThat(first.offset()).isZero();
        assertThat(next.offset()).isEqualTo(2);
        assertThat(kafka.endOffset(PARTITION)).isEqualTo(4);
    }

    @Test
    @DisplayName("an abort leaves nothing to see, and fails what has not been sent")
    void abort() throws Exception {
        Producer<byte[], byte[]> producer = initialised("id", "linger.ms", 60_000, "delivery.timeout.ms", 120_000);
        producer.beginTransaction();
        send(producer, 0, "sent");
        producer.flush();
        Future<RecordMetadata> unsent = send(producer, 0, "unsent");

        producer.abortTransaction();

        assertThat(failure(unsent)).isInstanceOf(TransactionAbortedException.class);
        assertThat(committed()).isEmpty();
        assertThat(kafka.records("topic", true).get(PARTITION)).hasSize(1);
        assertThat(kafka.endOffset(PARTITION)).isEqualTo(2);
    }

    @Test
    @DisplayName("an empty transaction leaves no marker")
    void empty() {
        Producer<byte[], byte[]> producer = initialised("id");

        producer.beginTransaction();
        producer.commitTransaction();
        producer.beginTransaction();
        producer.abortTransaction();

        assertThat(kafka.endOffset(PARTITION)).isZero();
    }

    @Test
    @DisplayName("calls in the wrong state throw and change nothing")
    void wrongState() throws Exception {
        Producer<byte[], byte[]> producer = producer("id");

        assertIllegalState(producer::beginTransaction);
        assertIllegalState(producer::commitTransaction);
        assertIllegalState(producer::abortTransaction);
        assertIllegalState(() -> send(producer, 0, "x"));
        producer.initTransactions();
        assertIllegalState(producer::initTransactions);
        assertIllegalState(producer::commitTransaction);
        assertIllegalState(() -> send(producer, 0, "x"));
        assertIllegalState(() -> producer.send(new ProducerRecord<>("topic", new byte[2_000_000])));
        producer.beginTransaction();
        assertIllegalState(producer::beginTransaction);
        send(producer, 0, "a").get();
        producer.commitTransaction();

        assertThat(committed()).containsExactly("a");
    }

    @Test
    @DisplayName("who initialises aborts the transaction of the holder before, whose commit is fenced for good")
    void fencedAtCommit() throws Exception {
        Producer<byte[], byte[]> first = initialised("id");
        first.beginTransaction();
        send(first, 0, "lost").get();

        Producer<byte[], byte[]> second = initialised("id");

        assertThat(kafka.endOffset(PARTITION)).isEqualTo(2);
        assertThatThrownBy(first::commitTransaction).isInstanceOf(ProducerFencedException.class);
        assertThatThrownBy(first::abortTransaction).isInstanceOf(ProducerFencedException.class);
        assertThatThrownBy(first::beginTransaction).isInstanceOf(ProducerFencedException.class);
        assertThat(failure(send(first, 0, "x"))).isInstanceOf(ProducerFencedException.class);
        second.beginTransaction();
        send(second, 0, "kept").get();
        second.commitTransaction();
        assertThat(committed()).containsExactly("kept");
    }

    @Test
    @DisplayName("a fenced producer that sends has an old epoch, and learns at its abort that it is fenced")
    void fencedAtSend() {
        Producer<byte[], byte[]> first = initialised("id");
        initialised("id");
        first.beginTransaction();

        assertThat(failure(send(first, 0, "x"))).isInstanceOf(InvalidProducerEpochException.class);
        assertThat(failure(send(first, 0, "y"))).isInstanceOf(InvalidProducerEpochException.class);
        assertThatThrownBy(first::commitTransaction).isInstanceOf(InvalidProducerEpochException.class);
        assertThatThrownBy(first::abortTransaction).isInstanceOf(ProducerFencedException.class);
        assertThatThrownBy(first::beginTransaction).isInstanceOf(ProducerFencedException.class);
    }

    @Test
    @DisplayName("the commit of a transaction that timed out is an invalid transition, and fatal")
    void timedOutAtCommit() throws Exception {
        Producer<byte[], byte[]> producer = timedOut();

        assertThatThrownBy(producer::commitTransaction).isInstanceOf(InvalidTxnStateException.class);
        assertThatThrownBy(producer::abortTransaction)
                .isExactlyInstanceOf(KafkaException.class)
                .hasCauseInstanceOf(InvalidTxnStateException.class);
        assertThat(committed()).isEmpty();
    }

    @Test
    @DisplayName("the abort of a transaction that timed out succeeds, and the producer goes on")
    void timedOutAtAbort() throws Exception {
        Producer<byte[], byte[]> producer = timedOut();

        producer.abortTransaction();
        producer.beginTransaction();
        send(producer, 0, "next").get();
        producer.commitTransaction();

        assertThat(committed()).containsExactly("next");
    }

    @Test
    @DisplayName("a record after the time-out has an old epoch; after the abort the producer goes on")
    void timedOutAtSend() throws Exception {
        Producer<byte[], byte[]> producer = timedOut();

        assertThat(failure(send(producer, 0, "late"))).isInstanceOf(InvalidProducerEpochException.class);
        assertThatThrownBy(producer::commitTransaction).isInstanceOf(InvalidProducerEpochException.class);
        producer.abortTransaction();
        producer.beginTransaction();
        send(producer, 0, "next").get();
        producer.commitTransaction();

        assertThat(committed()).containsExactly("next");
    }

    @Test
    @DisplayName("after a record has failed only an abort is possible, and then all is well")
    void abortable() throws Exception {
        Producer<byte[], byte[]> producer = initialised("id");
        producer.beginTransaction();
        send(producer, 0, "lost").get();
        assertThat(failure(producer.send(new ProducerRecord<>("topic", new byte[2_000_000]))))
                .isInstanceOf(RecordTooLargeException.class);

        for (Runnable call : List.<Runnable>of(
                producer::beginTransaction, producer::commitTransaction, () -> send(producer, 0, "x"))) {
            assertThatThrownBy(call::run)
                    .isExactlyInstanceOf(KafkaException.class)
                    .hasCauseInstanceOf(RecordTooLargeException.class);
        }
        producer.abortTransaction();
        producer.beginTransaction();
        send(producer, 0, "kept").get();
        producer.commitTransaction();

        assertThat(committed()).containsExactly("kept");
    }

    @Test
    @DisplayName("a commit whose record fails meanwhile throws what the record failed of")
    void failsInCommit() {
        kafka.createTopic("small", 1, Map.of("max.message.bytes", "500"));
        Producer<byte[], byte[]> producer = initialised("id", "linger.ms", 60_000, "delivery.timeout.ms", 120_000);
        producer.beginTransaction();
        producer.send(new ProducerRecord<>("small", new byte[1000]));

        assertThatThrownBy(producer::commitTransaction).isInstanceOf(RecordTooLargeException.class);
        producer.abortTransaction();
        producer.beginTransaction();
    }

    @Test
    @DisplayName("a commit whose answer is lost is repeated and counts once")
    void lostAnswer() throws Exception {
        Producer<byte[], byte[]> producer = initialised("id", "retry.backoff.ms", 1);
        kafka.faults().next(Request.END_TRANSACTION, "id", new Fault.LoseAnswer());
        producer.beginTransaction();
        send(producer, 0, "a").get();

        producer.commitTransaction();

        assertThat(committed()).containsExactly("a");
        assertThat(kafka.endOffset(PARTITION)).isEqualTo(2);
        producer.beginTransaction();
        send(producer, 0, "b").get();
        producer.commitTransaction();
        assertThat(committed()).containsExactly("a", "b");
    }

    @Test
    @DisplayName("a commit that takes too long goes on, and only a commit may be called until its end is known")
    void slowCommit() throws Exception {
        Producer<byte[], byte[]> producer = initialised("id", "max.block.ms", 100);
        kafka.faults().next(Request.END_TRANSACTION, "id", new Fault.Delay(Duration.ofMillis(400)));
        producer.beginTransaction();
        send(producer, 0, "a").get();

        assertThatThrownBy(producer::commitTransaction).isInstanceOf(TimeoutException.class);
        assertIllegalState(producer::abortTransaction);
        assertIllegalState(producer::beginTransaction);
        Throwable again;
        do {
            again = catchThrowable(producer::commitTransaction);
        } while (again instanceof TimeoutException);

        assertThat(again).isNull();
        assertThat(committed()).containsExactly("a");
        producer.beginTransaction();
    }

    @Test
    @DisplayName("an error that can be repeated is, and one that cannot is fatal")
    void coordinatorErrors() {
        Producer<byte[], byte[]> producer = initialised("id", "retry.backoff.ms", 1);
        producer.beginTransaction();
        send(producer, 0, "a");
        kafka.faults()
                .on(Request.END_TRANSACTION, "id", 1, 3, new Fault.Fail(new CoordinatorNotAvailableException("moved")));
        producer.commitTransaction();
        producer.beginTransaction();
        send(producer, 0, "b");
        kafka.faults()
                .next(Request.END_TRANSACTION, null, new Fault.Fail(new TransactionalIdAuthorizationException("no")));

        assertThatThrownBy(producer::commitTransaction).isInstanceOf(TransactionalIdAuthorizationException.class);
        assertThatThrownBy(producer::beginTransaction).hasCauseInstanceOf(TransactionalIdAuthorizationException.class);
        assertThat(committed()).containsExactly("a");
    }

    @Test
    @DisplayName("a transaction time-out that the broker does not allow is fatal")
    void tooPatient() {
        Producer<byte[], byte[]> producer = producer("id", "transaction.timeout.ms", 900_001);

        assertThatThrownBy(producer::initTransactions)
                .isExactlyInstanceOf(KafkaException.class)
                .hasMessageStartingWith("Unexpected error in InitProducerIdResponse");
        assertThatThrownBy(producer::initTransactions).isExactlyInstanceOf(KafkaException.class);
    }

    @Test
    @DisplayName("close sends what is there and aborts the transaction")
    void closing() throws Exception {
        Producer<byte[], byte[]> producer = initialised("id", "linger.ms", 60_000, "delivery.timeout.ms", 120_000);
        producer.beginTransaction();
        Future<RecordMetadata> future = send(producer, 0, "a");

        producer.close();

        assertThat(future.get().offset()).isZero();
        assertThat(kafka.endOffset(PARTITION)).isEqualTo(2);
        assertThat(committed()).isEmpty();
        assertIllegalState(producer::beginTransaction);
    }

    @Test
    @DisplayName("records that expire leave a transaction that can be aborted")
    void expired() throws Exception {
        Producer<byte[], byte[]> producer = initialised(
                "id", "delivery.timeout.ms", 60, "request.timeout.ms", 50, "linger.ms", 0, "retry.backoff.ms", 1);
        kafka.faults().on(Request.PRODUCE, "topic", 1, Integer.MAX_VALUE, new Fault.LoseAnswer());
        producer.beginTransaction();
        assertThat(failure(send(producer, 0, "lost"))).isInstanceOf(TimeoutException.class);
        kafka.faults().clear();

        assertThatThrownBy(producer::commitTransaction).isExactlyInstanceOf(KafkaException.class);
        producer.abortTransaction();
        producer.beginTransaction();
        send(producer, 0, "kept").get();
        producer.commitTransaction();

        assertThat(committed()).containsExactly("kept");
    }

    /** A producer whose transaction, with one record, was aborted by the coordinator. */
    private Producer<byte[], byte[]> timedOut() throws Exception {
        Producer<byte[], byte[]> producer = initialised("id", "transaction.timeout.ms", 50);
        producer.beginTransaction();
        send(producer, 0, "late").get();
        assertThat(host.await(() -> kafka.endOffset(PARTITION) == 2, Long.MAX_VALUE))
                .isTrue();
        return producer;
    }

    private Producer<byte[], byte[]> initialised(String id, Object... configs) {
        Producer<byte[], byte[]> producer = producer(id, configs);
        producer.initTransactions();
        return producer;
    }

    private Producer<byte[], byte[]> producer(String id, Object... configs) {
        Map<String, Object> all = new HashMap<>(Map.of("transactional.id", id));
        for (int i = 0; i < configs.length; i += 2) {
            all.put((String) configs[i], configs[i + 1]);
        }
        Producer<byte[], byte[]> producer = kafka.producer(all);
        producers.add(producer);
        return producer;
    }

    private static Future<RecordMetadata> send(Producer<byte[], byte[]> producer, int partition, String value) {
        return producer.send(new ProducerRecord<>("topic", partition, null, value.getBytes(StandardCharsets.UTF_8)));
    }

    private List<String> committed() {
        return kafka.records("topic").values().stream()
                .flatMap(List::stream)
                .map(record -> new String(record.value(), StandardCharsets.UTF_8))
                .toList();
    }

    private static void assertIllegalState(Runnable call) {
        assertThatThrownBy(call::run).isInstanceOf(IllegalStateException.class);
    }

    private static Throwable failure(Future<RecordMetadata> future) {
        Throwable thrown = catchThrowable(future::get);
        assertThat(thrown).isInstanceOf(ExecutionException.class);
        return thrown.getCause();
    }
}
