package io.settlestream.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.App;
import io.settlestream.HandlerOutcome;
import io.settlestream.Message;
import io.settlestream.NoState;
import io.settlestream.Publisher;
import io.settlestream.RunningApp;
import io.settlestream.SettleStream;
import io.settlestream.ShutdownResult;
import io.settlestream.Subscriber;
import io.settlestream.embedded.EmbeddedKafka;
import io.settlestream.kafka.ClosedKafkaBroker;
import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaPublish;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.kafka.StartOffset;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Applications of two brokers, of which one comes and goes. */
class OutageIT {

    private static EmbeddedKafka goes;
    private static LiveKafka going;

    private final LiveKafka stays = LiveKafka.shared();
    private final String group = LiveKafka.unique("group");
    private final List<String> seen = new CopyOnWriteArrayList<>();

    @BeforeAll
    static void start() {
        // A member that cannot say goodbye is missed after this long.
        goes = EmbeddedKafka.builder()
                .brokerConfig("group.consumer.session.timeout.ms", "5000")
                .start();
        going = new LiveKafka(goes);
    }

    @AfterEach
    void back() {
        goes.startNodes();
    }

    @AfterAll
    static void stop() {
        goes.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName(
            "9.3 a broker that comes up within assignmentTimeout: the start succeeds, and sees what is published then")
    void comesUp(String protocol) {
        String topic = going.topic("late", 1);
        going.produce(topic, 0, "old");
        goes.node(0).stop();
        App<NoState> app = SettleStream.app("outage-it", "1")
                .withBroker(
                        broker(going).config("group.protocol", protocol),
                        scope -> scope.include(collecting(KafkaTopic.of(topic).startOffset(StartOffset.LATEST))));

        CompletableFuture<RunningApp> start = CompletableFuture.supplyAsync(app::start);
        LiveKafka.eventually(
                "it is trying",
                () -> Thread.getAllStackTraces().keySet().stream()
                        .anyMatch(thread -> thread.getName().equals("settlestream-poll-" + topic)));
        assertThat(start).isNotDone();
        goes.startNodes();

        try (RunningApp running = LiveKafka.get(start)) {
            going.produce(topic, 0, "new");
            LiveKafka.eventually("it sees the record", () -> !seen.isEmpty());
            assertThat(running.health().healthy()).isTrue();
        }
        assertThat(seen).containsExactly("new");
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName(
            "10.3 a stop while commits fail ends; what was not committed is read again; the other broker's is committed")
    void stopsWhileCommitsFail(String protocol) {
        Leftovers leftovers = new Leftovers();
        String lost = going.topic("lost", 1);
        String kept = stays.topic("kept", 1);
        App<NoState> app = SettleStream.app("outage-it", "1")
                .withBroker(broker(going).config("group.protocol", protocol), scope -> {
                    scope.publisher(KafkaPublish.to("out"));
                    scope.include(collecting(earliest(lost)
                                    .config("auto.commit.interval.ms", 3_600_000)
                                    .config("max.poll.interval.ms", 4_000)))
                            .drainTimeout(Duration.ofSeconds(1));
                })
                .withBroker(
                        broker(stays).config("group.protocol", protocol),
                        scope ->
                                scope.include(collecting(earliest(kept).config("auto.commit.interval.ms", 3_600_000))));
        RunningApp running = app.start();
        going.produce(lost, 0, "a");
        stays.produce(kept, 0, "b");
        LiveKafka.eventually("both are handled", () -> seen.size() == 2);
        goes.node(0).stop();

        ShutdownResult result = LiveKafka.get(running.shutdown());

        assertThat(result.brokers())
                .extracting(ClosedKafkaBroker::unflushedRecords)
                .containsExactly(0, 0);
        assertThat(stays.committed(group, kept)).isEqualTo(Map.of(0, 1L));
        leftovers.awaitNone();
        goes.startNodes();
        assertThat(going.committed0(group, lost)).isEqualTo(Optional.of(0L));
        seen.clear();
        try (RunningApp again = app.start()) {
            LiveKafka.eventually("the next start reads it again", () -> !seen.isEmpty());
        }
        assertThat(seen).containsExactly("a");
        assertThat(going.committed(group, lost)).isEqualTo(Map.of(0, 1L));
    }

    @Test
    @DisplayName("10.1 two brokers in one application: what is read from one is published to the other")
    void bridge() {
        String from = stays.topic("from", 1);
        String to = going.topic("to", 1);
        stays.produce(from, 0, "x", "y", "z");
        AtomicReference<Publisher> other = new AtomicReference<>();
        App<NoState> app = SettleStream.app("outage-it", "1")
                .withBroker(
                        broker(stays),
                        scope -> scope.include(
                                Subscriber.on(earliest(from), String.class).handle((value, context) -> {
                                    other.get().publishAndWait(Message.of(value));
                                    seen.add(value);
                                    return HandlerOutcome.ack();
                                })))
                .withBroker(broker(going), scope -> other.set(scope.publisher(KafkaPublish.to(to))));

        try (RunningApp running = app.start()) {
            LiveKafka.eventually("all are handled", () -> seen.size() == 3);
            assertThat(running.health().healthy()).isTrue();
        }

        assertThat(going.readValues(to, 1)).containsExactly("x", "y", "z");
        assertThat(stays.committed(group, from)).isEqualTo(Map.of(0, 3L));
    }

    private KafkaBroker broker(LiveKafka kafka) {
        return KafkaBroker.of(kafka.bootstrap())
                .defaultGroup(group)
                .commit(Commit.tracked())
                .assignmentTimeout(Duration.ofMinutes(10))
                .config("reconnect.backoff.max.ms", 200);
    }

    private Subscriber<String, Object> collecting(KafkaTopic topic) {
        return Subscriber.on(topic, String.class).handle((value, context) -> {
            seen.add(value);
            return HandlerOutcome.ack();
        });
    }

    private static KafkaTopic earliest(String topic) {
        return KafkaTopic.of(topic).startOffset(StartOffset.EARLIEST);
    }
}
