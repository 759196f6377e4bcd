package io.settlestream.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.HandlerOutcome;
import io.settlestream.Health;
import io.settlestream.RunningApp;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How much is fetched, and how little is done while nothing can be. */
class FlowControlIT {

    private static final int MAX_POLL_INTERVAL_MS = 2_000;

    private final LiveKafka kafka = LiveKafka.shared();

    @ParameterizedTest
    @EnumSource(names = "CLASSIC_COOPERATIVE", mode = EnumSource.Mode.EXCLUDE)
    @DisplayName("5.2 a handler slower than max.poll.interval.ms keeps its member in the group")
    void slowHandlersAreNoReasonToLeave(GroupProtocol protocol) {
        try (Members members = new Members(
                kafka,
                1,
                topic -> protocol.apply(topic)
                        .config("max.poll.interval.ms", MAX_POLL_INTERVAL_MS)
                        .config("max.poll.records", 1))) {
            CountDownLatch release = members.latch();
            members.produce(5);
            RunningApp app = members.start(
                    "member",
                    mount -> mount.drainTimeout(Duration.ofMillis(500)).inFlightLimit(1, 1 << 20),
                    (value, context) -> {
                        release.await();
                        return HandlerOutcome.ack();
                    });
            LiveKafka.eventually("a handler runs", () -> members.ledger.begun().size() == 1);

            evictAMemberThatDoesNotPoll();
            release.countDown();
            members.awaitCommittedEnd();

            assertThat(Members.rebalances(app)).isEqualTo(1);
            assertThat(members.ledger.begun()).hasSize(5);
            assertThat(Members.health(app).counts().failedCommits()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName("5.2 what is open stays within a partition's share and one poll, in records and in bytes")
    void opensNoMoreThanItsShare(boolean byBytes) {
        int share = 10;
        int poll = 5;
        int bytes = 1_000;
        try (Members members = new Members(kafka, 2, topic -> topic.config("max.poll.records", poll))) {
            CountDownLatch release = members.latch();
            String value = "x".repeat(bytes);
            for (int i = 0; i < 100; i++) {
                kafka.produce(members.topic, 0, value);
                kafka.produce(members.topic, 1, value);
            }
            RunningApp app = members.start(
                    "member",
                    mount -> mount.workersByKey(2)
                            .inFlightLimit(byBytes ? 1_000 : 2 * share, byBytes ? 2L * share * bytes : 1 << 20),
                    (v, context) -> {
                        if (context.offset() == 0) {
                            release.await();
                        }
                        return HandlerOutcome.ack();
                    });
            LiveKafka.eventually(
                    "both partitions are paused",
                    () -> Members.health(app).partitions().stream()
                                    .filter(Health.Partition::paused)
                                    .count()
                            == 2);
            assertThat(Members.health(app).partitions()).allSatisfy(partition -> {
                assertThat(partition.openRecords()).isBetween((long) share, (long) share + poll);
                assertThat(partition.openBytes()).isEqualTo(partition.openRecords() * bytes);
            });

            release.countDown();
            members.awaitCommittedEnd();
            assertThat(members.ledger.begun()).hasSize(200);
        }
    }

    @Test
    @DisplayName("5.2 one blocked partition does not starve the other")
    void blockedPartitionStarvesNobody() {
        try (Members members = new Members(kafka, 2, topic -> topic.config("max.poll.records", 20))) {
            CountDownLatch release = members.latch();
            RunningApp app = members.start(
                    "member", mount -> mount.workersByKey(2).inFlightLimit(100, 1 << 20), (value, context) -> {
                        if (context.partition() == 0) {
                            release.await();
                        }
                        return HandlerOutcome.ack();
                    });
            members.produce(3_000);
            LiveKafka.eventually(
                    "the other partition flows", () -> members.committed().equals(Map.of(0, 0L, 1, 3_000L)));

            Health.Partition blocked = Members.health(app).partitions().stream()
                    .filter(partition -> partition.partition() == 0)
                    .findFirst()
                    .orElseThrow();
            assertThat(blocked.openRecords()).isBetween(50L, 70L);
            assertThat(blocked.oldestOpen()).hasValue(0L);
            release.countDown();
            members.awaitCommittedEnd();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    @DisplayName("5.3 a freed slot is used at once: a share of one record flows")
    void smallSharesFlow(int share) {
        try (Members members = new Members(
                kafka, 2, topic -> topic.config("max.poll.records", 1).config("group.protocol", "consumer"))) {
            members.produce(100);
            members.start(
                    "member",
                    mount -> mount.inFlightLimit(2 * share, 1 << 20),
                    (value, context) -> HandlerOutcome.ack());
            // Were each of the 200 to wait for the end of a fetch, this would outlast the patience.
            members.awaitCommittedEnd();
            assertThat(members.ledger.begun()).hasSize(200);
        }
    }

    @Test
    @DisplayName("5.3 room is used as long as a worker is idle, however much of the share is blocked")
    void idleWorkersUseTheRoom() {
        try (Members members = new Members(kafka, 1, topic -> topic.config("max.poll.records", 10))) {
            CountDownLatch release = members.latch();
            members.produce(200);
            members.start("member", mount -> mount.workers(9).inFlightLimit(10, 1 << 20), (value, context) -> {
                if (context.offset() < 8) {
                    release.await();
                }
                return HandlerOutcome.ack();
            });
            LiveKafka.eventually(
                    "the one free worker handles the rest",
                    () -> members.ledger.settled(0).size() == 192);
            release.countDown();
            members.awaitCommittedEnd();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("5.3 a member with nothing to do hardly polls")
    void idles(String protocol) {
        try (Members members = new Members(kafka, 1, topic -> topic.config("group.protocol", protocol))) {
            WatchedClients clients = new WatchedClients();
            WatchedClients unassigned = new WatchedClients();
            members.start("owner", clients, mount -> {}, (value, context) -> HandlerOutcome.ack());
            members.start("spare", unassigned, mount -> {}, (value, context) -> HandlerOutcome.ack());
            members.produce(10);
            members.awaitCommittedEnd();

            hardlyPoll(List.of(clients, unassigned), () -> true);
        }
    }

    @Test
    @DisplayName("5.3 with everything paused the member hardly polls")
    void hardlyPollsWhilePaused() {
        try (Members members = new Members(kafka, 2, topic -> topic.config("auto.commit.interval.ms", 1_000))) {
            WatchedClients clients = new WatchedClients();
            CountDownLatch release = members.latch();
            members.produce(10);
            RunningApp app = members.start(
                    "member", clients, mount -> mount.workersByKey(3).inFlightLimit(2, 1 << 20), (value, context) -> {
                        release.await();
                        return HandlerOutcome.ack();
                    });
            BooleanSupplier paused =
                    () -> Members.health(app).partitions().stream().allMatch(Health.Partition::paused);
            LiveKafka.eventually("all is paused", paused);
            hardlyPoll(List.of(clients), paused);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 8})
    @DisplayName("5.3 while a retry waits the member hardly polls")
    void hardlyPollsWhileARetryWaits(int workers) {
        try (Members members = new Members(kafka, 1, topic -> topic.config("auto.commit.interval.ms", 1_000))) {
            WatchedClients clients = new WatchedClients();
            members.produce(1);
            members.start(
                    "member",
                    clients,
                    mount -> mount.workers(workers)
                            .inFlightLimit(1, 1 << 20)
                            .retryBackoff(Duration.ofMinutes(2), Duration.ofMinutes(2)),
                    (value, context) -> HandlerOutcome.retry());
            LiveKafka.eventually("the retry waits", () -> members.ledger.begun().size() == 2);
            hardlyPoll(List.of(clients), () -> members.ledger.begun().size() == 2);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 8})
    @DisplayName("3.5, 5.3 while all that is in flight waits for a delay the member hardly polls")
    void hardlyPollsWhileDelaysWait(int workers) {
        try (Members members = new Members(kafka, 1, topic -> topic.config("auto.commit.interval.ms", 1_000))) {
            WatchedClients clients = new WatchedClients();
            members.produce(3);
            RunningApp app = members.start(
                    "member",
                    clients,
                    mount -> mount.workers(workers).inFlightLimit(2, 1 << 20),
                    (value, context) -> HandlerOutcome.retryAfter(Duration.ofHours(1)));
            BooleanSupplier waits =
                    () -> Members.health(app).partitions().get(0).delayedRecords() >= 2;
            LiveKafka.eventually("delays wait", waits);
            hardlyPoll(List.of(clients), waits);
        }
    }

    @Test
    @DisplayName("5.3 while a commit is on its way the member hardly polls")
    void hardlyPollsWhileACommitIsOnItsWay() {
        try (Members members = new Members(kafka, 1, topic -> topic.config("auto.commit.interval.ms", 500))) {
            WatchedClients clients = new WatchedClients();
            clients.loseBackgroundCommits();
            members.produce(10);
            members.start("member", clients, mount -> {}, (value, context) -> HandlerOutcome.ack());
            LiveKafka.eventually("all is handled", () -> members.ledger.begun().size() == 10);
            hardlyPoll(List.of(clients), () -> true);
        }
    }

    /**
     * Counts polls while an idle consumer of the test's own fetches twice in vain, half a second each. A poll thread
     * that spins would make thousands.
     */
    private void hardlyPoll(List<WatchedClients> clients, BooleanSupplier meanwhile) {
        String empty = kafka.topic("empty", 1);
        try (KafkaConsumer<byte[], byte[]> idle = consumer(Map.of())) {
            idle.assign(List.of(new TopicPartition(empty, 0)));
            idle.seekToBeginning(idle.assignment());
            idle.poll(Duration.ofMillis(500));
            long before = polls(clients);
            for (int i = 0; i < 2; i++) {
                idle.poll(Duration.ofMillis(500));
                assertThat(meanwhile.getAsBoolean()).isTrue();
            }
            assertThat(polls(clients) - before).isLessThan(25);
        }
    }

    private static long polls(List<WatchedClients> clients) {
        return clients.stream().mapToLong(WatchedClients::polls).sum();
    }

    /** Returns when a member of the test's own, which does not poll, has been out of its group for that reason. */
    private void evictAMemberThatDoesNotPoll() {
        String topic = kafka.topic("unread", 1);
        String group = LiveKafka.unique("evicted");
        try (KafkaConsumer<byte[], byte[]> lazy = consumer(Map.of(
                ConsumerConfig.GROUP_ID_CONFIG,
                group,
                ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG,
                MAX_POLL_INTERVAL_MS))) {
            lazy.subscribe(List.of(topic));
            LiveKafka.eventually("the lazy member has joined", () -> {
                lazy.poll(Duration.ofMillis(50));
                return !lazy.assignment().isEmpty();
            });
            LiveKafka.eventually(
                    "the lazy member is out",
                    () -> LiveKafka.get(kafka.admin()
                                            .describeConsumerGroups(List.of(group))
                                            .describedGroups()
                                            .get(group))
                                    .groupState()
                            == GroupState.EMPTY);
        }
    }

    private KafkaConsumer<byte[], byte[]> consumer(Map<String, Object> more) {
        Map<String, Object> config = new HashMap<>(more);
        config.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, kafka.bootstrap());
        return new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }
}
