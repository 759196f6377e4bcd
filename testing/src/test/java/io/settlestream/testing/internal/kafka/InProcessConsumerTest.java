package io.settlestream.testing.internal.kafka;

import static io.settlestream.testing.internal.kafka.TestConsumers.LONG;
import static io.settlestream.testing.internal.kafka.TestConsumers.member;
import static io.settlestream.testing.internal.kafka.TestConsumers.offset;
import static io.settlestream.testing.internal.kafka.TestConsumers.partition;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.ConcurrentModificationException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.NoOffsetForPartitionException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.clients.consumer.RetriableCommitFailedException;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.CoordinatorNotAvailableException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.InvalidGroupIdException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.WakeupException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(30)
class InProcessConsumerTest {

    private final TestConsumers test = new TestConsumers();

    @BeforeEach
    void createTopic() {
        test.kafka.createTopic("topic", 2, Map.of());
    }

    @AfterEach
    void close() {
        test.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("a member is assigned all partitions, reads what comes, and what it commits outlives it")
    void oneMember(String protocol) {
        Consumer<byte[], byte[]> consumer = test.subscribed("a", member(protocol));
        test.publish(0, "x", "y");

        ConsumerRecords<byte[], byte[]> records = consumer.poll(LONG);

        assertThat(records.count()).isEqualTo(2);
        assertThat(records.nextOffsets()).containsEntry(partition(0), offset(2));
        consumer.commitSync();
        assertThat(consumer.committed(Set.of(partition(0)))).containsEntry(partition(0), offset(2));
        consumer.close();
        assertThat(test.heard).containsExactly("a assigned [topic-0, topic-1]", "a revoked [topic-0, topic-1]");
        assertThat(test.kafka.committed("g")).containsEntry(partition(0), offset(2));
        Consumer<byte[], byte[]> next = test.subscribed("b", member(protocol));
        test.settle(next);
        assertThat(next.position(partition(0))).isEqualTo(2);
    }

    @Test
    @DisplayName("a consumer without a group reads what it assigns to itself, and cannot commit")
    void assign() {
        test.publish(0, "x", "y");
        Consumer<byte[], byte[]> consumer = test.consumer(Map.of());
        consumer.assign(List.of(partition(0)));
        consumer.seek(partition(0), 1);

        assertThat(test.poll(consumer, LONG)).containsExactly("y");

        assertThat(consumer.position(partition(0))).isEqualTo(2);
        assertThatThrownBy(consumer::commitSync).isInstanceOf(InvalidGroupIdException.class);
        assertThatThrownBy(() -> consumer.subscribe(List.of("topic"))).isInstanceOf(InvalidGroupIdException.class);
    }

    @Test
    @DisplayName("a poll brings at most max.poll.records, of one partition after the other")
    void pollSize() {
        test.publish(0, "a", "b", "c");
        test.publish(1, "d", "e");
        Consumer<byte[], byte[]> consumer = manual(Map.of("max.poll.records", 2));

        assertThat(test.poll(consumer, LONG)).containsExactly("a", "b");
        assertThat(test.poll(consumer, LONG)).containsExactly("c", "d");
        assertThat(test.poll(consumer, LONG)).containsExactly("e");
    }

    @Test
    @DisplayName("a fetch brings at most max.partition.fetch.bytes of a partition, but always a record")
    void fetchSize() {
        test.publish(0, "a", "b");
        test.publish(1, "c");
        Consumer<byte[], byte[]> consumer = manual(Map.of("max.partition.fetch.bytes", 1));

        assertThat(test.poll(consumer, LONG)).containsExactly("a", "c");
        assertThat(test.poll(consumer, LONG)).containsExactly("b");
    }

    @Test
    @DisplayName(
            "what was fetched of a partition that is paused comes when it is resumed, unless it was sought elsewhere")
    void pause() {
        test.publish(0, "a", "b", "c", "d");
        Consumer<byte[], byte[]> consumer = manual(Map.of("max.poll.records", 1));
        assertThat(test.poll(consumer, LONG)).containsExactly("a");

        consumer.pause(Set.of(partition(0)));
        test.publish(1, "x");
        assertThat(test.poll(consumer, LONG)).containsExactly("x");
        assertThat(test.poll(consumer, Duration.ZERO)).isEmpty();
        assertThat(consumer.paused()).containsExactly(partition(0));
        consumer.resume(Set.of(partition(0)));
        assertThat(test.poll(consumer, LONG)).containsExactly("b");
        consumer.seek(partition(0), 3);
        assertThat(test.poll(consumer, LONG)).containsExactly("d");
    }

    @Test
    @DisplayName(
            "a reader of committed records stops at an open transaction, and passes an aborted one without a record")
    void transactions() {
        Consumer<byte[], byte[]> consumer = manual(Map.of("isolation.level", "read_committed"));
        Produce.Sender producer = new Produce.Sender(1, (short) 0, 0, true);
        Produce.NewRecord record = new Produce.NewRecord(
                0, null, new byte[] {1}, new ProducerRecord<byte[], byte[]>("topic", new byte[0]).headers());
        Cluster cluster = test.kafka.cluster();
        cluster.change(() -> {
            var unused = log().append(new Produce(producer, List.of(record), 100));
        });
        assertThat(test.poll(consumer, Duration.ofSeconds(1))).isEmpty();
        assertThat(consumer.endOffsets(Set.of(partition(0)))).containsEntry(partition(0), 0L);
        cluster.change(() -> log().endTransaction(1, (short) 0, false));

        ConsumerRecords<byte[], byte[]> records = consumer.poll(LONG);

        assertThat(records.isEmpty()).isTrue();
        assertThat(records.nextOffsets().get(partition(0)).offset()).isEqualTo(2);
        assertThat(consumer.position(partition(0))).isEqualTo(2);
    }

    @Test
    @DisplayName("offsets of an open transaction hold up those who ask for them, until it has ended")
    void pendingOffsets() {
        Consumer<byte[], byte[]> consumer = test.consumer(Map.of("group.id", "g"));
        Cluster cluster = test.kafka.cluster();
        cluster.change(() -> cluster.groups().addPending(1, GroupIdentity.none("g"), Map.of(partition(0), offset(3))));
        assertThatThrownBy(() -> consumer.committed(Set.of(partition(0)), Duration.ofSeconds(1)))
                .isInstanceOf(TimeoutException.class);
        assertThat(consumer.committed(Set.of(partition(1)))).containsEntry(partition(1), null);
        Consumer<byte[], byte[]> reads = test.subscribed("a", member("classic"));
        test.publish(0, "x", "y", "z", "w");
        assertThat(test.poll(reads, Duration.ofSeconds(1))).isEmpty();

        cluster.change(() -> cluster.groups().complete(1, true));

        assertThat(test.poll(reads, LONG)).containsExactly("w");
        assertThat(consumer.committed(Set.of(partition(0)))).containsEntry(partition(0), offset(3));
    }

    @Test
    @DisplayName("a position that the log does not have is reset, or asked of the application")
    void outOfRange() {
        test.publish(0, "a", "b", "c");
        test.kafka.trim(partition(0), 2);
        Consumer<byte[], byte[]> resets = manual(Map.of());
        resets.seek(partition(0), 0);
        assertThat(test.poll(resets, LONG)).containsExactly("c");

        Consumer<byte[], byte[]> asks = manual(Map.of("auto.offset.reset", "none"));
        asks.seek(partition(0), 1);
        asks.seek(partition(1), 0);
        assertThatThrownBy(() -> asks.poll(LONG))
                .isInstanceOfSatisfying(
                        OffsetOutOfRangeException.class,
                        e -> assertThat(e.offsetOutOfRangePartitions()).containsExactly(Map.entry(partition(0), 1L)));
    }

    @Test
    @DisplayName("without a committed offset the reset policy decides, and none asks the application")
    void reset() {
        test.publish(0, "a");
        test.time.drive(() -> false, test.time.nanoTime() + Duration.ofHours(2).toNanos(), () -> false);
        test.publish(0, "b");
        assertThat(position("earliest")).isEqualTo(0);
        assertThat(position("latest")).isEqualTo(2);
        assertThat(position("by_duration:PT1H")).isEqualTo(1);
        assertThatThrownBy(() -> position("none"))
                .isInstanceOfSatisfying(
                        NoOffsetForPartitionException.class,
                        e -> assertThat(e.partitions()).containsExactlyInAnyOrder(partition(0), partition(1)));
    }

    private long position(String reset) {
        return manual(Map.of("auto.offset.reset", reset)).position(partition(0));
    }

    @Test
    @DisplayName("a wake-up ends the poll that waits, or the next one")
    void wakeup() {
        Consumer<byte[], byte[]> consumer = manual(Map.of());
        consumer.wakeup();
        assertThatThrownBy(() -> consumer.poll(LONG)).isInstanceOf(WakeupException.class);

        test.time.schedule(Duration.ofSeconds(1), consumer::wakeup);
        long before = test.time.nanoTime();
        assertThatThrownBy(() -> consumer.poll(LONG)).isInstanceOf(WakeupException.class);
        assertThat(test.time.nanoTime() - before)
                .isEqualTo(Duration.ofSeconds(1).toNanos());
        assertThat(test.poll(consumer, Duration.ZERO)).isEmpty();
    }

    @Test
    @DisplayName("an interrupt ends a poll that waits, and stays set")
    void interrupted() {
        Consumer<byte[], byte[]> consumer = manual(Map.of());
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> consumer.poll(LONG)).isInstanceOf(InterruptException.class);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    @DisplayName("a second thread is refused while one uses the consumer")
    void twoThreads() {
        Consumer<byte[], byte[]> consumer = manual(Map.of());
        AtomicReference<Throwable> refused = new AtomicReference<>();
        Thread unused = test.time.start("other", () -> {
            try {
                consumer.paused();
            } catch (ConcurrentModificationException e) {
                refused.set(e);
            }
        });

        consumer.poll(Duration.ofSeconds(1));

        assertThat(refused.get()).isInstanceOf(ConcurrentModificationException.class);
    }

    @Test
    @DisplayName("callbacks of commits run in order, in later calls on the thread that makes them")
    void commitAsync() {
        Consumer<byte[], byte[]> consumer = test.subscribed("a", member("classic"));
        test.settle(consumer);
        List<String> called = new ArrayList<>();
        test.kafka.faults().next(Faults.Request.OFFSET_COMMIT, "g", new Fault.Delay(Duration.ofSeconds(2)));

        consumer.commitAsync(Map.of(partition(0), offset(1)), (offsets, e) -> called.add("first " + e));
        consumer.commitAsync(Map.of(partition(0), offset(2)), (offsets, e) -> called.add("second " + e));

        assertThat(called).isEmpty();
        List<String> unused = test.poll(consumer, Duration.ofSeconds(1));
        assertThat(called).isEmpty();
        consumer.commitSync(Map.of(partition(0), offset(3)));
        assertThat(called).containsExactly("first null", "second null");
        assertThat(test.kafka.committed("g")).containsEntry(partition(0), offset(3));
    }

    @Test
    @DisplayName("a commit that fails for a while is repeated by commitSync, and reported as retriable to a callback")
    void commitFaults() {
        Consumer<byte[], byte[]> consumer = test.subscribed("a", member("classic"));
        test.settle(consumer);
        Fault fault = new Fault.Fail(new CoordinatorNotAvailableException("moving"));
        test.kafka.faults().on(Faults.Request.OFFSET_COMMIT, "g", 1, 3, fault);

        consumer.commitSync(Map.of(partition(0), offset(1)));
        assertThat(test.kafka.committed("g")).containsEntry(partition(0), offset(1));

        test.kafka.faults().on(Faults.Request.OFFSET_COMMIT, "g", 1, Integer.MAX_VALUE, fault);
        assertThatThrownBy(() -> consumer.commitSync(Map.of(partition(0), offset(2)), Duration.ofSeconds(1)))
                .isInstanceOf(TimeoutException.class);
        List<Exception> failures = new ArrayList<>();
        consumer.commitAsync(Map.of(partition(0), offset(2)), (offsets, e) -> failures.add(e));
        test.settle(consumer);
        assertThat(failures).singleElement().isInstanceOf(RetriableCommitFailedException.class);
        test.kafka.faults().clear();

        test.kafka.faults().next(Faults.Request.OFFSET_COMMIT, "g", new Fault.LoseAnswer());
        consumer.commitSync(Map.of(partition(0), offset(4)));
        assertThat(test.kafka.committed("g")).containsEntry(partition(0), offset(4));
    }

    @Test
    @DisplayName("a fetch that fails is made again, or its error comes out of the poll")
    void fetchFaults() {
        test.publish(0, "a");
        Consumer<byte[], byte[]> consumer = manual(Map.of());
        test.kafka.faults().next(Faults.Request.FETCH, "topic", new Fault.Delay(Duration.ofSeconds(3)));
        long before = test.time.nanoTime();
        assertThat(test.poll(consumer, LONG)).containsExactly("a");
        assertThat(test.time.nanoTime() - before)
                .isEqualTo(Duration.ofSeconds(3).toNanos());

        test.publish(0, "b");
        test.kafka
                .faults()
                .next(Faults.Request.FETCH, "topic", new Fault.Fail(new TopicAuthorizationException(Set.of("topic"))));
        assertThatThrownBy(() -> consumer.poll(LONG)).isInstanceOf(TopicAuthorizationException.class);
        assertThat(test.poll(consumer, LONG)).containsExactly("b");
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("positions are committed automatically when it is time, before partitions go, and at the close")
    void autoCommit(String protocol) {
        test.publish(0, "a", "b");
        Consumer<byte[], byte[]> consumer =
                test.subscribed("a", member(protocol, "enable.auto.commit", true, "max.poll.records", 1));
        assertThat(test.poll(consumer, LONG)).containsExactly("a");
        assertThat(test.kafka.committed("g")).doesNotContainEntry(partition(0), offset(1));
        consumer.pause(Set.of(partition(0)));
        assertThat(test.poll(consumer, Duration.ofSeconds(6))).isEmpty();
        assertThat(test.kafka.committed("g")).containsEntry(partition(0), offset(1));
        consumer.resume(Set.of(partition(0)));
        assertThat(test.poll(consumer, LONG)).containsExactly("b");
        consumer.close();
        assertThat(test.kafka.committed("g")).containsEntry(partition(0), offset(2));
    }

    @Test
    @DisplayName("only members commit to a group that has some")
    void strangers() {
        Consumer<byte[], byte[]> simple = test.consumer(Map.of("group.id", "g"));
        simple.assign(Set.of(partition(0)));
        simple.commitSync(Map.of(partition(0), offset(1)));
        Consumer<byte[], byte[]> member = test.subscribed("a", member("classic"));
        test.settle(member);

        assertThatThrownBy(() -> simple.commitSync(Map.of(partition(0), offset(2))))
                .isInstanceOf(CommitFailedException.class);
    }

    @Test
    @DisplayName("offsets are looked up by time, and an unknown partition takes all the time there is")
    void lookups() {
        test.publish(0, "a");
        long between = test.time.now().toEpochMilli() + 1;
        test.pass(Duration.ofSeconds(1));
        test.publish(0, "b");
        Consumer<byte[], byte[]> consumer = manual(Map.of());

        assertThat(consumer.offsetsForTimes(Map.of(partition(0), between, partition(1), between)))
                .hasEntrySatisfying(
                        partition(0), found -> assertThat(found.offset()).isEqualTo(1))
                .containsEntry(partition(1), null);
        assertThat(consumer.beginningOffsets(Set.of(partition(0)))).containsEntry(partition(0), 0L);
        assertThat(consumer.endOffsets(Set.of(partition(0)))).containsEntry(partition(0), 2L);
        assertThat(consumer.partitionsFor("topic")).hasSize(2);
        assertThat(consumer.listTopics()).containsOnlyKeys("topic");
        assertThatThrownBy(() -> consumer.endOffsets(Set.of(new TopicPartition("none", 0)), Duration.ofSeconds(1)))
                .isInstanceOf(TimeoutException.class);
    }

    @Test
    @DisplayName("the lag is what is left to read, once that is known")
    void lag() {
        test.publish(0, "a", "b", "c");
        Consumer<byte[], byte[]> consumer = manual(Map.of("max.poll.records", 1));
        assertThat(consumer.currentLag(partition(0))).isEmpty();
        assertThat(test.poll(consumer, LONG)).hasSize(1);
        assertThat(consumer.currentLag(partition(0))).hasValue(2);
    }

    @Test
    @DisplayName("topics are created only for a consumer that asks for it")
    void autoCreate() {
        Consumer<byte[], byte[]> plain = test.consumer(member("classic"));
        plain.subscribe(List.of("new"));
        test.settle(plain);
        assertThat(test.kafka.topics()).containsExactly("topic");

        plain.close();
        Consumer<byte[], byte[]> creates = test.consumer(member("classic", "allow.auto.create.topics", true));
        creates.subscribe(List.of("new"));
        test.settle(creates);
        assertThat(test.kafka.topics()).contains("new");
        assertThat(creates.assignment()).hasSize(1);
    }

    @Test
    @DisplayName("metadata of an offset is kept with it")
    void metadata() {
        Consumer<byte[], byte[]> consumer = test.consumer(Map.of("group.id", "g"));
        consumer.assign(Set.of(partition(0)));
        consumer.commitSync(Map.of(partition(0), new OffsetAndMetadata(1, "note")));
        assertThat(consumer.committed(Set.of(partition(0))).get(partition(0)).metadata())
                .isEqualTo("note");
    }

    @Test
    @DisplayName("what an application does to its record stays there")
    void copies() {
        test.publish(0, "a");
        Consumer<byte[], byte[]> consumer = manual(Map.of());
        consumer.poll(LONG).forEach(record -> {
            record.value()[0] = 'z';
            record.headers().add("mine", new byte[0]);
        });
        consumer.seek(partition(0), 0);
        consumer.poll(LONG).forEach(record -> {
            assertThat(record.value()).containsExactly('a');
            assertThat(record.headers()).isEmpty();
        });
    }

    @Test
    @DisplayName("a configuration that Kafka refuses is refused, and so are calls after the close")
    void refusals() {
        assertThatThrownBy(() -> test.consumer(Map.of("max.poll.records", 0))).isInstanceOf(ConfigException.class);
        Consumer<byte[], byte[]> consumer = manual(Map.of());
        assertThatThrownBy(() -> consumer.clientInstanceId(LONG))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("in-process Kafka");
        consumer.close();
        consumer.close();
        assertThatThrownBy(consumer::paused)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("This consumer has already been closed.");
    }

    private PartitionLog log() {
        return Objects.requireNonNull(test.kafka.cluster().log(partition(0)));
    }

    private Consumer<byte[], byte[]> manual(Map<String, Object> more) {
        Consumer<byte[], byte[]> consumer = test.consumer(more);
        consumer.assign(List.of(partition(0), partition(1)));
        return consumer;
    }
}
