package io.settlestream.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.HandlerOutcome;
import io.settlestream.Health;
import io.settlestream.RunningApp;
import io.settlestream.Subscriber;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Members that the group has given up on while their handlers ran. */
class LostMemberIT {

    private static final int MAX_POLL_INTERVAL_MS = 1_000;

    private final LiveKafka kafka = LiveKafka.shared();

    private Members members(GroupProtocol protocol) {
        return new Members(
                kafka,
                1,
                topic -> protocol.apply(topic)
                        .config("max.poll.interval.ms", MAX_POLL_INTERVAL_MS)
                        .config("max.poll.records", 5));
    }

    // Not under the eager protocol, where the return of the first could move the partition once more.
    @ParameterizedTest
    @EnumSource(names = "CLASSIC_EAGER", mode = EnumSource.Mode.EXCLUDE)
    @DisplayName("1.2, 3.8 a member that lost its partitions commits nothing of them, and goes on when it is back")
    void losesItsPartitions(GroupProtocol protocol) {
        try (Members members = members(protocol)) {
            WatchedClients clients = new WatchedClients();
            CountDownLatch release = members.latch();
            CountDownLatch releaseSecond = members.latch();
            members.produce(3);
            RunningApp first = members.start(
                    "first", clients, mount -> mount.drainTimeout(Duration.ofMillis(300)), (value, context) -> {
                        await(release);
                        return HandlerOutcome.ack();
                    });
            LiveKafka.eventually(
                    "a record is in hand", () -> members.ledger.begun().size() == 1);
            RunningApp second =
                    members.start("second", mount -> mount.drainTimeout(Duration.ofMillis(300)), (value, context) -> {
                        releaseSecond.await();
                        return HandlerOutcome.ack();
                    });
            CountDownLatch polls = members.releasedAtTheEnd(clients.holdPolls());
            LiveKafka.eventually(
                    "the next owner has the record",
                    () -> members.ledger.begunBy("second").size() == 1);
            polls.countDown();
            LiveKafka.eventually(
                    "the member knows", () -> Members.health(first).partitions().isEmpty());
            assertThat(Members.health(first).stuckHandlers())
                    .extracting(Health.StuckHandler::offset)
                    .containsExactly(0L);

            release.countDown();
            LiveKafka.eventually(
                    "the late outcome is counted",
                    () -> Members.health(first).counts().stale() == 1);
            assertThat(members.committed()).isEqualTo(Map.of(0, 0L));
            assertThat(Members.health(first).counts().acked()).isZero();

            releaseSecond.countDown();
            members.awaitCommittedEnd();
            second.close();
            members.produce(3);
            members.awaitCommittedEnd();
            assertThat(members.ledger.begunBy("first"))
                    .extracting(Ledger.Entry::offset)
                    .containsExactly(0L, 3L, 4L, 5L);
            assertThat(first.health().healthy()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("1.3 a partition comes back: the redelivery waits for the handler that still runs, and not for ever")
    void redeliveryWaits(GroupProtocol protocol) {
        Duration bound = Duration.ofMillis(400);
        try (Members members = members(protocol)) {
            CountDownLatch release = members.latch();
            WatchedClients clients = new WatchedClients();
            AtomicReference<RunningApp> started = new AtomicReference<>();
            List<Duration> waited = new CopyOnWriteArrayList<>();
            members.produce(3);
            RunningApp app = members.start(
                    "member", clients, mount -> mount.workers(3).drainTimeout(bound), (value, context) -> {
                        if (context.offset() == 0) {
                            if (members.ledger.begun(0, 0).size() == 1) {
                                await(release);
                            } else {
                                Members.health(started.get()).stuckHandlers().forEach(stuck -> waited.add(stuck.age()));
                            }
                        }
                        return HandlerOutcome.ack();
                    });
            started.set(app);
            LiveKafka.eventually(
                    "all are handled but one", () -> members.ledger.settled(0).size() == 2);
            CountDownLatch polls = members.releasedAtTheEnd(clients.holdPolls());
            LiveKafka.eventually("the member is out", () -> members.count() == 0);
            polls.countDown();
            members.awaitCommittedEnd();

            assertThat(waited).singleElement().satisfies(age -> assertThat(age).isGreaterThanOrEqualTo(bound));
            assertThat(members.ledger.begun()).hasSize(6);
            assertThat(Members.health(app).stuckHandlers()).singleElement().satisfies(stuck -> {
                assertThat(stuck.topic()).isEqualTo(members.topic);
                assertThat(stuck.partition()).isZero();
                assertThat(stuck.offset()).isZero();
            });
            assertThat(app.health().healthy()).isFalse();
            release.countDown();
            LiveKafka.eventually("nothing is stuck any more", () -> app.health().healthy());
            assertThat(Members.health(app).counts().stale()).isEqualTo(1);
            assertThat(members.ledger.violations()).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource(names = "CLASSIC_EAGER", mode = EnumSource.Mode.EXCLUDE)
    @DisplayName("1.3, 1.4 the redelivery waits for a handler that answers later, too, and a stop does not")
    void redeliveryWaitsForStage(GroupProtocol protocol) {
        Duration bound = Duration.ofMillis(400);
        try (Members members = members(protocol)) {
            CompletableFuture<HandlerOutcome> never = new CompletableFuture<>();
            AtomicInteger begun = new AtomicInteger();
            WatchedClients clients = new WatchedClients();
            AtomicReference<RunningApp> started = new AtomicReference<>();
            List<Duration> waited = new CopyOnWriteArrayList<>();
            members.produce(3);
            Subscriber<String, Object> subscriber = Subscriber.on(members.topic(), String.class)
                    .handleAsync((value, context) -> {
                        if (context.offset() == 0) {
                            if (begun.incrementAndGet() == 1) {
                                return never;
                            }
                            Members.health(started.get()).stuckHandlers().forEach(stuck -> waited.add(stuck.age()));
                        }
                        return CompletableFuture.completedFuture(HandlerOutcome.ack());
                    });
            RunningApp app = members.start(
                    members.app("member", mount -> mount.workers(3).drainTimeout(bound), subscriber), clients);
            started.set(app);
            LiveKafka.eventually(
                    "all are handled but one",
                    () -> Members.health(app).counts().acked() == 2);
            CountDownLatch polls = members.releasedAtTheEnd(clients.holdPolls());
            LiveKafka.eventually("the member is out", () -> members.count() == 0);
            polls.countDown();
            members.awaitCommittedEnd();

            assertThat(waited).singleElement().satisfies(age -> assertThat(age).isGreaterThanOrEqualTo(bound));
            assertThat(Members.health(app).stuckHandlers())
                    .extracting(Health.StuckHandler::offset)
                    .containsExactly(0L);
            assertThat(LiveKafka.get(app.shutdown()).clean()).isTrue();
            assertThat(never).as("the user's stage is the user's").isNotDone();

            never.complete(HandlerOutcome.ack());
            LiveKafka.eventually(
                    "the late outcome is counted",
                    () -> Members.health(app).counts().stale() == 1);
            assertThat(Members.health(app).stuckHandlers()).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource(names = "CLASSIC_EAGER", mode = EnumSource.Mode.EXCLUDE)
    @DisplayName("3.3, 3.8 a process that was frozen beyond its session commits nothing over its successor")
    void frozenBeyondItsSession(GroupProtocol protocol) throws Exception {
        try (Members members = new Members(kafka, protocol, 1)) {
            ServiceProcess.shortSession(kafka, members.group);
            members.produce(3);
            try (ServiceProcess frozen = ServiceProcess.start(kafka, members.topic, members.group, protocol)) {
                frozen.awaitLine("begun 0");
                frozen.freeze();
                RunningApp second = members.start("second", mount -> {}, (value, context) -> HandlerOutcome.ack());
                members.awaitCommittedEnd();

                frozen.thaw();
                frozen.send("release");
                frozen.awaitLine("owned 0");
                assertThat(members.committed()).isEqualTo(Map.of(0, 3L));
                second.close();
                members.produce(3);
                frozen.awaitLine("begun 5");
                members.awaitCommittedEnd();

                assertThat(members.ledger.begunBy("second"))
                        .extracting(Ledger.Entry::offset)
                        .containsExactly(0L, 1L, 2L);
                assertThat(frozen.lines())
                        .filteredOn(line -> line.matches("begun [345]"))
                        .containsExactly("begun 3", "begun 4", "begun 5");
                frozen.send("stop");
                assertThat(frozen.exit()).isZero();
            }
        }
    }

    private static void await(CountDownLatch release) {
        while (release.getCount() > 0) {
            try {
                release.await();
            } catch (InterruptedException e) {
                // A handler that does not listen.
            }
        }
    }
}
