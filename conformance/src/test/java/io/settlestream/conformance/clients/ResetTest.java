package io.settlestream.conformance.clients;

import static io.settlestream.conformance.clients.BothKafkas.playWithEachProtocol;
import static io.settlestream.conformance.clients.Stage.partition;
import static io.settlestream.conformance.clients.Stage.partitions;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.CONCURRENT)
class ResetTest {

    @Test
    @DisplayName("Without a committed offset, the reset policy decides; with none, poll and position throw")
    void withoutPosition() {
        playWithEachProtocol(
                stage -> {
                    String topic = stage.topic("start", 2);
                    TopicPartition first = partition(topic, 0);
                    stage.write(topic, 0, "a", "b", "c");
                    for (String policy : List.of("earliest", "latest", "none")) {
                        var consumer = stage.consumer(
                                "auto.offset.reset",
                                policy,
                                "group.id",
                                stage.name(policy),
                                "default.api.timeout.ms",
                                5000);
                        consumer.assign(partitions(topic, 2));
                        stage.call(policy + " position", () -> consumer.position(first));
                        stage.call(
                                policy + " poll",
                                () -> policy.equals("latest") ? nothing(consumer) : untilRecords(consumer));
                        stage.call(
                                policy + " poll again",
                                () -> policy.equals("none") ? untilRecords(consumer) : nothing(consumer));
                        stage.run(policy + " seek", () -> {
                            consumer.seek(first, 1);
                            consumer.seek(partition(topic, 1), 0);
                        });
                        stage.note(policy + " read", stage.values(consumer, 2));
                    }
                },
                """
                earliest position: 0
                earliest poll: [start-0[0'a', 1'b', 2'c']]
                earliest poll again: nothing
                earliest seek: done
                earliest read: [b, c]
                latest position: 3
                latest poll: nothing
                latest poll again: nothing
                latest seek: done
                latest read: [b, c]
                none position throws: NoOffsetForPartitionException[start-0, start-1]
                none poll throws: NoOffsetForPartitionException[start-0, start-1]
                none poll again throws: NoOffsetForPartitionException[start-0, start-1]
                none seek: done
                none read: [b, c]
                """);
    }

    @Test
    @DisplayName("A position beyond the log's ends is reset by policy; with none, poll throws and says which")
    void outOfRange() {
        playWithEachProtocol(
                stage -> {
                    String topic = stage.topic("range", 2);
                    TopicPartition first = partition(topic, 0);
                    stage.write(topic, 0, "a", "b", "c", "d");
                    stage.kafka().trim(topic, 0, 2);
                    for (String policy : List.of("earliest", "latest", "none")) {
                        for (long offset : new long[] {0, 9}) {
                            var consumer = stage.consumer("auto.offset.reset", policy);
                            consumer.assign(List.of(first));
                            consumer.seek(first, offset);
                            stage.call("position", () -> consumer.position(first));
                            stage.call(policy + " from " + offset, () -> {
                                if (policy.equals("latest")) {
                                    stage.pollUntil("reset", consumer, () -> consumer.position(first) == 4);
                                    return "reset";
                                }
                                return untilRecords(consumer);
                            });
                            stage.call("position", () -> consumer.position(first));
                            stage.call(
                                    "poll again", () -> policy.equals("none") ? untilRecords(consumer) : "not asked");
                        }
                    }
                },
                """
                position: 0
                earliest from 0: [range-0[2'c', 3'd']]
                position: 4
                poll again: not asked
                position: 9
                earliest from 9: [range-0[2'c', 3'd']]
                position: 4
                poll again: not asked
                position: 0
                latest from 0: reset
                position: 4
                poll again: not asked
                position: 9
                latest from 9: reset
                position: 4
                poll again: not asked
                position: 0
                none from 0 throws: OffsetOutOfRangeException{range-0=0}
                position: 0
                poll again throws: OffsetOutOfRangeException{range-0=0}
                position: 9
                none from 9 throws: OffsetOutOfRangeException{range-0=9}
                position: 9
                poll again throws: OffsetOutOfRangeException{range-0=9}
                """);
    }

    @Test
    @DisplayName("A log that is trimmed under a reader takes it to the new start")
    void trimmed() {
        playWithEachProtocol(
                stage -> {
                    String topic = stage.topic("trimmed", 1);
                    TopicPartition first = partition(topic, 0);
                    stage.write(topic, 0, "a", "b", "c", "d");
                    var consumer = stage.consumer();
                    consumer.assign(List.of(first));
                    consumer.seek(first, 1);
                    stage.kafka().trim(topic, 0, 3);
                    stage.note("read", stage.values(consumer, 1));
                    stage.kafka().trim(topic, 0, 4);
                    consumer.seek(first, 3);
                    stage.write(topic, 0, "e");
                    stage.note("read", stage.values(consumer, 1));
                    stage.call(
                            "range",
                            () -> consumer.beginningOffsets(List.of(first)) + " "
                                    + consumer.endOffsets(List.of(first)));
                },
                """
                read: [d]
                read: [e]
                range: {trimmed-0=4} {trimmed-0=5}
                """);
    }

    @Test
    @DisplayName("Seeking to the end of the log is in range: nothing comes until something is written")
    void atTheEnd() {
        playWithEachProtocol(
                stage -> {
                    String topic = stage.topic("atend", 1);
                    TopicPartition first = partition(topic, 0);
                    stage.write(topic, 0, "a", "b");
                    var consumer = stage.consumer("auto.offset.reset", "none");
                    consumer.assign(List.of(first));
                    consumer.seek(first, 2);
                    stage.call(
                            "poll", () -> consumer.poll(Duration.ofMillis(200)).count());
                    stage.write(topic, 0, "c");
                    stage.note("read", stage.values(consumer, 1));
                },
                """
                poll: 0
                read: [c]
                """);
    }

    @Test
    @DisplayName("A committed offset out of range is treated like any position out of range")
    void committedOutOfRange() {
        playWithEachProtocol(
                stage -> {
                    String topic = stage.topic("stale", 1);
                    TopicPartition first = partition(topic, 0);
                    stage.write(topic, 0, "a", "b", "c");
                    var consumer = stage.consumer("group.id", stage.name("g"));
                    consumer.assign(List.of(first));
                    consumer.commitSync(Map.of(first, new OffsetAndMetadata(1)));
                    stage.kafka().trim(topic, 0, 2);
                    var strict = stage.consumer("group.id", stage.name("g"), "auto.offset.reset", "none");
                    strict.assign(List.of(first));
                    stage.call("position", () -> strict.position(first));
                    stage.call("strict", () -> untilRecords(strict));
                    stage.note("earliest", stage.values(consumer, 1));
                    stage.call("committed", () -> consumer.committed(Set.of(first)));
                },
                """
                position: 1
                strict throws: OffsetOutOfRangeException{stale-0=1}
                earliest: [c]
                committed: {stale-0=1 '' epoch none}
                """);
    }

    /** What polls bring, unless they throw. */
    private static Object untilRecords(Consumer<byte[], byte[]> consumer) {
        return untilRecords(consumer, Stage.PATIENCE);
    }

    /** What polls bring although they should bring nothing. */
    private static Object nothing(Consumer<byte[], byte[]> consumer) {
        return untilRecords(consumer, Duration.ofMillis(300));
    }

    private static Object untilRecords(Consumer<byte[], byte[]> consumer, Duration patience) {
        long start = System.nanoTime();
        while (System.nanoTime() - start < patience.toNanos()) {
            var records = consumer.poll(Duration.ofMillis(50));
            if (!records.isEmpty()) {
                return records;
            }
        }
        return "nothing";
    }
}
