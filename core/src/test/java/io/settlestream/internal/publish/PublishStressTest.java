package io.settlestream.internal.publish;

import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.PublishException;
import io.settlestream.PublishException.Reason;
import io.settlestream.internal.codec.TestCodecs;
import io.settlestream.internal.config.ProducerSettings;
import io.settlestream.internal.publish.FakeProducer.Answer;
import io.settlestream.internal.publish.FakeProducer.Taken;
import io.settlestream.internal.publish.Threads.Call;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Many threads publish through little room while everything that can go wrong does, at random. */
class PublishStressTest {

    private static final int SENDERS = 6;
    private static final int RECORDS = 1_500;
    private static final int BUFFER = 8_000;
    private static final int LARGEST = 6_000;

    private final ManualTime time = new ManualTime();
    private final FakeProducer producer = new FakeProducer();
    private final BrokerPublisher broker = new BrokerPublisher(
            () -> producer,
            new ProducerSettings(Map.of(), BUFFER, BUFFER, Duration.ofSeconds(60)),
            TestCodecs.of(),
            time);

    /** Sends that returned, and the listeners that were given. */
    private final ConcurrentLinkedQueue<Reports> sent = new ConcurrentLinkedQueue<>();

    private final ConcurrentLinkedQueue<Reports> refused = new ConcurrentLinkedQueue<>();

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {20_001, 20_002, 20_003})
    @DisplayName("6.2, 6.3, 6.5: whatever fails, room and counts come back whole, and each listener hears once")
    void nothingIsLost(long seed) throws InterruptedException {
        run(seed, true);
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {20_011, 20_012, 20_013})
    @DisplayName("6.2: reports alone wake every thread that waits for room")
    void noWakeUpIsLost(long seed) throws InterruptedException {
        run(seed, false);
    }

    private void run(long seed, boolean disturbed) throws InterruptedException {
        SplittableRandom seeds = new SplittableRandom(seed);
        Random answering = new Random(seeds.nextLong());
        if (disturbed) {
            producer.answers = answer -> answer(answer, answering);
        }
        AtomicBoolean done = new AtomicBoolean();
        AtomicInteger most = new AtomicInteger();

        List<Call<Integer>> senders = new ArrayList<>();
        for (int i = 0; i < SENDERS; i++) {
            Random random = new Random(seeds.nextLong());
            senders.add(Threads.call(() -> send(random, disturbed, most)));
        }
        Random reporting = new Random(seeds.nextLong());
        Call<String> reporter = Threads.call(() -> report(reporting, done));
        Random disturbing = new Random(seeds.nextLong());
        Call<String> disturber = Threads.call(() -> disturbed ? disturb(disturbing, senders, done) : "done");

        for (Call<Integer> sender : senders) {
            assertThat(sender.join()).as("seed %d", seed).isEqualTo(RECORDS);
        }
        done.set(true);
        reporter.join();
        disturber.join();

        assertThat(broker.unreported()).as("seed %d", seed).isZero();
        assertThat(broker.flushAndClose(Duration.ZERO)).as("seed %d", seed).isZero();
        assertThat(most.get()).as("bytes in flight, seed %d", seed).isLessThanOrEqualTo(LARGEST + 200);
        assertThat(sent)
                .as("seed %d", seed)
                .allSatisfy(reports -> assertThat(reports.calls).hasValue(1));
        assertThat(refused)
                .as("seed %d", seed)
                .allSatisfy(reports -> assertThat(reports.calls).hasValue(0));
        assertThat(sent.size() + refused.size()).isEqualTo(SENDERS * RECORDS);
        assertThat(time.timers()).isZero();
    }

    private int send(Random random, boolean bounded, AtomicInteger most) {
        int records = 0;
        for (; records < RECORDS; records++) {
            Reports reports = new Reports();
            try {
                broker.send(record(random), bounded ? bound(random) : null, reports);
                sent.add(reports);
            } catch (PublishException failure) {
                assertThat(failure.reason()).isIn(Reason.QUEUE_FULL, Reason.NOT_ACCEPTED);
                refused.add(reports);
            } catch (InterruptedException interrupted) {
                refused.add(reports);
            }
            most.accumulateAndGet((int) broker.bytesInFlight(), Math::max);
        }
        return records;
    }

    private static ProducerRecord<byte[], byte[]> record(Random random) {
        int size = random.nextInt(20) == 0 ? LARGEST : random.nextInt(500);
        return new ProducerRecord<>("payouts", new byte[size]);
    }

    private static Duration bound(Random random) {
        return switch (random.nextInt(4)) {
            case 0 -> Duration.ZERO;
            case 1 -> Duration.ofMillis(1 + random.nextInt(10));
            default -> null;
        };
    }

    private static synchronized Answer answer(Answer takes, Random random) {
        return switch (random.nextInt(30)) {
            case 0 -> new Answer.Throws(new KafkaException("at random"));
            case 1 -> new Answer.Throws(new InterruptException(new InterruptedException()));
            case 2 -> new Answer.Reports(new NotEnoughReplicasException("at random"));
            case 3 -> new Answer.Returns(new NotEnoughReplicasException("at random"));
            default -> takes;
        };
    }

    private String report(Random random, AtomicBoolean done) {
        while (!done.get() || !producer.taken.isEmpty()) {
            Taken taken = producer.taken.poll();
            if (taken != null && random.nextInt(10) == 0) {
                taken.fail(new NotEnoughReplicasException("at random"));
            } else if (taken != null) {
                taken.accept(1);
            }
        }
        return "done";
    }

    private String disturb(Random random, List<Call<Integer>> senders, AtomicBoolean done) {
        while (!done.get()) {
            time.advance(Duration.ofMillis(random.nextInt(3)));
            senders.get(random.nextInt(SENDERS)).thread().interrupt();
            for (int i = random.nextInt(20_000); i > 0; i--) {
                Thread.onSpinWait();
            }
        }
        return "done";
    }
}
