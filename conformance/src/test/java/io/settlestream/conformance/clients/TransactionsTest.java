package io.settlestream.conformance.clients;

import static io.settlestream.conformance.clients.BothKafkas.play;
import static io.settlestream.conformance.clients.BothKafkas.playWithEachProtocol;
import static io.settlestream.conformance.clients.Stage.bytes;
import static io.settlestream.conformance.clients.Stage.get;
import static io.settlestream.conformance.clients.Stage.partition;
import static io.settlestream.conformance.clients.Stage.partitions;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.CONCURRENT)
class TransactionsTest {

    @Test
    @DisplayName("A transaction's records are seen after it commits, by read_committed; at once, by read_uncommitted")
    void visibility() {
        playWithEachProtocol(
                stage -> {
                    String topic = stage.topic("seen", 1);
                    TopicPartition first = partition(topic, 0);
                    var producer = stage.producer("transactional.id", stage.name("t"));
                    producer.initTransactions();
                    var committed = stage.consumer("isolation.level", "read_committed");
                    var uncommitted = stage.consumer();
                    committed.assign(List.of(first));
                    uncommitted.assign(List.of(first));
                    producer.beginTransaction();
                    for (String value : List.of("a", "b")) {
                        stage.note("sent", get(producer.send(new ProducerRecord<>(topic, 0, null, bytes(value)))));
                    }
                    stage.note("uncommitted reads", stage.values(uncommitted, 2));
                    stage.note("committed reads", committed.poll(Duration.ofMillis(300)));
                    ends(stage, "open", first, committed, uncommitted);
                    stage.note(
                            "since",
                            uncommitted
                                    .offsetsForTimes(Map.of(first, 0L))
                                    .get(first)
                                    .offset());
                    stage.note("since, committed", committed.offsetsForTimes(Map.of(first, 0L)));
                    producer.commitTransaction();
                    stage.note("committed reads", stage.values(committed, 2));
                    Stage.eventually("both pass the marker", () -> {
                        committed.poll(Duration.ofMillis(20));
                        uncommitted.poll(Duration.ofMillis(20));
                        return committed.position(first) == 3 && uncommitted.position(first) == 3;
                    });
                    ends(stage, "done", first, committed, uncommitted);
                    producer.beginTransaction();
                    get(producer.send(new ProducerRecord<>(topic, 0, null, bytes("c"))));
                    producer.abortTransaction();
                    stage.note("uncommitted reads", stage.values(uncommitted, 1));
                    Stage.eventually("both pass what was aborted", () -> {
                        committed.poll(Duration.ofMillis(20));
                        uncommitted.poll(Duration.ofMillis(20));
                        return committed.position(first) == 5 && uncommitted.position(first) == 5;
                    });
                    ends(stage, "aborted", first, committed, uncommitted);
                    stage.write(topic, 0, "d");
                    stage.note("committed reads", stage.read(committed, 1));
                    stage.note("uncommitted reads", stage.read(uncommitted, 1));
                },
                """
                sent: seen-0@0 key -1 value 1 bytes
                sent: seen-0@1 key -1 value 1 bytes
                uncommitted reads: [a, b]
                committed reads: []
                open ends: {seen-0=0} {seen-0=2}
                open positions: 0 2
                since: 0
                since, committed: {seen-0=null}
                committed reads: [a, b]
                done ends: {seen-0=3} {seen-0=3}
                done positions: 3 3
                uncommitted reads: [c]
                aborted ends: {seen-0=5} {seen-0=5}
                aborted positions: 5 5
                committed reads: [seen-0@5 null='d' sizes -1 1 epoch 0]
                uncommitted reads: [seen-0@5 null='d' sizes -1 1 epoch 0]
                """);
    }

    private static void ends(
            Stage stage,
            String when,
            TopicPartition first,
            Consumer<byte[], byte[]> committed,
            Consumer<byte[], byte[]> uncommitted) {
        stage.note(when + " ends", committed.endOffsets(List.of(first)) + " " + uncommitted.endOffsets(List.of(first)));
        stage.note(when + " positions", committed.position(first) + " " + uncommitted.position(first));
    }

    @Test
    @DisplayName("An open transaction holds up readers of what came after it, in its partitions only")
    void lastStableOffset() {
        playWithEachProtocol(
                stage -> {
                    String topic = stage.topic("held", 2);
                    var producer = stage.producer("transactional.id", stage.name("t"));
                    producer.initTransactions();
                    stage.write(topic, 0, "before");
                    producer.beginTransaction();
                    get(producer.send(new ProducerRecord<>(topic, 0, null, bytes("open"))));
                    stage.write(topic, 0, "after");
                    stage.write(topic, 1, "other");
                    var consumer = stage.consumer("isolation.level", "read_committed");
                    consumer.assign(partitions(topic, 2));
                    stage.note(
                            "read", stage.values(consumer, 2).stream().sorted().toList());
                    stage.note("nothing more", consumer.poll(Duration.ofMillis(300)));
                    stage.note("ends", consumer.endOffsets(partitions(topic, 2)));
                    consumer.seekToEnd(List.of(partition(topic, 0)));
                    stage.note("seek to end", consumer.position(partition(topic, 0)));
                    producer.abortTransaction();
                    stage.note("read", stage.values(consumer, 1));
                    stage.note("ends", consumer.endOffsets(partitions(topic, 2)));
                },
                """
                read: [before, other]
                nothing more: []
                ends: {held-0=1, held-1=1}
                seek to end: 1
                read: [after]
                ends: {held-0=4, held-1=1}
                """);
    }

    @Test
    @DisplayName("The offsets that follow a poll pass over markers and aborted records")
    void nextOffsets() {
        playWithEachProtocol(
                stage -> {
                    String topic = stage.topic("next", 1);
                    TopicPartition first = partition(topic, 0);
                    var producer = stage.producer("transactional.id", stage.name("t"));
                    producer.initTransactions();
                    producer.beginTransaction();
                    get(producer.send(new ProducerRecord<>(topic, 0, null, bytes("aborted"))));
                    producer.abortTransaction();
                    var consumer = stage.consumer("isolation.level", "read_committed", "group.id", stage.name("g"));
                    consumer.assign(List.of(first));
                    stage.pollUntil("passes", consumer, () -> consumer.position(first) == 2);
                    consumer.commitSync();
                    stage.note("committed", consumer.committed(Set.of(first)));
                    producer.beginTransaction();
                    get(producer.send(new ProducerRecord<>(topic, 0, null, bytes("a"))));
                    producer.commitTransaction();
                    stage.note("read", stage.values(consumer, 1));
                    stage.pollUntil("passes", consumer, () -> consumer.position(first) == 4);
                    consumer.commitSync();
                    stage.note("committed", consumer.committed(Set.of(first)));
                },
                """
                committed: {next-0=2 '' epoch 0}
                read: [a]
                committed: {next-0=4 '' epoch 0}
                """);
    }

    @Test
    @DisplayName("A transaction spans topics: all of it, or nothing")
    void spans() {
        play(
                stage -> {
                    String one = stage.topic("one", 2);
                    String two = stage.topic("two", 1);
                    var producer = stage.producer("transactional.id", stage.name("t"));
                    producer.initTransactions();
                    for (boolean commit : new boolean[] {false, true}) {
                        producer.beginTransaction();
                        List<Future<RecordMetadata>> sent = new ArrayList<>();
                        for (TopicPartition to : List.of(partition(one, 0), partition(one, 1), partition(two, 0))) {
                            sent.add(producer.send(new ProducerRecord<>(
                                    to.topic(), to.partition(), null, bytes(commit ? "yes" : "no"))));
                        }
                        if (commit) {
                            producer.commitTransaction();
                        } else {
                            producer.flush();
                            producer.abortTransaction();
                        }
                        for (Future<RecordMetadata> each : sent) {
                            stage.call(commit ? "committed" : "aborted", each::get);
                        }
                    }
                    var consumer = stage.consumer("isolation.level", "read_committed");
                    consumer.assign(List.of(partition(one, 0), partition(one, 1), partition(two, 0)));
                    stage.note("read", stage.values(consumer, 3));
                },
                """
                aborted: one-0@0 key -1 value 2 bytes
                aborted: one-1@0 key -1 value 2 bytes
                aborted: two-0@0 key -1 value 2 bytes
                committed: one-0@2 key -1 value 3 bytes
                committed: one-1@2 key -1 value 3 bytes
                committed: two-0@2 key -1 value 3 bytes
                read: [yes, yes, yes]
                """);
    }

    @Test
    @DisplayName("Offsets in a transaction count when it commits; until then, committed waits for it")
    void offsets() {
        playWithEachProtocol(
                stage -> {
                    String topic = stage.topic("offsets", 1);
                    TopicPartition first = partition(topic, 0);
                    stage.write(topic, 0, "a", "b", "c");
                    var producer = stage.producer("transactional.id", stage.name("t"));
                    producer.initTransactions();
                    var consumer = stage.consumer("group.id", stage.name("g"));
                    consumer.subscribe(List.of(topic));
                    stage.note("read", stage.values(consumer, 3));
                    producer.beginTransaction();
                    stage.run(
                            "send offsets",
                            () -> producer.sendOffsetsToTransaction(
                                    Map.of(first, new OffsetAndMetadata(2, "text")), consumer.groupMetadata()));
                    stage.note("from outside", stage.kafka().committed(stage.name("g")));
                    stage.call("pending", () -> consumer.committed(Set.of(first), Duration.ofMillis(500)));
                    producer.commitTransaction();
                    stage.call("committed", () -> consumer.committed(Set.of(first)));
                    producer.beginTransaction();
                    producer.sendOffsetsToTransaction(
                            Map.of(first, new OffsetAndMetadata(3)), consumer.groupMetadata());
                    producer.abortTransaction();
                    stage.call("aborted", () -> consumer.committed(Set.of(first)));
                    producer.beginTransaction();
                    stage.run(
                            "no offsets", () -> producer.sendOffsetsToTransaction(Map.of(), consumer.groupMetadata()));
                    producer.commitTransaction();
                    stage.call("still", () -> consumer.committed(Set.of(first)));
                },
                """
                read: [a, b, c]
                send offsets: done
                from outside: {}
                pending throws: TimeoutException
                committed: {offsets-0=2 'text' epoch none}
                aborted: {offsets-0=2 'text' epoch none}
                no offsets: done
                still: {offsets-0=2 'text' epoch none}
                """);
    }

    @Test
    @DisplayName("Offsets of a stale generation or an unknown member make the transaction abortable")
    void staleMember() {
        playWithEachProtocol(
                stage -> {
                    String topic = stage.topic("stale", 1);
                    TopicPartition first = partition(topic, 0);
                    stage.write(topic, 0, "a");
                    var producer = stage.producer("transactional.id", stage.name("t"));
                    producer.initTransactions();
                    var consumer = stage.consumer("group.id", stage.name("g"));
                    consumer.subscribe(List.of(topic));
                    stage.values(consumer, 1);
                    ConsumerGroupMetadata member = consumer.groupMetadata();
                    Map<TopicPartition, OffsetAndMetadata> offsets = Map.of(first, new OffsetAndMetadata(1));
                    List<ConsumerGroupMetadata> wrong = List.of(
                            new ConsumerGroupMetadata(
                                    member.groupId(), member.generationId() - 1, member.memberId(), Optional.empty()),
                            new ConsumerGroupMetadata(
                                    member.groupId(), member.generationId(), "somebody", Optional.empty()),
                            new ConsumerGroupMetadata(
                                    member.groupId(), member.generationId() + 1, member.memberId(), Optional.empty()));
                    for (ConsumerGroupMetadata metadata : wrong) {
                        producer.beginTransaction();
                        stage.run("send offsets", () -> producer.sendOffsetsToTransaction(offsets, metadata));
                        stage.run("commit", producer::commitTransaction);
                        stage.run("abort", producer::abortTransaction);
                    }
                    producer.beginTransaction();
                    stage.run(
                            "by group alone",
                            () -> producer.sendOffsetsToTransaction(
                                    offsets, new ConsumerGroupMetadata(member.groupId())));
                    stage.run("commit", producer::commitTransaction);
                    stage.call("committed", () -> consumer.committed(Set.of(first)));
                },
                """
                send offsets throws: CommitFailedException
                commit throws: KafkaException by CommitFailedException
                abort: done
                send offsets throws: CommitFailedException
                commit throws: KafkaException by CommitFailedException
                abort: done
                send offsets throws: CommitFailedException
                commit throws: KafkaException by CommitFailedException
                abort: done
                by group alone: done
                commit: done
                committed: {stale-0=1 '' epoch none}
                """);
    }

    @Test
    @DisplayName("Calls in a wrong state throw and harm nothing")
    void wrongState() {
        play(
                stage -> {
                    String topic = stage.topic("state", 1);
                    var producer = stage.producer("transactional.id", stage.name("t"));
                    stage.run("begin before init", producer::beginTransaction);
                    producer.initTransactions();
                    stage.run("init again", producer::initTransactions);
                    stage.run("commit outside", producer::commitTransaction);
                    stage.run("abort outside", producer::abortTransaction);
                    stage.run(
                            "offsets outside",
                            () -> producer.sendOffsetsToTransaction(
                                    Map.of(partition(topic, 0), new OffsetAndMetadata(1)),
                                    new ConsumerGroupMetadata(stage.name("g"))));
                    stage.run("begin", producer::beginTransaction);
                    stage.run("begin again", producer::beginTransaction);
                    stage.run("init inside", producer::initTransactions);
                    stage.run("null group", () -> producer.sendOffsetsToTransaction(Map.of(), null));
                    stage.run("commit of nothing", producer::commitTransaction);
                    stage.run("begin", producer::beginTransaction);
                    stage.run("abort of nothing", producer::abortTransaction);
                    stage.run("begin", producer::beginTransaction);
                    stage.call("send", () -> get(producer.send(new ProducerRecord<>(topic, bytes("v")))));
                    stage.run("commit", producer::commitTransaction);
                },
                """
                begin before init throws: IllegalStateException
                init again throws: IllegalStateException
                commit outside throws: IllegalStateException
                abort outside throws: IllegalStateException
                offsets outside throws: IllegalStateException
                begin: done
                begin again throws: IllegalStateException
                init inside throws: IllegalStateException
                null group throws: IllegalArgumentException
                commit of nothing: done
                begin: done
                abort of nothing: done
                begin: done
                send: state-0@0 key -1 value 1 bytes
                commit: done
                """);
    }

    @Test
    @DisplayName("A send outside of a transaction throws")
    void sendOutside() {
        play(
                stage -> {
                    String topic = stage.topic("outside", 1);
                    var early = stage.producer("transactional.id", stage.name("t"));
                    stage.run("send before init", () -> early.send(new ProducerRecord<>(topic, bytes("v"))));
                    var late = stage.producer("transactional.id", stage.name("u"));
                    late.initTransactions();
                    stage.run("send before begin", () -> late.send(new ProducerRecord<>(topic, bytes("v"))));
                },
                """
                send before init throws: IllegalStateException
                send before begin throws: IllegalStateException
                """);
    }

    @Test
    @DisplayName("A send that fails leaves nothing but to abort; then the producer goes on")
    void failedSend() {
        play(
                stage -> {
                    String topic = stage.topic("failed", 1, Map.of("max.message.bytes", "500"));
                    var producer = stage.producer(
                            "transactional.id", stage.name("t"), "max.request.size", 1000, "max.block.ms", 500);
                    producer.initTransactions();
                    Map<String, ProducerRecord<byte[], byte[]>> mistakes = new LinkedHashMap<>();
                    mistakes.put("too large for the topic", new ProducerRecord<>(topic, new byte[600]));
                    mistakes.put("too large for the producer", new ProducerRecord<>(topic, new byte[1200]));
                    mistakes.put("unknown topic", new ProducerRecord<>(stage.name("missing"), bytes("v")));
                    mistakes.forEach((what, record) -> {
                        stage.note(what);
                        producer.beginTransaction();
                        stage.call("send", () -> producer.send(record).get());
                        // It throws or its future fails, as far as the producer's thread has got.
                        stage.note(
                                "next send fails of",
                                rootOf(() -> producer.send(new ProducerRecord<>(topic, bytes("v")))
                                        .get()));
                        stage.run("flush", producer::flush);
                        stage.run("commit", producer::commitTransaction);
                        stage.run("begin", producer::beginTransaction);
                        stage.run("abort", producer::abortTransaction);
                    });
                    producer.beginTransaction();
                    stage.call(
                            "send",
                            () -> producer.send(new ProducerRecord<>(topic, bytes("fine")))
                                    .get()
                                    .partition());
                    stage.run("commit", producer::commitTransaction);
                    var consumer = stage.consumer("isolation.level", "read_committed");
                    consumer.assign(partitions(topic, 1));
                    stage.note("read", stage.values(consumer, 1));
                },
                """
                too large for the topic
                send throws: future of RecordTooLargeException
                next send fails of: RecordTooLargeException
                flush: done
                commit throws: KafkaException by RecordTooLargeException
                begin throws: KafkaException by RecordTooLargeException
                abort: done
                too large for the producer
                send throws: future of RecordTooLargeException
                next send fails of: RecordTooLargeException
                flush: done
                commit throws: KafkaException by RecordTooLargeException
                begin throws: KafkaException by RecordTooLargeException
                abort: done
                unknown topic
                send throws: future of TimeoutException by UnknownTopicOrPartitionException
                next send fails of: UnknownTopicOrPartitionException
                flush: done
                commit throws: KafkaException by TransactionAbortableException by TimeoutException by UnknownTopicOrPartitionException
                begin throws: KafkaException by TransactionAbortableException by TimeoutException by UnknownTopicOrPartitionException
                abort: done
                send: 0
                commit: done
                read: [fine]
                """);
    }

    @Test
    @DisplayName("Aborting fails what was not sent yet")
    void unsent() {
        play(
                stage -> {
                    String topic = stage.topic("unsent", 1);
                    var producer = stage.producer("transactional.id", stage.name("t"), "linger.ms", 60_000);
                    producer.initTransactions();
                    producer.partitionsFor(topic);
                    producer.beginTransaction();
                    List<String> heard = Collections.synchronizedList(new ArrayList<>());
                    var sent = producer.send(
                            new ProducerRecord<>(topic, bytes("v")),
                            (metadata, failure) -> heard.add(Words.of(failure)));
                    stage.run("abort", producer::abortTransaction);
                    stage.call("sent", sent::get);
                    stage.note("callback", heard);
                    producer.beginTransaction();
                    var next = producer.send(new ProducerRecord<>(topic, bytes("w")));
                    stage.run("commit", producer::commitTransaction);
                    stage.call("sent", next::get);
                },
                """
                abort: done
                sent throws: future of TransactionAbortedException
                callback: [TransactionAbortedException]
                commit: done
                sent: unsent-0@0 key -1 value 1 bytes
                """);
    }

    @Test
    @DisplayName("Closing a producer aborts its open transaction")
    void closing() {
        playWithEachProtocol(
                stage -> {
                    String topic = stage.topic("closing", 1);
                    var producer = stage.producer("transactional.id", stage.name("t"));
                    producer.initTransactions();
                    producer.beginTransaction();
                    get(producer.send(new ProducerRecord<>(topic, bytes("v"))));
                    producer.close();
                    stage.write(topic, 0, "after");
                    var consumer = stage.consumer("isolation.level", "read_committed");
                    consumer.assign(partitions(topic, 1));
                    stage.note("read", stage.values(consumer, 1));
                },
                """
                read: [after]
                """);
    }

    private static String rootOf(Callable<?> call) {
        try {
            return "nothing: " + Words.of(call.call());
        } catch (Exception e) {
            Throwable root = e;
            while (root.getCause() != null) {
                root = root.getCause();
            }
            return root.getClass().getSimpleName();
        }
    }
}
