package io.settlestream.conformance.clients;

import static io.settlestream.conformance.clients.BothKafkas.play;
import static io.settlestream.conformance.clients.Stage.bytes;
import static io.settlestream.conformance.clients.Stage.get;
import static io.settlestream.conformance.clients.Stage.partition;
import static io.settlestream.conformance.clients.Stage.partitions;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.CONCURRENT)
class ProducingTest {

    @Test
    @DisplayName("A key decides the partition, whatever the number of partitions")
    void keys() {
        play(
                stage -> {
                    var producer = stage.producer();
                    for (int count : new int[] {1, 2, 3, 7, 12}) {
                        String topic = stage.topic("keyed" + count, count);
                        List<Future<RecordMetadata>> sent = new ArrayList<>();
                        for (int key = 0; key < 40; key++) {
                            sent.add(producer.send(new ProducerRecord<>(topic, bytes("key-" + key * 31), bytes("v"))));
                        }
                        sent.add(producer.send(new ProducerRecord<>(topic, new byte[0], bytes("v"))));
                        StringBuilder where = new StringBuilder();
                        sent.forEach(one -> where.append(Character.forDigit(get(one).partition(), 16)));
                        stage.note(topic, where);
                    }
                },
                """
                keyed1: 00000000000000000000000000000000000000000
                keyed2: 11010111010100001000011011011110011100111
                keyed3: 11011021122001222022011100001202020102020
                keyed7: 02042365610151355435153501422162230426252
                keyed12: 1761a357a5890422b628611493691598059708359
                """);
    }

    @Test
    @DisplayName("What is given to send arrives: partition, timestamp, key, value, headers and nulls")
    void everyField() {
        play(
                stage -> {
                    String topic = stage.topic("fields", 2);
                    var producer = stage.producer();
                    long before = System.currentTimeMillis();
                    List<ProducerRecord<byte[], byte[]>> records = List.of(
                            new ProducerRecord<>(topic, 1, 1_000L, bytes("k"), bytes("v")),
                            new ProducerRecord<>(topic, 1, (byte[]) null, bytes("no key")),
                            new ProducerRecord<>(topic, 1, 0L, bytes("no value"), (byte[]) null),
                            new ProducerRecord<>(topic, 1, (byte[]) null, (byte[]) null),
                            new ProducerRecord<>(topic, 1, 77L, new byte[0], new byte[0]),
                            new ProducerRecord<>(topic, 1, 5L, bytes("h"), bytes("headers")));
                    records.getLast()
                            .headers()
                            .add("twice", bytes("one"))
                            .add("none", null)
                            .add("twice", bytes("two"))
                            .add("empty", new byte[0])
                            .add("", bytes("nameless"));
                    for (ProducerRecord<byte[], byte[]> record : records) {
                        RecordMetadata metadata = get(producer.send(record));
                        stage.note("sent", metadata);
                        stage.note(" offset " + metadata.hasOffset() + " time " + metadata.hasTimestamp() + " "
                                + time(metadata.timestamp(), before));
                    }
                    var consumer = stage.consumer();
                    consumer.assign(partitions(topic, 2));
                    for (ConsumerRecord<byte[], byte[]> record : stage.read(consumer, records.size())) {
                        stage.note("read", record);
                        stage.note(" " + record.timestampType() + " " + time(record.timestamp(), before) + " delivery "
                                + record.deliveryCount());
                    }
                },
                """
                sent: fields-1@0 key 1 value 1 bytes
                 offset true time true 1000
                sent: fields-1@1 key -1 value 6 bytes
                 offset true time true now
                sent: fields-1@2 key 8 value -1 bytes
                 offset true time true 0
                sent: fields-1@3 key -1 value -1 bytes
                 offset true time true now
                sent: fields-1@4 key 0 value 0 bytes
                 offset true time true 77
                sent: fields-1@5 key 1 value 7 bytes
                 offset true time true 5
                read: fields-1@0 'k'='v' sizes 1 1 epoch 0
                 CreateTime 1000 delivery Optional.empty
                read: fields-1@1 null='no key' sizes -1 6 epoch 0
                 CreateTime now delivery Optional.empty
                read: fields-1@2 'no value'=null sizes 8 -1 epoch 0
                 CreateTime 0 delivery Optional.empty
                read: fields-1@3 null=null sizes -1 -1 epoch 0
                 CreateTime now delivery Optional.empty
                read: fields-1@4 ''='' sizes 0 0 epoch 0
                 CreateTime 77 delivery Optional.empty
                read: fields-1@5 'h'='headers' sizes 1 7 epoch 0 twice:'one' none:null twice:'two' empty:'' :'nameless'
                 CreateTime 5 delivery Optional.empty
                """);
    }

    private static String time(long timestamp, long before) {
        return timestamp >= before && timestamp <= System.currentTimeMillis() ? "now" : Long.toString(timestamp);
    }

    @Test
    @DisplayName("A topic with LogAppendTime gives its own time, to the producer and to readers")
    void logAppendTime() {
        play(
                stage -> {
                    String topic = stage.topic("appended", 1, Map.of("message.timestamp.type", "LogAppendTime"));
                    long before = System.currentTimeMillis();
                    RecordMetadata metadata =
                            get(stage.producer().send(new ProducerRecord<>(topic, 0, 5L, null, bytes("value"))));
                    stage.note("sent " + metadata.hasTimestamp() + " " + time(metadata.timestamp(), before));
                    var consumer = stage.consumer();
                    consumer.assign(partitions(topic, 1));
                    ConsumerRecord<byte[], byte[]> record =
                            stage.read(consumer, 1).getFirst();
                    stage.note("read " + record.timestampType() + " " + time(record.timestamp(), before) + " "
                            + (record.timestamp() == metadata.timestamp()));
                },
                """
                sent true now
                read LogAppendTime now true
                """);
    }

    @Test
    @DisplayName("Records without a key and a partition go to one of the partitions, and none is lost")
    void keyless() {
        play(
                stage -> {
                    String topic = stage.topic("keyless", 3);
                    var producer = stage.producer();
                    List<Future<RecordMetadata>> sent = new ArrayList<>();
                    for (int i = 0; i < 30; i++) {
                        sent.add(producer.send(new ProducerRecord<>(topic, bytes("v" + i))));
                    }
                    boolean inRange =
                            sent.stream().allMatch(one -> get(one).partition() >= 0 && get(one).partition() < 3);
                    stage.note("all in range", inRange);
                    var consumer = stage.consumer();
                    consumer.assign(partitions(topic, 3));
                    stage.note(
                            "read", stage.values(consumer, 30).stream().sorted().toList());
                },
                """
                all in range: true
                read: [v0, v1, v10, v11, v12, v13, v14, v15, v16, v17, v18, v19, v2, v20, v21, v22, v23, v24, v25, v26, v27, v28, v29, v3, v4, v5, v6, v7, v8, v9]
                """);
    }

    @Test
    @DisplayName("A key can be ignored by a setting, and a partition given outright goes before the key")
    void explicitPartition() {
        play(
                stage -> {
                    String topic = stage.topic("explicit", 3);
                    var producer = stage.producer();
                    for (int partition : new int[] {2, 0, 1, 2}) {
                        stage.note(
                                "sent",
                                get(producer.send(new ProducerRecord<>(topic, partition, bytes("k"), bytes("v")))));
                    }
                },
                """
                sent: explicit-2@0 key 1 value 1 bytes
                sent: explicit-0@0 key 1 value 1 bytes
                sent: explicit-1@0 key 1 value 1 bytes
                sent: explicit-2@1 key 1 value 1 bytes
                """);
    }

    @Test
    @DisplayName("A record too large for the producer fails its future and its callback, and nothing is thrown")
    void tooLargeForProducer() {
        play(
                stage -> {
                    String topic = stage.topic("large", 2);
                    var producer = stage.producer("max.request.size", 500);
                    List<String> heard = Collections.synchronizedList(new ArrayList<>());
                    for (int partition : new int[] {-1, 1}) {
                        Integer chosen = partition < 0 ? null : Integer.valueOf(partition);
                        stage.call("send", () -> {
                            Future<RecordMetadata> future = producer.send(
                                    new ProducerRecord<>(topic, chosen, bytes("k"), new byte[600]),
                                    (metadata, failure) -> heard.add(heard(metadata, failure)));
                            stage.note("done at once", future.isDone());
                            stage.note("callback", heard);
                            heard.clear();
                            return future.get();
                        });
                    }
                    stage.note("small one", get(producer.send(new ProducerRecord<>(topic, 1, null, bytes("v")))));
                },
                """
                done at once: true
                callback: [large--1@-1 timestamp -1 sizes -1 -1 RecordTooLargeException]
                send throws: future of RecordTooLargeException
                done at once: true
                callback: [large-1@-1 timestamp -1 sizes -1 -1 RecordTooLargeException]
                send throws: future of RecordTooLargeException
                small one: large-1@0 key -1 value 1 bytes
                """);
    }

    private static String heard(RecordMetadata metadata, Exception failure) {
        String where = metadata == null
                ? "null"
                : "%s@%d timestamp %d sizes %d %d"
                        .formatted(
                                metadata.topic() + "-" + metadata.partition(),
                                metadata.offset(),
                                metadata.timestamp(),
                                metadata.serializedKeySize(),
                                metadata.serializedValueSize());
        return where + " " + (failure == null ? "fine" : Words.of(failure));
    }

    @Test
    @DisplayName("A record too large for its topic fails when the broker answers; others are not concerned")
    void tooLargeForTopic() {
        play(
                stage -> {
                    String topic = stage.topic("small", 1, Map.of("max.message.bytes", "500"));
                    var producer = stage.producer();
                    List<String> heard = Collections.synchronizedList(new ArrayList<>());
                    stage.call(
                            "large",
                            () -> producer.send(
                                            new ProducerRecord<>(topic, 0, null, new byte[600]),
                                            (metadata, failure) -> heard.add(heard(metadata, failure)))
                                    .get());
                    stage.note("callback", heard);
                    stage.call(
                            "small",
                            () -> producer.send(new ProducerRecord<>(topic, 0, null, bytes("v")))
                                    .get());
                },
                """
                large throws: future of RecordTooLargeException
                callback: [small-0@-1 timestamp -1 sizes -1 -1 RecordTooLargeException]
                small: small-0@0 key -1 value 1 bytes
                """);
    }

    @Test
    @DisplayName("An unknown topic or partition fails after max.block.ms, an illegal name at once; nothing is thrown")
    void unknown() {
        play(
                stage -> {
                    String topic = stage.topic("known", 1);
                    var producer = stage.producer("max.block.ms", 400);
                    List<String> heard = Collections.synchronizedList(new ArrayList<>());
                    for (ProducerRecord<byte[], byte[]> record : List.of(
                            new ProducerRecord<byte[], byte[]>(stage.name("missing"), bytes("v")),
                            new ProducerRecord<byte[], byte[]>(topic, 5, null, bytes("v")),
                            new ProducerRecord<byte[], byte[]>(stage.name("not/legal"), bytes("v")),
                            new ProducerRecord<byte[], byte[]>(stage.name("not legal"), 0, null, bytes("v")))) {
                        stage.call("send to " + record.topic(), () -> {
                            var future =
                                    producer.send(record, (metadata, failure) -> heard.add(heard(metadata, failure)));
                            stage.note("done at once", future.isDone());
                            stage.note("callback", heard);
                            heard.clear();
                            return future.get();
                        });
                    }
                    stage.call("partitions of the missing", () -> producer.partitionsFor(stage.name("missing")));
                    stage.call("partitions of the illegal", () -> producer.partitionsFor(stage.name("not/legal")));
                    stage.call("partitions of the known", () -> producer.partitionsFor(topic));
                },
                """
                done at once: true
                callback: [missing--1@-1 timestamp -1 sizes -1 -1 TimeoutException by UnknownTopicOrPartitionException]
                send to missing throws: future of TimeoutException by UnknownTopicOrPartitionException
                done at once: true
                callback: [known-5@-1 timestamp -1 sizes -1 -1 TimeoutException]
                send to known throws: future of TimeoutException
                done at once: true
                callback: [not/legal--1@-1 timestamp -1 sizes -1 -1 InvalidTopicException[not/legal]]
                send to not/legal throws: future of InvalidTopicException[not/legal]
                done at once: true
                callback: [not legal-0@-1 timestamp -1 sizes -1 -1 InvalidTopicException[not legal]]
                send to not legal throws: future of InvalidTopicException[not legal]
                partitions of the missing throws: TimeoutException by UnknownTopicOrPartitionException
                partitions of the illegal throws: InvalidTopicException[]
                partitions of the known: [known-0]
                """);
    }

    @Test
    @DisplayName("A closed producer throws at send; what was sent before is delivered by close")
    void closed() {
        play(
                stage -> {
                    String topic = stage.topic("closed", 1);
                    var producer = stage.producer("linger.ms", 60_000);
                    get(stage.producer().send(new ProducerRecord<>(topic, 0, null, bytes("other"))));
                    var future = producer.send(new ProducerRecord<>(topic, 0, null, bytes("before")));
                    stage.note("lingers", !future.isDone());
                    producer.close();
                    stage.note("delivered by close", future.isDone());
                    stage.call("sent", future::get);
                    stage.call("send", () -> producer.send(new ProducerRecord<>(topic, 0, null, bytes("after"))));
                    stage.run("flush", producer::flush);
                    stage.run("close again", producer::close);
                    stage.call("partitions", () -> producer.partitionsFor(topic).size());
                    var hasty = stage.producer("linger.ms", 60_000);
                    var lost = hasty.send(new ProducerRecord<>(topic, 0, null, bytes("never")));
                    hasty.close(Duration.ZERO);
                    stage.call("of close without patience", lost::get);
                },
                """
                lingers: true
                delivered by close: true
                sent: closed-0@1 key -1 value 6 bytes
                send throws: IllegalStateException
                flush: done
                close again: done
                partitions: 1
                of close without patience throws: future of KafkaException
                """);
    }

    @Test
    @DisplayName("Callbacks of a partition come in the order of sends, all by the return of flush")
    void callbackOrder() {
        play(
                stage -> {
                    String topic = stage.topic("ordered", 2);
                    var producer = stage.producer("linger.ms", 60_000);
                    List<List<String>> heard = List.of(
                            Collections.synchronizedList(new ArrayList<>()),
                            Collections.synchronizedList(new ArrayList<>()));
                    for (int i = 0; i < 20; i++) {
                        int number = i;
                        var unused = producer.send(
                                new ProducerRecord<>(topic, i % 2, null, bytes("v" + i)),
                                (metadata, failure) -> heard.get(number % 2).add(number + "@" + metadata.offset()));
                    }
                    stage.note("before", heard);
                    producer.flush();
                    stage.note("after", heard);
                },
                """
                before: [[], []]
                after: [[0@0, 2@1, 4@2, 6@3, 8@4, 10@5, 12@6, 14@7, 16@8, 18@9], [1@0, 3@1, 5@2, 7@3, 9@4, 11@5, 13@6, 15@7, 17@8, 19@9]]
                """);
    }

    @Test
    @DisplayName("A callback that throws harms nobody")
    void callbackThrows() {
        play(
                stage -> {
                    String topic = stage.topic("throwing", 1);
                    var producer = stage.producer();
                    stage.call(
                            "of the thrower",
                            () -> producer.send(
                                            new ProducerRecord<>(topic, 0, null, bytes("v")), (metadata, failure) -> {
                                                throw new IllegalStateException("thrown by the test");
                                            })
                                    .get());
                    stage.call(
                            "of the next",
                            () -> producer.send(new ProducerRecord<>(topic, 0, null, bytes("v")))
                                    .get());
                },
                """
                of the thrower: throwing-0@0 key -1 value 1 bytes
                of the next: throwing-0@1 key -1 value 1 bytes
                """);
    }

    @Test
    @DisplayName("A deleted topic is unknown to the producers of tomorrow")
    void deletedTopic() {
        play(
                stage -> {
                    String topic = stage.topic("deleted", 1);
                    stage.write(topic, 0, "a");
                    stage.kafka().deleteTopic(topic);
                    var producer = stage.producer("max.block.ms", 400);
                    Stage.eventually(
                            "the topic is gone",
                            () -> !stage.consumer().listTopics().containsKey(topic));
                    stage.call(
                            "send",
                            () -> producer.send(new ProducerRecord<>(topic, 0, null, bytes("v")))
                                    .get());
                },
                """
                send throws: future of TimeoutException by UnknownTopicOrPartitionException
                """);
    }

    @Test
    @DisplayName("Settings that contradict each other are refused at construction, and null arguments at the call")
    void settings() {
        play(
                stage -> {
                    stage.run("acks=lots", () -> stage.producer("acks", "lots"));
                    stage.run("acks=1 with idempotence", () -> stage.producer("acks", "1", "enable.idempotence", true));
                    stage.run(
                            "acks=1 with a transactional id",
                            () -> stage.producer("acks", "1", "transactional.id", "x"));
                    stage.run(
                            "no idempotence with a transactional id",
                            () -> stage.producer("enable.idempotence", false, "transactional.id", "x"));
                    stage.run(
                            "retries=0 with idempotence",
                            () -> stage.producer("retries", 0, "enable.idempotence", true));
                    stage.run(
                            "6 in flight with idempotence",
                            () -> stage.producer(
                                    "max.in.flight.requests.per.connection", 6, "enable.idempotence", true));
                    stage.run(
                            "delivery timeout below linger and request",
                            () -> stage.producer(
                                    "delivery.timeout.ms", 100, "linger.ms", 50, "request.timeout.ms", 100));
                    stage.run("compression.type=tar", () -> stage.producer("compression.type", "tar"));
                    stage.run("linger.ms=soon", () -> stage.producer("linger.ms", "soon"));
                    stage.run("batch.size=-1", () -> stage.producer("batch.size", -1));
                    stage.run("unknown setting", () -> stage.producer("no.such.setting", "x"));
                    stage.run(
                            "two phase commit with a timeout",
                            () -> stage.producer(
                                    "transactional.id",
                                    "x",
                                    "transaction.two.phase.commit.enable",
                                    true,
                                    "transaction.timeout.ms",
                                    5));
                    stage.run("no topic", () -> new ProducerRecord<byte[], byte[]>(null, bytes("v")));
                    stage.run("negative timestamp", () -> new ProducerRecord<>("t", 0, -1L, bytes("k"), bytes("v")));
                    stage.run("negative partition", () -> new ProducerRecord<>("t", -1, bytes("k"), bytes("v")));
                    var producer = stage.producer();
                    stage.run("null record", () -> producer.send(null));
                    stage.run("close with negative timeout", () -> producer.close(Duration.ofMillis(-1)));
                    stage.run("begin without transactional id", producer::beginTransaction);
                    stage.run("init without transactional id", producer::initTransactions);
                    stage.run("commit without transactional id", producer::commitTransaction);
                    stage.run("abort without transactional id", producer::abortTransaction);
                },
                """
                acks=lots throws: ConfigException
                acks=1 with idempotence throws: ConfigException
                acks=1 with a transactional id throws: ConfigException
                no idempotence with a transactional id throws: ConfigException
                retries=0 with idempotence throws: ConfigException
                6 in flight with idempotence throws: ConfigException
                delivery timeout below linger and request throws: KafkaException by ConfigException
                compression.type=tar throws: ConfigException
                linger.ms=soon throws: ConfigException
                batch.size=-1 throws: ConfigException
                unknown setting: done
                two phase commit with a timeout throws: ConfigException
                no topic throws: IllegalArgumentException
                negative timestamp throws: IllegalArgumentException
                negative partition throws: IllegalArgumentException
                null record throws: NullPointerException
                close with negative timeout throws: IllegalArgumentException
                begin without transactional id throws: IllegalStateException
                init without transactional id throws: IllegalStateException
                commit without transactional id throws: IllegalStateException
                abort without transactional id throws: IllegalStateException
                """);
    }
}
