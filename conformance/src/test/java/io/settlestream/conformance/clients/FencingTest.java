package io.settlestream.conformance.clients;

import static io.settlestream.conformance.clients.BothKafkas.play;
import static io.settlestream.conformance.clients.Stage.bytes;
import static io.settlestream.conformance.clients.Stage.get;
import static io.settlestream.conformance.clients.Stage.partition;
import static io.settlestream.conformance.clients.Stage.partitions;

import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.CONCURRENT)
class FencingTest {

    @Test
    @DisplayName("A second producer of the same id aborts the first's transaction and fences it: at its next send")
    void bySend() {
        play(
                stage -> {
                    Two two = Two.open(stage);
                    stage.call("send", () -> two.first.send(two.record("late")).get());
                    stage.run("commit", two.first::commitTransaction);
                    after(stage, two.first, two.topic);
                    stage.note("read", two.read(stage));
                },
                """
                send throws: future of InvalidProducerEpochException
                commit throws: InvalidProducerEpochException
                then begin throws: InvalidProducerEpochException
                then send throws: future of InvalidProducerEpochException
                then commit throws: InvalidProducerEpochException
                then abort throws: ProducerFencedException
                then init throws: ProducerFencedException
                then flush: done
                then close: done
                read: [second]
                """);
    }

    @Test
    @DisplayName("A fenced producer learns it at commit")
    void byCommit() {
        play(
                stage -> {
                    Two two = Two.open(stage);
                    stage.run("commit", two.first::commitTransaction);
                    after(stage, two.first, two.topic);
                    stage.note("read", two.read(stage));
                },
                """
                commit throws: ProducerFencedException
                then begin throws: ProducerFencedException
                then send throws: future of ProducerFencedException
                then commit throws: ProducerFencedException
                then abort throws: ProducerFencedException
                then init throws: ProducerFencedException
                then flush: done
                then close: done
                read: [second]
                """);
    }

    @Test
    @DisplayName("A fenced producer learns it at abort")
    void byAbort() {
        play(
                stage -> {
                    Two two = Two.open(stage);
                    stage.run("abort", two.first::abortTransaction);
                    after(stage, two.first, two.topic);
                    stage.note("read", two.read(stage));
                },
                """
                abort throws: ProducerFencedException
                then begin throws: ProducerFencedException
                then send throws: future of ProducerFencedException
                then commit throws: ProducerFencedException
                then abort throws: ProducerFencedException
                then init throws: ProducerFencedException
                then flush: done
                then close: done
                read: [second]
                """);
    }

    @Test
    @DisplayName("A fenced producer learns it when it sends offsets")
    void byOffsets() {
        play(
                stage -> {
                    Two two = Two.open(stage);
                    stage.run(
                            "offsets",
                            () -> two.first.sendOffsetsToTransaction(
                                    Map.of(partition(two.topic, 0), new OffsetAndMetadata(1)),
                                    new ConsumerGroupMetadata(stage.name("g"))));
                    stage.run("commit", two.first::commitTransaction);
                    after(stage, two.first, two.topic);
                },
                """
                offsets throws: ProducerFencedException
                commit throws: ProducerFencedException
                then begin throws: ProducerFencedException
                then send throws: future of ProducerFencedException
                then commit throws: ProducerFencedException
                then abort throws: ProducerFencedException
                then init throws: ProducerFencedException
                then flush: done
                then close: done
                """);
    }

    @Test
    @DisplayName("A fenced producer that did nothing yet learns it in its next transaction")
    void idle() {
        play(
                stage -> {
                    String topic = stage.topic("idle", 1);
                    var first = stage.producer("transactional.id", stage.name("t"));
                    first.initTransactions();
                    stage.producer("transactional.id", stage.name("t")).initTransactions();
                    stage.run("begin", first::beginTransaction);
                    stage.call(
                            "send",
                            () -> first.send(new ProducerRecord<>(topic, bytes("v")))
                                    .get());
                    stage.run("commit", first::commitTransaction);
                    after(stage, first, topic);
                },
                """
                begin: done
                send throws: future of InvalidProducerEpochException
                commit throws: InvalidProducerEpochException
                then begin throws: InvalidProducerEpochException
                then send throws: future of InvalidProducerEpochException
                then commit throws: InvalidProducerEpochException
                then abort throws: ProducerFencedException
                then init throws: ProducerFencedException
                then flush: done
                then close: done
                """);
    }

    @Test
    @DisplayName("A transaction that takes too long is aborted, and its producer is refused")
    void timeout() {
        play(
                stage -> {
                    String topic = stage.topic("slow", 1);
                    var producer = stage.producer("transactional.id", stage.name("t"), "transaction.timeout.ms", 500);
                    producer.initTransactions();
                    producer.beginTransaction();
                    get(producer.send(new ProducerRecord<>(topic, bytes("late"))));
                    stage.write(topic, 0, "after");
                    var consumer = stage.consumer("isolation.level", "read_committed");
                    consumer.assign(partitions(topic, 1));
                    stage.note("read", stage.values(consumer, 1));
                    stage.call(
                            "send",
                            () -> producer.send(new ProducerRecord<>(topic, bytes("v")))
                                    .get());
                    stage.run("commit", producer::commitTransaction);
                    stage.run("abort", producer::abortTransaction);
                    stage.run("begin", producer::beginTransaction);
                    stage.call(
                            "send",
                            () -> producer.send(new ProducerRecord<>(topic, bytes("w")))
                                    .get());
                    stage.run("commit", producer::commitTransaction);
                },
                """
                read: [after]
                send throws: future of InvalidProducerEpochException
                commit throws: InvalidProducerEpochException
                abort: done
                begin: done
                send: slow-0@3 key -1 value 1 bytes
                commit: done
                """);
    }

    @Test
    @DisplayName("A transaction that took too long cannot be committed")
    void timeoutAtCommit() {
        play(
                stage -> {
                    String topic = stage.topic("slower", 1);
                    var producer = stage.producer("transactional.id", stage.name("t"), "transaction.timeout.ms", 500);
                    producer.initTransactions();
                    producer.beginTransaction();
                    get(producer.send(new ProducerRecord<>(topic, bytes("late"))));
                    stage.write(topic, 0, "after");
                    var consumer = stage.consumer("isolation.level", "read_committed");
                    consumer.assign(partitions(topic, 1));
                    stage.note("read", stage.values(consumer, 1));
                    stage.run("commit", producer::commitTransaction);
                    stage.run("abort", producer::abortTransaction);
                    stage.run("begin", producer::beginTransaction);
                },
                """
                read: [after]
                commit throws: InvalidTxnStateException
                abort throws: KafkaException by InvalidTxnStateException
                begin throws: KafkaException by InvalidTxnStateException
                """);
    }

    @Test
    @DisplayName("A timeout longer than the broker allows is refused by initTransactions")
    void longTimeout() {
        play(
                stage -> {
                    var producer =
                            stage.producer("transactional.id", stage.name("t"), "transaction.timeout.ms", 3_600_000);
                    stage.run("init", producer::initTransactions);
                    stage.run("begin", producer::beginTransaction);
                },
                """
                init throws: KafkaException
                begin throws: KafkaException
                """);
    }

    private static void after(Stage stage, Producer<byte[], byte[]> fenced, String topic) {
        stage.run("then begin", fenced::beginTransaction);
        stage.call(
                "then send",
                () -> fenced.send(new ProducerRecord<>(topic, bytes("v"))).get());
        stage.run("then commit", fenced::commitTransaction);
        stage.run("then abort", fenced::abortTransaction);
        stage.run("then init", fenced::initTransactions);
        stage.run("then flush", fenced::flush);
        stage.run("then close", fenced::close);
    }

    /** A producer with an open transaction, and another that took over its id. */
    private record Two(String topic, Producer<byte[], byte[]> first, Producer<byte[], byte[]> second) {

        static Two open(Stage stage) {
            String topic = stage.topic("fenced", 1);
            var first = stage.producer("transactional.id", stage.name("t"));
            first.initTransactions();
            first.beginTransaction();
            get(first.send(new ProducerRecord<>(topic, bytes("first"))));
            var second = stage.producer("transactional.id", stage.name("t"));
            second.initTransactions();
            return new Two(topic, first, second);
        }

        ProducerRecord<byte[], byte[]> record(String value) {
            return new ProducerRecord<>(topic, bytes(value));
        }

        /** What a reader sees after the second producer has committed something. */
        List<String> read(Stage stage) {
            second.beginTransaction();
            get(second.send(record("second")));
            second.commitTransaction();
            var consumer = stage.consumer("isolation.level", "read_committed");
            consumer.assign(partitions(topic, 1));
            return stage.values(consumer, 1);
        }
    }
}
