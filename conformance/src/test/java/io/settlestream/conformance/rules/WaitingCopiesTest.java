package io.settlestream.conformance.rules;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.App;
import io.settlestream.HandlerOutcome;
import io.settlestream.Health;
import io.settlestream.NoState;
import io.settlestream.SettleStream;
import io.settlestream.Subscriber;
import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.kafka.RecordCopy;
import io.settlestream.testing.TestApp;
import io.settlestream.testing.TestKafka;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Very many records that wait on a retry topic, in process only: it is about how much of them is held, not about Kafka. */
class WaitingCopiesTest {

    private static final int COPIES = 100_000;
    private static final int PARTITIONS = 2;
    private static final int LIMIT = 3_000;
    private static final int POLL = 500;
    /** Of the retry topic's partitions and the source's one. */
    private static final int SHARE = LIMIT / (PARTITIONS + 1);

    private static final Duration LONGEST = Duration.ofMinutes(10);

    @Test
    @Timeout(60)
    @DisplayName(
            "3.5, 5.2, 12.3: 100,000 copies with mixed delays wait on the topic: no more of them are held than the share"
                    + " and one poll, none runs early, and all run")
    void waitOnTheTopic() {
        AtomicLong handled = new AtomicLong();
        AtomicLong early = new AtomicLong();
        long mostOpen = 0;
        try (TestKafka kafka = TestKafka.create().topic("orders", 1).topic("later", PARTITIONS)) {
            write(kafka);
            App<NoState> service = SettleStream.app("service", "1")
                    .withBroker(
                            KafkaBroker.of("in-process:9092").defaultGroup("group"),
                            scope -> scope.include(Subscriber.on(
                                                    KafkaTopic.of("orders")
                                                            .commit(Commit.tracked())
                                                            .config("max.poll.records", POLL),
                                                    String.class)
                                            .handle((value, context) -> {
                                                Instant due = context.origin()
                                                        .flatMap(RecordCopy::due)
                                                        .orElseThrow();
                                                if (kafka.clock().now().isBefore(due)) {
                                                    early.incrementAndGet();
                                                }
                                                handled.incrementAndGet();
                                                return HandlerOutcome.ack();
                                            }))
                                    .name("in")
                                    .retryTopic("later")
                                    .inFlightLimit(LIMIT, 64 << 20));
            try (TestApp<NoState> app = TestApp.of(service).on(kafka).start()) {
                Duration step = Duration.ofSeconds(5);
                for (Duration passed = Duration.ZERO;
                        passed.compareTo(LONGEST.plus(step)) < 0;
                        passed = passed.plus(step)) {
                    app.advance(step);
                    for (Health.Partition partition : Stage.health(app).partitions()) {
                        mostOpen = Math.max(mostOpen, partition.openRecords());
                    }
                }
                app.settle();
                app.group("group").hasLag("later", 0);
            }
        }
        assertThat(handled).hasValue(COPIES);
        assertThat(early).hasValue(0);
        assertThat(mostOpen).isBetween((long) SHARE, (long) SHARE + POLL);
    }

    private static void write(TestKafka kafka) {
        SplittableRandom random = new SplittableRandom(4711);
        Instant now = kafka.clock().now();
        try (Producer<byte[], byte[]> producer = kafka.clients().producer(Map.of())) {
            for (int i = 0; i < COPIES; i++) {
                ProducerRecord<byte[], byte[]> copy =
                        new ProducerRecord<>("later", i % PARTITIONS, null, ("v" + i).getBytes(UTF_8));
                add(copy, RecordCopy.ORIGIN_TOPIC, "orders");
                add(copy, RecordCopy.ORIGIN_PARTITION, "0");
                add(copy, RecordCopy.ORIGIN_OFFSET, Integer.toString(i));
                add(copy, RecordCopy.GROUP, "group");
                add(copy, RecordCopy.ATTEMPTS, "1");
                long due = now.plusMillis(random.nextLong(LONGEST.toMillis())).toEpochMilli();
                add(copy, RecordCopy.DUE, Long.toString(due));
                Future<RecordMetadata> unused = producer.send(copy);
            }
            producer.flush();
        }
    }

    private static void add(ProducerRecord<byte[], byte[]> copy, String name, String value) {
        copy.headers().add(name, value.getBytes(UTF_8));
    }
}
