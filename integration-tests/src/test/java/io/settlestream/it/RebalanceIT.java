package io.settlestream.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.settlestream.BatchContext;
import io.settlestream.HandlerOutcome;
import io.settlestream.Health;
import io.settlestream.Mount;
import io.settlestream.Reply;
import io.settlestream.RunningApp;
import io.settlestream.ShutdownResult;
import io.settlestream.StartupException;
import io.settlestream.Subscriber;
import io.settlestream.kafka.KafkaPublish;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Partitions that move between two members of a group. */
class RebalanceIT {

    /** So long that a test which waits for it fails. */
    private static final Duration HUGE = Duration.ofMinutes(2);

    private static final Consumer<Mount> PATIENT =
            mount -> mount.workersByKey(4).drainTimeout(HUGE);

    private final LiveKafka kafka = LiveKafka.shared();

    @ParameterizedTest
    @EnumSource
    @DisplayName("3.8 a member joins and leaves: every record is handled once, and the end is committed")
    void joinsAndLeaves(GroupProtocol protocol) {
        try (Members members = new Members(kafka, protocol, 4)) {
            members.produce(100);
            RunningApp first =
                    members.start("first", mount -> mount.workersByKey(2), (value, context) -> HandlerOutcome.ack());
            RunningApp second =
                    members.start("second", mount -> mount.workers(2), (value, context) -> HandlerOutcome.ack());
            LiveKafka.eventually(
                    "the second member owns its half",
                    () -> Members.health(second).partitions().size() == 2);
            members.produce(100);
            members.awaitCommittedEnd();
            second.close();
            members.produce(100);
            members.awaitCommittedEnd();

            assertThat(members.ledger.begunBy("second")).isNotEmpty();
            for (int partition = 0; partition < 4; partition++) {
                assertThat(members.ledger.settled(partition))
                        .hasSize(300)
                        .allSatisfy((offset, times) -> assertThat(times).isEqualTo(1));
            }
            assertThat(members.ledger.violations()).isEmpty();
            assertThat(first.health().healthy()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("3.8 a revocation waits for running handlers and commits what they settle; queued records move on")
    void waitsForRunningHandlers(GroupProtocol protocol) {
        try (Members members = new Members(kafka, protocol, 2)) {
            CountDownLatch release = members.latch();
            members.produce(20);
            RunningApp first = members.start("first", PATIENT, (value, context) -> {
                release.await();
                return HandlerOutcome.ack();
            });
            LiveKafka.eventually("both partitions are in hand and queued", () -> open(first) == 40);
            awaitBegun(members, 2);
            CompletableFuture<RunningApp> second =
                    members.startLater("second", PATIENT, (value, context) -> HandlerOutcome.ack());
            awaitRevocation(first);
            letTheGroupGoOn(members);

            release.countDown();
            members.awaitCommittedEnd();

            RunningApp joined = second.join();
            assertThat(Members.health(joined).partitions()).hasSize(1);
            int moved = Members.health(joined).partitions().get(0).partition();
            assertThat(members.ledger.begunBy("first"))
                    .filteredOn(entry -> entry.partition() == moved)
                    .extracting(Ledger.Entry::offset)
                    .containsExactly(0L);
            for (int partition = 0; partition < 2; partition++) {
                assertThat(members.ledger.settled(partition))
                        .hasSize(20)
                        .allSatisfy((offset, times) -> assertThat(times).isEqualTo(1));
            }
            assertThat(Members.health(first).counts().stale()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("3.8 with nothing running, or only retries that wait, a revocation takes no time")
    void doesNotWaitForNothing(GroupProtocol protocol) {
        try (Members members = new Members(kafka, protocol, 2)) {
            CountDownLatch release = members.latch();
            RunningApp first = members.start(
                    "first", PATIENT.andThen(mount -> mount.retryBackoff(HUGE, HUGE)), (value, context) -> {
                        if (!protocol.movesAll() && context.partition() == 0) {
                            // What stays with a member is nothing a revocation waits for. Sticky: this one stays.
                            release.await();
                            return HandlerOutcome.ack();
                        }
                        return HandlerOutcome.retry();
                    });
            members.produce(2);
            LiveKafka.eventually(
                    "the retry waits", () -> members.ledger.begun(1, 0).size() == 2);
            awaitBegun(members, protocol.movesAll() ? 4 : 3);

            members.start("second", PATIENT, (value, context) -> HandlerOutcome.ack());
            LiveKafka.eventually(
                    "the second member handles what it was given",
                    () -> members.ledger.begunBy("second").size() == 2);

            assertThat(members.ledger.begunBy("second")).allSatisfy(entry -> {
                assertThat(entry.attempt())
                        .as("what has failed goes with the partition")
                        .isEqualTo(entry.offset() == 0 ? 3 : 1);
                if (!protocol.movesAll()) {
                    assertThat(entry.partition()).isEqualTo(1);
                }
            });
            assertThat(Members.health(first).stuckHandlers()).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("3.8 a handler that answers retry ends the wait; its record stays open and goes to the next owner")
    void retryEndsTheWait(GroupProtocol protocol) {
        try (Members members = new Members(kafka, protocol, 2)) {
            CountDownLatch release = members.latch();
            List<Map<Integer, Long>> committed = new CopyOnWriteArrayList<>();
            members.produce(2);
            RunningApp first = members.start("first", PATIENT, (value, context) -> {
                release.await();
                return context.attempt() == 1 ? HandlerOutcome.retry() : HandlerOutcome.ack();
            });
            awaitBegun(members, 2);
            CompletableFuture<RunningApp> second = members.startLater("second", PATIENT, (value, context) -> {
                committed.add(members.committed());
                return HandlerOutcome.ack();
            });
            awaitRevocation(first);
            release.countDown();
            members.awaitCommittedEnd();

            int moved = Members.health(second.join()).partitions().get(0).partition();
            assertThat(members.ledger.begunBy("second"))
                    .containsExactly(new Ledger.Entry("second", moved, 0, 2), new Ledger.Entry("second", moved, 1, 1));
            assertThat(committed.get(0)).containsEntry(moved, 0L);
            assertThat(members.ledger.begun(moved, 0)).hasSize(2);
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("1.2, 1.3, 3.8 a handler stuck beyond drainTimeout is interrupted; its late outcome changes nothing")
    void stuckHandlers(GroupProtocol protocol) {
        try (Members members = new Members(kafka, protocol, 2)) {
            CountDownLatch release = members.latch();
            CountDownLatch releaseSecond = members.latch();
            List<Integer> interrupted = new CopyOnWriteArrayList<>();
            List<Integer> cancelled = new CopyOnWriteArrayList<>();
            members.produce(2);
            RunningApp first = members.start(
                    "first", mount -> mount.workersByKey(4).drainTimeout(Duration.ofMillis(300)), (value, context) -> {
                        while (release.getCount() > 0) {
                            try {
                                release.await();
                            } catch (InterruptedException e) {
                                interrupted.add(context.partition());
                            }
                        }
                        if (context.cancelled()) {
                            cancelled.add(context.partition());
                        }
                        return HandlerOutcome.ack();
                    });
            awaitBegun(members, 2);
            CompletableFuture<RunningApp> second = members.startLater(
                    "second", mount -> mount.workersByKey(4).drainTimeout(HUGE), (value, context) -> {
                        releaseSecond.await();
                        return HandlerOutcome.ack();
                    });
            LiveKafka.eventually(
                    "the next owner has the record",
                    () -> members.ledger.begunBy("second").size() == 1);
            int moved = members.ledger.begunBy("second").get(0).partition();
            assertThat(interrupted).contains(moved);
            assertThat(Members.health(first).stuckHandlers())
                    .extracting(Health.StuckHandler::topic, Health.StuckHandler::partition, Health.StuckHandler::offset)
                    .contains(tuple(members.topic, moved, 0L));
            assertThat(first.health().healthy()).isFalse();

            release.countDown();
            LiveKafka.eventually(
                    "the late outcome is counted",
                    () -> Members.health(first).counts().stale() == (protocol.movesAll() ? 2 : 1));
            LiveKafka.eventually(
                    "nothing is stuck any more",
                    () -> Members.health(first).stuckHandlers().isEmpty());
            assertThat(cancelled).contains(moved);
            LiveKafka.eventually(
                    "the first member has handled what stayed with it",
                    () -> members.committed().get(1 - moved) == 2);
            first.close();

            assertThat(members.committed()).containsEntry(moved, 0L).containsEntry(1 - moved, 2L);
            releaseSecond.countDown();
            members.awaitCommittedEnd();
            assertThat(members.ledger.violations()).isEmpty();
            assertThat(second.join().health().healthy()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("3.8 a revocation waits for the reports of replies that were sent")
    void waitsForReports(GroupProtocol protocol) {
        try (Members members = new Members(kafka, protocol, 2)) {
            String replies = kafka.topic("replies", 1);
            WatchedClients clients = new WatchedClients();
            CountDownLatch sends = members.releasedAtTheEnd(clients.holdSends());
            members.produce(1);
            AtomicInteger handled = new AtomicInteger();
            Subscriber<String, Object> replying = Subscriber.on(members.topic(), String.class)
                    .<String, Object>handleReply(String.class, (value, context) -> {
                        handled.incrementAndGet();
                        return Reply.of(value);
                    })
                    .reply(KafkaPublish.to(replies));
            RunningApp first = members.start(members.app("first", PATIENT, replying), clients);
            LiveKafka.eventually("both replies are on their way", () -> handled.get() == 2);
            CompletableFuture<RunningApp> second =
                    members.startLater("second", PATIENT, (value, context) -> HandlerOutcome.ack());
            awaitRevocation(first);
            letTheGroupGoOn(members);

            sends.countDown();
            members.awaitCommittedEnd();
            members.produce(1);
            members.awaitCommittedEnd();

            int moved = Members.health(second.join()).partitions().get(0).partition();
            assertThat(members.ledger.begunBy("second")).containsExactly(new Ledger.Entry("second", moved, 1, 1));
            assertThat(kafka.readValues(replies, 1)).containsExactlyInAnyOrder("0/0", "1/0", (1 - moved) + "/0");
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("10.3 a stop during a rebalance waits for running handlers no longer than shutdownTimeout")
    void stopsDuringARebalance(GroupProtocol protocol) {
        try (Members members = new Members(kafka, protocol, 2)) {
            CountDownLatch release = members.latch();
            members.produce(1);
            RunningApp first = members.start(
                    members.app("first", PATIENT, members.subscriber("first", (value, context) -> {
                                release.await();
                                return HandlerOutcome.ack();
                            }))
                            .shutdownTimeout(Duration.ofMillis(300)),
                    new WatchedClients());
            awaitBegun(members, 2);
            CompletableFuture<RunningApp> second =
                    members.startLater("second", PATIENT, (value, context) -> HandlerOutcome.ack());
            awaitRevocation(first);

            ShutdownResult result = LiveKafka.get(first.shutdown());
            assertThat(result.failure()).isEmpty();
            members.awaitCommittedEnd();

            assertThat(members.ledger.begunBy("second")).hasSize(2);
            assertThat(second.join().health().healthy()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(names = "CLASSIC_EAGER", mode = EnumSource.Mode.EXCLUDE)
    @DisplayName("10.3 a stop waits for what is left of a batch whose other partition was given up")
    void batchThatIsHalfGivenUp(GroupProtocol protocol) {
        try (Members members = new Members(kafka, protocol, 2)) {
            CountDownLatch primer = members.latch();
            CountDownLatch release = members.latch();
            List<String> batches = new CopyOnWriteArrayList<>();
            List<Boolean> cancelled = new CopyOnWriteArrayList<>();
            Subscriber<String, Object> batching = Subscriber.on(members.topic(), String.class)
                    .<Object>handleBatch((values, context) -> {
                        batches.add(names(context));
                        if (context.size() == 1 && context.element(0).offset() == 0) {
                            primer.await();
                        } else {
                            release.await();
                            cancelled.add(context.cancelled());
                        }
                        return HandlerOutcome.ack();
                    })
                    .batch(10);
            RunningApp first = members.start(
                    members.app("first", mount -> mount.drainTimeout(Duration.ofMillis(200)), batching),
                    new WatchedClients());
            kafka.produce(members.topic, 0, "primer");
            LiveKafka.eventually("the primer is in hand", () -> batches.size() == 1);
            kafka.produce(members.topic, 0, "stays");
            kafka.produce(members.topic, 1, "goes");
            LiveKafka.eventually("the rest is queued", () -> open(first) == 3);
            primer.countDown();
            LiveKafka.eventually("a batch spans both partitions", () -> batches.size() == 2);
            members.start("second", PATIENT, (value, context) -> HandlerOutcome.ack());
            LiveKafka.eventually(
                    "one partition has moved",
                    () -> members.ledger.begunBy("second").size() == 1);
            int moved = members.ledger.begunBy("second").get(0).partition();

            CompletableFuture<ShutdownResult> stop = first.shutdown();
            LiveKafka.eventually(
                    "the moved partition is committed",
                    () -> members.committed().equals(moved == 1 ? Map.of(0, 1L, 1, 1L) : Map.of(0, 2L, 1, 0L)));
            letTheGroupGoOn(members);
            assertThat(stop).isNotDone();
            release.countDown();
            LiveKafka.get(stop);
            members.awaitCommittedEnd();

            assertThat(cancelled).containsExactly(false);
            assertThat(members.ledger.begunBy("second")).hasSize(1);
        }
    }

    @Test
    @DisplayName("3.8 drainTimeout must be less than half of max.poll.interval.ms")
    void refusesALongDrainTimeout() {
        try (Members members = new Members(kafka, 1, topic -> topic.config("max.poll.interval.ms", 20_000))) {
            assertThatThrownBy(() -> members.start(
                            "member",
                            mount -> mount.drainTimeout(Duration.ofSeconds(10)),
                            (value, context) -> HandlerOutcome.ack()))
                    .isInstanceOf(StartupException.class)
                    .hasMessageContaining("drainTimeout")
                    .hasMessageContaining("max.poll.interval.ms");
            members.start(
                    "member",
                    mount -> mount.drainTimeout(Duration.ofMillis(9_999)),
                    (value, context) -> HandlerOutcome.ack());
        }
    }

    private static String names(BatchContext<Object> context) {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < context.size(); i++) {
            names.add(context.element(i).partition() + "@" + context.element(i).offset());
        }
        return names.toString();
    }

    private static long open(RunningApp app) {
        return Members.health(app).partitions().stream()
                .mapToLong(Health.Partition::openRecords)
                .sum();
    }

    private static void awaitBegun(Members members, int deliveries) {
        LiveKafka.eventually(
                deliveries + " deliveries have begun",
                () -> members.ledger.begun().size() == deliveries);
    }

    /** Many times what a revocation that waits for nothing takes, counted in the broker's answers. */
    private static void letTheGroupGoOn(Members members) {
        for (int i = 0; i < 30; i++) {
            assertThat(members.committed()).isNotEmpty();
        }
    }

    /** Waits until a member that had its first assignment gives something up. */
    private static void awaitRevocation(RunningApp app) {
        LiveKafka.eventually("a revocation begins", () -> Members.rebalances(app) == 2);
    }
}
