package io.settlestream.conformance.clients;

import static io.settlestream.conformance.clients.BothKafkas.play;
import static io.settlestream.conformance.clients.BothKafkas.playWithEachProtocol;
import static io.settlestream.conformance.clients.Stage.partition;
import static io.settlestream.conformance.clients.Stage.partitions;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.CONCURRENT)
class ReadingTest {

    @Test
    @DisplayName("An assigned consumer reads what is there and what comes, and its position follows")
    void assigned() {
        playWithEachProtocol(
                stage -> {
                    String topic = stage.topic("read", 2);
                    stage.write(topic, 0, "a", "b", "c");
                    var consumer = stage.consumer();
                    stage.note("assignment", consumer.assignment());
                    consumer.assign(partitions(topic, 2));
                    stage.note("assignment", consumer.assignment());
                    stage.note("subscription", consumer.subscription());
                    stage.call("position", () -> consumer.position(partition(topic, 0)));
                    stage.note("read", stage.values(consumer, 3));
                    stage.call("position", () -> consumer.position(partition(topic, 0)));
                    stage.call("position", () -> consumer.position(partition(topic, 1)));
                    stage.write(topic, 0, "d");
                    stage.note("read", stage.values(consumer, 1));
                    stage.call("position", () -> consumer.position(partition(topic, 0)));
                    consumer.assign(List.of(partition(topic, 1)));
                    stage.note("assignment", consumer.assignment());
                    stage.call("position of no longer assigned", () -> consumer.position(partition(topic, 0)));
                    consumer.assign(partitions(topic, 2));
                    stage.note("read again from the start", stage.values(consumer, 4));
                    consumer.unsubscribe();
                    stage.note("assignment", consumer.assignment());
                    stage.call("poll", () -> consumer.poll(Duration.ZERO));
                },
                """
                assignment: []
                assignment: [read-0, read-1]
                subscription: []
                position: 0
                read: [a, b, c]
                position: 3
                position: 0
                read: [d]
                position: 4
                assignment: [read-1]
                position of no longer assigned throws: IllegalStateException
                read again from the start: [a, b, c, d]
                assignment: []
                poll throws: IllegalStateException
                """);
    }

    @Test
    @DisplayName("Seek decides what is read next, also to the beginning and the end")
    void seek() {
        playWithEachProtocol(
                stage -> {
                    String topic = stage.topic("seek", 2);
                    TopicPartition first = partition(topic, 0);
                    stage.write(topic, 0, "a", "b", "c", "d");
                    var consumer = stage.consumer();
                    stage.run("seek before assign", () -> consumer.seek(first, 1));
                    stage.run("seek to beginning before assign", () -> consumer.seekToBeginning(List.of(first)));
                    consumer.assign(List.of(first));
                    consumer.seek(first, 2);
                    stage.call("position", () -> consumer.position(first));
                    stage.note("read", stage.values(consumer, 2));
                    consumer.seek(first, new OffsetAndMetadata(3, "text"));
                    stage.note("read", stage.values(consumer, 1));
                    consumer.seekToBeginning(List.of(first));
                    stage.call("position", () -> consumer.position(first));
                    stage.note("read", stage.values(consumer, 4));
                    consumer.seekToBeginning(List.of());
                    stage.note("read after seeking all", stage.values(consumer, 4));
                    consumer.seekToBeginning(List.of(first));
                    consumer.seekToEnd(List.of());
                    stage.call("position", () -> consumer.position(first));
                    stage.write(topic, 0, "e");
                    stage.note("read", stage.values(consumer, 1));
                    stage.run("seek below zero", () -> consumer.seek(first, -1));
                    stage.run("seek elsewhere", () -> consumer.seek(partition(topic, 1), 0));
                    stage.run("seek to the end elsewhere", () -> consumer.seekToEnd(List.of(partition(topic, 1))));
                    stage.run("seek to the end of null", () -> consumer.seekToEnd(null));
                },
                """
                seek before assign throws: IllegalStateException
                seek to beginning before assign throws: IllegalStateException
                position: 2
                read: [c, d]
                read: [d]
                position: 0
                read: [a, b, c, d]
                read after seeking all: [a, b, c, d]
                position: 4
                read: [e]
                seek below zero throws: IllegalArgumentException
                seek elsewhere throws: IllegalStateException
                seek to the end elsewhere throws: IllegalStateException
                seek to the end of null throws: IllegalArgumentException
                """);
    }

    @Test
    @DisplayName("A paused partition delivers nothing, not even what was fetched, until it is resumed")
    void pause() {
        playWithEachProtocol(
                stage -> {
                    String topic = stage.topic("pause", 2);
                    TopicPartition first = partition(topic, 0);
                    stage.write(topic, 0, "a", "b", "c");
                    var consumer = stage.consumer("max.poll.records", 1);
                    stage.run("pause before assign", () -> consumer.pause(List.of(first)));
                    consumer.assign(partitions(topic, 2));
                    stage.note("read", stage.values(consumer, 1));
                    consumer.pause(List.of(first));
                    stage.note("paused", consumer.paused());
                    stage.write(topic, 1, "x", "y");
                    stage.note("read of the other", stage.values(consumer, 2));
                    stage.call("position", () -> consumer.position(first));
                    stage.note("nothing", consumer.poll(Duration.ofMillis(100)).count());
                    consumer.resume(List.of(first));
                    stage.note("paused", consumer.paused());
                    stage.note("read", stage.values(consumer, 2));
                    consumer.pause(List.of(first));
                    consumer.seek(first, 1);
                    stage.note("nothing", consumer.poll(Duration.ofMillis(100)).count());
                    stage.call("position", () -> consumer.position(first));
                    stage.run("resume elsewhere", () -> consumer.resume(List.of(partition("elsewhere", 1))));
                    consumer.assign(List.of(partition(topic, 1)));
                    consumer.assign(partitions(topic, 2));
                    stage.note("paused after leaving and coming back", consumer.paused());
                },
                """
                pause before assign throws: IllegalStateException
                read: [a]
                paused: [pause-0]
                read of the other: [x, y]
                position: 1
                nothing: 0
                paused: []
                read: [b, c]
                nothing: 0
                position: 1
                resume elsewhere throws: IllegalStateException
                paused after leaving and coming back: []
                """);
    }

    @Test
    @DisplayName("A poll gives at most max.poll.records, and says where to go on in each partition")
    void maxPollRecords() {
        playWithEachProtocol(
                stage -> {
                    String topic = stage.topic("some", 2);
                    stage.write(topic, 0, "a", "b", "c", "d", "e");
                    stage.write(topic, 1, "x");
                    var consumer = stage.consumer("max.poll.records", 2);
                    consumer.assign(List.of(partition(topic, 0)));
                    for (int left = 5; left > 0; ) {
                        ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofMillis(50));
                        if (!records.isEmpty()) {
                            left -= records.count();
                            stage.note("records", records);
                            stage.note("next", records.nextOffsets());
                            stage.note("position", consumer.position(partition(topic, 0)));
                        }
                    }
                    consumer.assign(partitions(topic, 2));
                    consumer.seekToBeginning(partitions(topic, 2));
                    Map<TopicPartition, OffsetAndMetadata> next = new HashMap<>();
                    for (int left = 6; left > 0; ) {
                        ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofMillis(50));
                        left -= records.count();
                        next.putAll(records.nextOffsets());
                    }
                    stage.note("next of both", next);
                    stage.note("next of nothing", consumer.poll(Duration.ZERO).nextOffsets());
                },
                """
                records: [some-0[0'a', 1'b']]
                next: {some-0=2 '' epoch 0}
                position: 2
                records: [some-0[2'c', 3'd']]
                next: {some-0=4 '' epoch 0}
                position: 4
                records: [some-0[4'e']]
                next: {some-0=5 '' epoch 0}
                position: 5
                next of both: {some-0=5 '' epoch 0, some-1=1 '' epoch 0}
                next of nothing: {}
                """);
    }

    @Test
    @DisplayName("A first poll without patience returns empty-handed and still starts what it takes")
    void pollZero() {
        playWithEachProtocol(
                stage -> {
                    String topic = stage.topic("hasty", 1);
                    stage.write(topic, 0, "a");
                    var consumer = stage.consumer();
                    consumer.assign(partitions(topic, 1));
                    int[] read = {consumer.poll(Duration.ZERO).count()};
                    stage.note("first", read[0]);
                    Stage.eventually("a record comes", () -> {
                        read[0] += consumer.poll(Duration.ZERO).count();
                        return read[0] > 0;
                    });
                    stage.note("later", read[0]);
                    stage.run("negative timeout", () -> consumer.poll(Duration.ofMillis(-1)));
                },
                """
                first: 0
                later: 1
                negative timeout throws: IllegalArgumentException
                """);
    }

    @Test
    @DisplayName(
            "Calls out of place are refused: poll without partitions, mixing assign and subscribe, commits without group")
    void outOfPlace() {
        playWithEachProtocol(
                stage -> {
                    String topic = stage.topic("place", 1);
                    TopicPartition first = partition(topic, 0);
                    var consumer = stage.consumer();
                    stage.run("poll", () -> consumer.poll(Duration.ZERO));
                    stage.run("subscribe without group", () -> consumer.subscribe(List.of(topic)));
                    stage.run("poll subscribed", () -> consumer.poll(Duration.ZERO));
                    stage.run("assign", () -> consumer.assign(List.of(first)));
                    stage.run("subscribe after assign", () -> consumer.subscribe(List.of(topic)));
                    stage.run("commit", consumer::commitSync);
                    stage.run(
                            "commit of something", () -> consumer.commitSync(Map.of(first, new OffsetAndMetadata(1))));
                    stage.run("commit in the background", () -> consumer.commitAsync(null));
                    stage.call("committed", () -> consumer.committed(Set.of(first)));
                    stage.call("metadata", consumer::groupMetadata);
                    var member = stage.consumer("group.id", stage.name("g"));
                    stage.run("subscribe", () -> member.subscribe(List.of(topic)));
                    stage.run("assign after subscribe", () -> member.assign(List.of(first)));
                    stage.run("pattern after subscribe", () -> member.subscribe(Pattern.compile("x")));
                    stage.run("subscribe to null", () -> member.subscribe((List<String>) null));
                    stage.run("subscribe to an empty name", () -> member.subscribe(List.of(" ")));
                    stage.note("subscription", member.subscription());
                    stage.run("subscribe to nothing", () -> member.subscribe(List.of()));
                    stage.note("subscription", member.subscription());
                    stage.run("assign null", () -> member.assign(null));
                    stage.run("assign a nameless", () -> member.assign(List.of(partition("", 0))));
                    stage.run("assign nothing", () -> member.assign(List.of()));
                    stage.run("null callback listener", () -> member.subscribe(List.of(topic), null));
                    stage.call("position of what is not assigned", () -> member.position(first));
                    stage.call("offsets for negative times", () -> member.offsetsForTimes(Map.of(first, -1L)));
                    stage.call("lag of what is not assigned", () -> member.currentLag(first));
                },
                """
                poll throws: IllegalStateException
                subscribe without group throws: InvalidGroupIdException
                poll subscribed throws: IllegalStateException
                assign: done
                subscribe after assign throws: InvalidGroupIdException
                commit throws: InvalidGroupIdException
                commit of something throws: InvalidGroupIdException
                commit in the background throws: InvalidGroupIdException
                committed throws: InvalidGroupIdException
                metadata throws: InvalidGroupIdException
                subscribe: done
                assign after subscribe throws: IllegalStateException
                pattern after subscribe throws: IllegalStateException
                subscribe to null throws: IllegalArgumentException
                subscribe to an empty name throws: IllegalArgumentException
                subscription: [place]
                subscribe to nothing: done
                subscription: []
                assign null throws: IllegalArgumentException
                assign a nameless throws: IllegalArgumentException
                assign nothing: done
                null callback listener throws: IllegalArgumentException
                position of what is not assigned throws: IllegalStateException
                offsets for negative times throws: IllegalArgumentException
                lag of what is not assigned throws: IllegalStateException
                """);
    }

    @Test
    @DisplayName("Ends, beginnings and times are answered for any partition that exists")
    void offsets() {
        playWithEachProtocol(
                stage -> {
                    String topic = stage.topic("offsets", 2);
                    TopicPartition first = partition(topic, 0);
                    TopicPartition second = partition(topic, 1);
                    var producer = stage.producer();
                    for (long time : new long[] {1_000, 3_000, 2_000, 5_000}) {
                        Stage.get(producer.send(new ProducerRecord<>(topic, 0, time, null, new byte[1])));
                    }
                    var consumer = stage.consumer("default.api.timeout.ms", 1500);
                    stage.call("ends", () -> consumer.endOffsets(List.of(first, second)));
                    stage.call("beginnings", () -> consumer.beginningOffsets(List.of(first, second)));
                    for (long time : new long[] {0, 1_000, 1_500, 2_500, 3_001, 5_000, 5_001}) {
                        stage.call("since " + time, () -> consumer.offsetsForTimes(Map.of(first, time, second, time)));
                    }
                    stage.call("ends of nothing", () -> consumer.endOffsets(List.of()));
                    stage.kafka().trim(topic, 0, 2);
                    stage.call("beginnings of the trimmed", () -> consumer.beginningOffsets(List.of(first)));
                    stage.call("since 0", () -> consumer.offsetsForTimes(Map.of(first, 0L)));
                    Duration brief = Duration.ofMillis(300);
                    TopicPartition missing = partition(stage.name("missing"), 0);
                    stage.call("ends of a missing topic", () -> consumer.endOffsets(List.of(missing), brief));
                    stage.call(
                            "ends of a missing partition",
                            () -> consumer.endOffsets(List.of(partition(topic, 7)), brief));
                    stage.call(
                            "beginnings of a missing topic", () -> consumer.beginningOffsets(List.of(missing), brief));
                    stage.call("times of a missing topic", () -> consumer.offsetsForTimes(Map.of(missing, 0L), brief));
                },
                """
                ends: {offsets-0=4, offsets-1=0}
                beginnings: {offsets-0=0, offsets-1=0}
                since 0: {offsets-0=0 of 1000 epoch 0, offsets-1=null}
                since 1000: {offsets-0=0 of 1000 epoch 0, offsets-1=null}
                since 1500: {offsets-0=1 of 3000 epoch 0, offsets-1=null}
                since 2500: {offsets-0=1 of 3000 epoch 0, offsets-1=null}
                since 3001: {offsets-0=3 of 5000 epoch 0, offsets-1=null}
                since 5000: {offsets-0=3 of 5000 epoch 0, offsets-1=null}
                since 5001: {offsets-0=null, offsets-1=null}
                ends of nothing: {}
                beginnings of the trimmed: {offsets-0=2}
                since 0: {offsets-0=2 of 2000 epoch 0}
                ends of a missing topic throws: TimeoutException
                ends of a missing partition throws: TimeoutException
                beginnings of a missing topic throws: TimeoutException
                times of a missing topic throws: TimeoutException
                """);
    }

    @Test
    @DisplayName("Topics and partitions can be listed; one that is missing has no partitions")
    void metadata() {
        playWithEachProtocol(
                stage -> {
                    String topic = stage.topic("listed", 3);
                    var consumer = stage.consumer("default.api.timeout.ms", 1500);
                    stage.call("partitions", () -> consumer.partitionsFor(topic));
                    stage.call(
                            "of a missing topic",
                            () -> consumer.partitionsFor(stage.name("missing"), Duration.ofSeconds(1)));
                    stage.call(
                            "of an illegal name",
                            () -> consumer.partitionsFor(stage.name("il/legal"), Duration.ofSeconds(1)));
                    stage.call("listed", () -> consumer.listTopics().get(topic));
                    stage.call("missing listed", () -> consumer.listTopics().containsKey(stage.name("missing")));
                },
                """
                partitions: [listed-0, listed-1, listed-2]
                of a missing topic: []
                of an illegal name throws: InvalidTopicException[]
                listed: [listed-0, listed-1, listed-2]
                missing listed: false
                """);
    }

    @Test
    @DisplayName("Nothing comes of a topic that does not exist, and what comes later is read; an illegal name throws")
    void missingTopic() {
        playWithEachProtocol(
                stage -> {
                    var consumer = stage.consumer("metadata.max.age.ms", 200);
                    TopicPartition missing = partition(stage.name("later"), 0);
                    consumer.assign(List.of(missing));
                    stage.call(
                            "poll", () -> consumer.poll(Duration.ofMillis(300)).count());
                    stage.call("position", () -> consumer.position(missing, Duration.ofMillis(300)));
                    stage.topic("later", 1);
                    stage.write(stage.name("later"), 0, "a");
                    stage.note("read", stage.values(consumer, 1));
                },
                """
                poll: 0
                position throws: TimeoutException
                read: [a]
                """);
    }

    @Test
    @DisplayName("A topic of an illegal name makes poll throw")
    void illegalTopic() {
        playWithEachProtocol(
                stage -> {
                    var consumer = stage.consumer("group.id", stage.name("g"));
                    consumer.subscribe(List.of(stage.name("il/legal")));
                    Throwable[] thrown = {null};
                    Stage.eventually("poll throws", () -> {
                        try {
                            consumer.poll(Duration.ofMillis(50));
                        } catch (RuntimeException e) {
                            thrown[0] = e;
                        }
                        return thrown[0] != null;
                    });
                    stage.note("poll throws", thrown[0]);
                },
                """
                poll throws: InvalidTopicException[il/legal]
                """);
    }

    @Test
    @DisplayName("Settings that make no sense are refused at construction")
    void settings() {
        play(
                stage -> {
                    for (String protocol : List.of("classic", "consumer")) {
                        stage.note(protocol);
                        Object[][] settings = {
                            {"auto.offset.reset", "soonest"},
                            {"auto.offset.reset", "by_duration:PT1H"},
                            {"auto.offset.reset", "by_duration:x"},
                            {"isolation.level", "read_some"},
                            {"max.poll.records", 0},
                            {"max.poll.records", "many"},
                            {"partition.assignment.strategy", "no.such.Assignor"},
                            {"partition.assignment.strategy", ""},
                            {"session.timeout.ms", 6000},
                            {"heartbeat.interval.ms", 500},
                            {"heartbeat.interval.ms", 60_000},
                            {"group.remote.assignor", "range"},
                            {"group.instance.id", ""},
                            {"enable.auto.commit", "maybe"},
                            {"enable.auto.commit", true},
                            {"no.such.setting", "x"},
                        };
                        for (Object[] setting : settings) {
                            stage.run(
                                    setting[0] + "=" + setting[1],
                                    () -> stage.kafka()
                                            .consumer(Stage.map(
                                                    "group.id",
                                                    stage.name("g"),
                                                    "group.protocol",
                                                    protocol,
                                                    setting[0],
                                                    setting[1]))
                                            .close());
                        }
                        stage.run(
                                "auto commit without group",
                                () -> stage.kafka()
                                        .consumer(Stage.map("group.protocol", protocol, "enable.auto.commit", true))
                                        .close());
                        stage.run(
                                "empty group",
                                () -> stage.kafka()
                                        .consumer(Stage.map("group.protocol", protocol, "group.id", ""))
                                        .close());
                    }
                    stage.run("group.protocol=socratic", () -> stage.consumer("group.protocol", "socratic"));
                },
                """
                classic
                auto.offset.reset=soonest throws: ConfigException
                auto.offset.reset=by_duration:PT1H: done
                auto.offset.reset=by_duration:x throws: ConfigException
                isolation.level=read_some throws: ConfigException
                max.poll.records=0 throws: ConfigException
                max.poll.records=many throws: ConfigException
                partition.assignment.strategy=no.such.Assignor throws: KafkaException by ClassNotFoundException
                partition.assignment.strategy=: done
                session.timeout.ms=6000: done
                heartbeat.interval.ms=500: done
                heartbeat.interval.ms=60000 throws: KafkaException by IllegalArgumentException
                group.remote.assignor=range throws: ConfigException
                group.instance.id= throws: ConfigException
                enable.auto.commit=maybe throws: ConfigException
                enable.auto.commit=true: done
                no.such.setting=x: done
                auto commit without group throws: InvalidConfigurationException
                empty group throws: KafkaException by InvalidGroupIdException
                consumer
                auto.offset.reset=soonest throws: ConfigException
                auto.offset.reset=by_duration:PT1H: done
                auto.offset.reset=by_duration:x throws: ConfigException
                isolation.level=read_some throws: ConfigException
                max.poll.records=0 throws: ConfigException
                max.poll.records=many throws: ConfigException
                partition.assignment.strategy=no.such.Assignor throws: ConfigException
                partition.assignment.strategy=: done
                session.timeout.ms=6000 throws: ConfigException
                heartbeat.interval.ms=500 throws: ConfigException
                heartbeat.interval.ms=60000 throws: ConfigException
                group.remote.assignor=range: done
                group.instance.id= throws: ConfigException
                enable.auto.commit=maybe throws: ConfigException
                enable.auto.commit=true: done
                no.such.setting=x: done
                auto commit without group throws: InvalidConfigurationException
                empty group throws: KafkaException by InvalidGroupIdException
                group.protocol=socratic throws: ConfigException
                """);
    }
}
