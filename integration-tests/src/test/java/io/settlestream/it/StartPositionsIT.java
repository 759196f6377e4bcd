package io.settlestream.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import io.settlestream.DecodePolicy;
import io.settlestream.ExceptionPolicy;
import io.settlestream.HandlerOutcome;
import io.settlestream.RunningApp;
import io.settlestream.StartupException;
import io.settlestream.Subscriber;
import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.kafka.StartOffset;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Where a subscription begins to read. */
class StartPositionsIT {

    private final LiveKafka kafka = LiveKafka.shared();
    private final String group = LiveKafka.unique("group");

    /** Offsets and values, as they were delivered. */
    private final List<String> seen = new CopyOnWriteArrayList<>();

    private Subscriber<String, Object> noting(KafkaTopic topic) {
        return Subscriber.on(topic, String.class).handle((value, context) -> {
            seen.add(context.partition() + "@" + context.offset() + "=" + value);
            return HandlerOutcome.ack();
        });
    }

    private void committed(String topic, long offset) {
        LiveKafka.eventually(
                "committed is " + offset, () -> kafka.committed0(group, topic).equals(Optional.of(offset)));
    }

    private void commit(String topic, long offset) {
        LiveKafka.get(kafka.admin()
                .alterConsumerGroupOffsets(group, Map.of(new TopicPartition(topic, 0), new OffsetAndMetadata(offset)))
                .all());
    }

    private void trim(String topic, long before) {
        LiveKafka.get(kafka.admin()
                .deleteRecords(Map.of(new TopicPartition(topic, 0), RecordsToDelete.beforeOffset(before)))
                .all());
    }

    @ParameterizedTest
    @CsvSource({"classic,EARLIEST", "consumer,EARLIEST", "classic,LATEST", "consumer,LATEST"})
    @DisplayName("3.7 a start that is not from a committed offset is committed before the first delivery")
    void commitsTheStartFirst(String protocol, StartOffset start) {
        String topic = kafka.topic("start", 1);
        kafka.produce(topic, 0, "a", "b", "c", "d");
        trim(topic, 2);
        long expected = start == StartOffset.EARLIEST ? 2 : 4;
        CountDownLatch release = new CountDownLatch(1);
        List<Optional<Long>> committedAtFirst = new CopyOnWriteArrayList<>();
        List<Long> delivered = new CopyOnWriteArrayList<>();
        Subscriber<String, Object> subscriber = Subscriber.on(
                        Service.tracked(topic, group, protocol)
                                .startOffset(start)
                                .config("auto.commit.interval.ms", 3_600_000),
                        String.class)
                .handle((value, context) -> {
                    committedAtFirst.add(kafka.committed0(group, topic));
                    delivered.add(context.offset());
                    Service.await(release);
                    return HandlerOutcome.ack();
                });

        // A service that comes to its end before anything is settled.
        try (RunningApp app = Service.start(kafka, Duration.ZERO, List.of(subscriber), mount -> {})) {
            kafka.produce(topic, 0, "e");
            LiveKafka.eventually("a delivery", () -> !delivered.isEmpty());
        } finally {
            release.countDown();
        }
        assertThat(committedAtFirst).containsExactly(Optional.of(expected));
        assertThat(kafka.committed0(group, topic)).contains(expected);

        // The next one misses nothing, whatever its own start is.
        kafka.produce(topic, 0, "f");
        try (RunningApp app = Service.start(
                kafka, noting(Service.tracked(topic, group, protocol).startOffset(StartOffset.LATEST)))) {
            committed(topic, 6);
        }
        assertThat(seen)
                .isEqualTo(
                        start == StartOffset.EARLIEST
                                ? List.of("0@2=c", "0@3=d", "0@4=e", "0@5=f")
                                : List.of("0@4=e", "0@5=f"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName(
            "3.7 Auto does not commit a start at once; it is a position like any other, committed on the interval and at close")
    void autoCommitsNoStartAtOnce(String protocol) {
        String topic = kafka.topic("auto-start", 1);
        String witness = kafka.topic("witness", 1);
        String witnessGroup = LiveKafka.unique("group");
        kafka.produce(topic, 0, "a", "b");
        kafka.produce(witness, 0, "w");
        KafkaTopic latest = Service.auto(topic, group, protocol)
                .startOffset(StartOffset.LATEST)
                .config("auto.commit.interval.ms", 3_600_000);

        try (RunningApp app = Service.start(
                kafka,
                List.of(noting(latest), noting(Service.tracked(witness, witnessGroup, protocol))),
                mount -> {})) {
            LiveKafka.eventually(
                    "the witness commits",
                    () -> kafka.committed0(witnessGroup, witness).equals(Optional.of(1L)));
            assertThat(kafka.committed(group, topic)).isEmpty();
        }

        assertThat(kafka.committed0(group, topic)).contains(2L);
    }

    @ParameterizedTest
    @EnumSource(StartOffset.class)
    @DisplayName("9.2 StartOffset does not apply where the group has committed an offset")
    void committedComesFirst(StartOffset start) {
        String topic = kafka.topic("committed", 1);
        kafka.produce(topic, 0, "a", "b", "c");
        commit(topic, 1);

        try (RunningApp app = Service.start(
                kafka, noting(Service.tracked(topic, group, "classic").startOffset(start)))) {
            committed(topic, 3);
        }

        assertThat(seen).containsExactly("0@1=b", "0@2=c");
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("9.2 StartOffset.COMMITTED without a committed offset fails the start and says why")
    void committedIsNeeded(String protocol) {
        String topic = kafka.topic("nothing-committed", 1);

        assertThatThrownBy(() -> Service.start(
                        kafka, noting(Service.tracked(topic, group, protocol).startOffset(StartOffset.COMMITTED))))
                .isInstanceOf(StartupException.class)
                .hasMessageContaining(group)
                .hasMessageContaining(topic + "-0")
                .hasMessageContaining("COMMITTED");
        assertThat(kafka.committed(group, topic)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"classic,LATEST", "consumer,LATEST", "classic,COMMITTED", "consumer,COMMITTED"})
    @DisplayName("3.10 partitions that are added later begin at earliest")
    void addedPartitionsBeginAtEarliest(String protocol, StartOffset start) {
        String topic = kafka.topic("grows", 1);
        kafka.produce(topic, 0, "old");
        if (start == StartOffset.COMMITTED) {
            commit(topic, 1);
        }

        try (RunningApp app = Service.start(
                kafka, noting(Service.tracked(topic, group, protocol).startOffset(start)))) {
            LiveKafka.get(kafka.admin()
                    .createPartitions(Map.of(topic, NewPartitions.increaseTo(2)))
                    .all());
            LiveKafka.eventually("the partition has a leader", () -> kafka.hasLeader(topic, 1));
            kafka.produce(topic, 1, "first");
            LiveKafka.eventually(
                    "the new partition is read",
                    () -> kafka.committed(group, topic).equals(Map.of(0, 1L, 1, 1L)));
        }

        assertThat(seen).containsExactly("1@0=first");
    }

    @ParameterizedTest
    @CsvSource({"classic,LATEST", "consumer,LATEST", "classic,COMMITTED"})
    @DisplayName("3.10, 9.3 a topic that appears later is joined and begins at earliest")
    void aLaterTopicBeginsAtEarliest(String protocol, StartOffset start) {
        String topic = LiveKafka.unique("appears");

        try (RunningApp app = Service.start(
                kafka, noting(Service.tracked(topic, group, protocol).startOffset(start)))) {
            assertThat(app.health().healthy()).isTrue();
            kafka.create(topic, 1);
            kafka.produce(topic, 0, "first");
            committed(topic, 1);
        }

        assertThat(seen).containsExactly("0@0=first");
    }

    @ParameterizedTest
    @CsvSource({
        "classic,LATEST,tracked",
        "consumer,LATEST,tracked",
        "classic,EARLIEST,tracked",
        "classic,LATEST,auto",
        "consumer,COMMITTED,auto"
    })
    @DisplayName("3.10 committed below the log start: goes on at the log start, warns, counts, never jumps to the end")
    void goesOnAtTheLogStart(String protocol, StartOffset start, String mode) {
        String topic = kafka.topic("trimmed", 1);
        kafka.produce(topic, 0, "a", "b", "c", "d", "e");
        commit(topic, 1);
        trim(topic, 3);
        KafkaTopic source = Service.tracked(topic, group, protocol)
                .commit(mode.equals("auto") ? Commit.auto() : Commit.tracked())
                .startOffset(start);

        try (LogWatch log = LogWatch.on("io.settlestream.internal.poll.StartPositions");
                RunningApp app = Service.start(kafka, noting(source))) {
            committed(topic, 5);
            assertThat(Service.only(app).counts().trimmed()).isEqualTo(1);
            assertThat(log.lines(Level.WARN)).anyMatch(line -> line.contains(topic + "-0"));
        }

        assertThat(seen).containsExactly("0@3=d", "0@4=e");
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("3.2, 3.10 a log that is trimmed to its end leaves no lag behind")
    void aLogTrimmedToItsEnd(String protocol) {
        String topic = kafka.topic("emptied", 1);
        kafka.produce(topic, 0, "a", "b", "c");
        commit(topic, 1);
        trim(topic, 3);

        try (RunningApp app = Service.start(kafka, noting(Service.tracked(topic, group, protocol)))) {
            committed(topic, 3);
            kafka.produce(topic, 0, "d");
            committed(topic, 4);
        }

        assertThat(seen).containsExactly("0@3=d");
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("3.1 committed past the log end: goes on at the end, and the committed offset comes back to it")
    void committedPastTheEnd(String protocol) {
        String topic = kafka.topic("truncated", 1);
        kafka.produce(topic, 0, "a", "b", "c");
        commit(topic, 100);

        try (RunningApp app = Service.start(kafka, noting(Service.tracked(topic, group, protocol)))) {
            committed(topic, 3);
            kafka.produce(topic, 0, "d");
            committed(topic, 4);
        }

        assertThat(seen).containsExactly("0@3=d");
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("3.10 a log that is trimmed under a running service that is behind: on at the log start")
    void trimmedWhileBehind(String protocol) {
        String topic = kafka.topic("behind", 1);
        for (int i = 0; i < 10; i++) {
            kafka.produce(topic, 0, Integer.toString(i));
        }
        CountDownLatch release = new CountDownLatch(1);
        Subscriber<String, Object> subscriber = Subscriber.on(
                        Service.tracked(topic, group, protocol)
                                .config("max.poll.records", 1)
                                .config("max.partition.fetch.bytes", 1),
                        String.class)
                .handle((value, context) -> {
                    seen.add(value);
                    Service.await(release);
                    return HandlerOutcome.ack();
                });

        try (RunningApp app = Service.start(kafka, subscriber, mount -> mount.inFlightLimit(1, 1 << 20))) {
            LiveKafka.eventually("the first is being handled", () -> seen.contains("0"));
            trim(topic, 8);
            release.countDown();
            committed(topic, 10);
            assertThat(Service.only(app).counts().trimmed()).isEqualTo(1);
        } finally {
            release.countDown();
        }

        // What had been fetched before the trimming is still handled.
        assertThat(seen).startsWith("0").endsWith("8", "9").doesNotContain("7").doesNotHaveDuplicates();
    }

    @Test
    @DisplayName("3.9 enable.auto.commit is refused under Tracked, and both are named; 2.3 what Auto cannot do as well")
    void refusals() {
        String topic = kafka.topic("refused", 1);

        for (boolean value : new boolean[] {true, false}) {
            assertThatThrownBy(() -> Service.start(
                            kafka,
                            noting(Service.tracked(topic, group, "classic").config("enable.auto.commit", value))))
                    .isInstanceOfSatisfying(
                            StartupException.class,
                            refused -> assertThat(refused.problems())
                                    .singleElement()
                                    .asString()
                                    .contains("enable.auto.commit")
                                    .contains("Commit.tracked()"));
        }
        assertThatThrownBy(() -> Service.start(
                        kafka,
                        noting(Service.auto(topic, group, "classic")),
                        mount -> mount.onException(ExceptionPolicy.RETRY).onDecodeFailure(DecodePolicy.RETRY)))
                .isInstanceOfSatisfying(
                        StartupException.class,
                        refused -> assertThat(refused.problems())
                                .hasSize(2)
                                .allMatch(problem -> problem.contains("RETRY") && problem.contains("Commit.auto()")));
    }
}
