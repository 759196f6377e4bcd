package io.settlestream.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.Handler;
import io.settlestream.HandlerOutcome;
import io.settlestream.Mount;
import io.settlestream.RunningApp;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Members that come and go all the time. */
class RebalanceStormIT {

    private static final int PARTITIONS = 6;
    private static final int CHANGES = 15;
    private static final int RECORDS = 20;

    private final LiveKafka kafka = LiveKafka.shared();

    @ParameterizedTest
    @EnumSource
    @DisplayName("1.3, 3.1, 3.2, 3.8 whatever the group does, no record is lost or committed before it is settled")
    void storm(GroupProtocol protocol) throws InterruptedException {
        long seed = System.nanoTime();
        System.out.println("seed of the storm under " + protocol + ": " + seed);
        Random random = new Random(seed);
        try (Members members = new Members(
                kafka,
                PARTITIONS,
                topic -> protocol.apply(topic)
                        .config("auto.commit.interval.ms", 20)
                        .config("max.poll.records", 10))) {
            List<String> tooFar = new CopyOnWriteArrayList<>();
            AtomicBoolean over = new AtomicBoolean();
            Thread watch = Thread.ofPlatform().start(() -> {
                while (!over.get()) {
                    compare(members, tooFar);
                }
            });
            Deque<RunningApp> apps = new ArrayDeque<>();
            List<RunningApp> all = new ArrayList<>();
            for (int change = 0; change < CHANGES; change++) {
                members.produce(RECORDS);
                boolean joins = apps.isEmpty() || (apps.size() < 3 && random.nextBoolean());
                if (joins) {
                    RunningApp app = members.start("member-" + change, mount -> mode(mount, random), moody(seed));
                    apps.add(app);
                    all.add(app);
                } else {
                    RunningApp leaving = random.nextBoolean() ? apps.removeFirst() : apps.removeLast();
                    if (random.nextBoolean()) {
                        leaving.close();
                    } else {
                        var unused = leaving.shutdown();
                    }
                }
            }
            if (apps.isEmpty()) {
                all.add(members.start("last", mount -> mode(mount, random), moody(seed)));
            }
            members.awaitCommittedEnd();
            over.set(true);
            watch.join();

            for (int partition = 0; partition < PARTITIONS; partition++) {
                assertThat(members.ledger.settled(partition)).hasSize(CHANGES * RECORDS);
            }
            assertThat(members.ledger.violations()).isEmpty();
            assertThat(tooFar).isEmpty();
            assertThat(all).allSatisfy(app -> {
                assertThat(app.health().failure()).isEmpty();
                assertThat(Members.health(app).failure()).isEmpty();
                assertThat(Members.health(app).problems()).isEmpty();
            });
        }
    }

    private static void mode(Mount mount, Random random) {
        mount.drainTimeout(Duration.ofSeconds(20));
        switch (random.nextInt(3)) {
            case 0 -> mount.workers(3);
            case 1 -> mount.workersByKey(3);
            default -> {}
        }
    }

    /** Takes its time, and retries one record in four a few times. */
    private static Handler<String, Object> moody(long seed) {
        return (value, context) -> {
            Random mood = new Random(seed + context.partition() * 31L + context.offset() * 1_009L);
            int retries = mood.nextInt(4) == 0 ? 1 + mood.nextInt(2) : 0;
            LockSupport.parkNanos(mood.nextInt(1_000_000));
            return context.attempt() <= retries ? HandlerOutcome.retry() : HandlerOutcome.ack();
        };
    }

    private static void compare(Members members, List<String> tooFar) {
        members.committed().forEach((partition, committed) -> {
            // Looked at after the commit was, so what was committed had been settled by now.
            Map<Long, Long> settled = members.ledger.settled(partition);
            for (long offset = 0; offset < committed; offset++) {
                if (!settled.containsKey(offset)) {
                    tooFar.add(partition + "@" + offset + " is open, and " + committed + " is committed");
                }
            }
        });
    }
}
