package io.settlestream.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.groups.Tuple.tuple;

import ch.qos.logback.classic.Level;
import io.settlestream.App;
import io.settlestream.HandlerOutcome;
import io.settlestream.Health;
import io.settlestream.NoState;
import io.settlestream.RunningApp;
import io.settlestream.SettleStream;
import io.settlestream.StartupException;
import io.settlestream.Subscriber;
import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaPublish;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.kafka.StartOffset;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** From start() to the moment it returns. */
class StartIT {

    private static final int ROUNDS = 6;

    private final LiveKafka kafka = LiveKafka.shared();
    private final Queue<String> seen = new ConcurrentLinkedQueue<>();

    @Test
    @DisplayName("9.2 the group is the subscription's, else the broker's default")
    void group() {
        String own = LiveKafka.unique("own");
        String byDefault = LiveKafka.unique("default");
        String first = kafka.topic("grouped", 1);
        String second = kafka.topic("grouped", 1);

        try (RunningApp app = SettleStream.app("start-it", "1")
                .withBroker(KafkaBroker.of(kafka.bootstrap()).defaultGroup(byDefault), scope -> {
                    scope.include(noting(KafkaTopic.of(first).group(own)));
                    scope.include(noting(KafkaTopic.of(second)));
                })
                .start()) {

            assertThat(app.health().subscriptions())
                    .extracting(Health.Subscription::source, Health.Subscription::group)
                    .containsExactly(tuple(first, Optional.of(own)), tuple(second, Optional.of(byDefault)));
            assertThat(kafka.members(own)).isEqualTo(1);
            assertThat(kafka.members(byDefault)).isEqualTo(1);
        }
        assertThat(kafka.members(own) + kafka.members(byDefault)).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("9.3 what is published as soon as start() has returned is seen by LATEST, and nothing older")
    void latest(String protocol) {
        for (int round = 0; round < ROUNDS; round++) {
            seen.clear();
            String topic = kafka.topic("latest", 2);
            kafka.produce(topic, 0, "old");
            kafka.produce(topic, 1, "old");

            try (RunningApp app = SettleStream.app("start-it", "1")
                    .withBroker(
                            broker(protocol),
                            scope -> scope.include(noting(KafkaTopic.of(topic).startOffset(StartOffset.LATEST))))
                    .start()) {
                kafka.produce(topic, 0, "new0");
                kafka.produce(topic, 1, "new1");
                LiveKafka.eventually("round " + round + " sees both", () -> seen.size() >= 2);
            }
            assertThat(seen).containsExactlyInAnyOrder("new0", "new1");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName(
            "9.3 more members than partitions: start() returns, and what is published then is seen whoever owns it")
    void moreMembersThanPartitions(String protocol) {
        for (int round = 0; round < ROUNDS; round++) {
            seen.clear();
            String topic = kafka.topic("latest", 2);
            kafka.produce(topic, 0, "old");
            KafkaTopic source = KafkaTopic.of(topic).startOffset(StartOffset.LATEST);

            App<NoState> member = SettleStream.app("start-it", "1")
                    .withBroker(broker(protocol), scope -> scope.include(noting(source)));
            List<CompletableFuture<RunningApp>> members = Stream.generate(
                            () -> CompletableFuture.supplyAsync(member::start, Thread::startVirtualThread))
                    .limit(3)
                    .toList();
            try {
                members.forEach(LiveKafka::get);
                kafka.produce(topic, 0, "new0");
                kafka.produce(topic, 1, "new1");
                LiveKafka.eventually(
                        "round " + round + " sees both", () -> seen.contains("new0") && seen.contains("new1"));
            } finally {
                members.forEach(each -> each.join().close());
            }
            assertThat(seen).doesNotContain("old");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"auto", "tracked"})
    @DisplayName(
            "9.3 what is published after start() is seen by whoever owns the partition later, even if nothing was read")
    void startIsKept(String mode) {
        Commit commit = mode.equals("auto") ? Commit.auto() : Commit.tracked();
        String topic = kafka.topic("latest", 1);
        kafka.produce(topic, 0, "old");
        App<NoState> app = SettleStream.app("start-it", "1")
                .withBroker(
                        broker("classic").commit(commit),
                        scope -> scope.include(noting(KafkaTopic.of(topic).startOffset(StartOffset.LATEST))));

        app.start().close();
        kafka.produce(topic, 0, "new");
        try (RunningApp second = app.start()) {
            LiveKafka.eventually("the next owner sees it", () -> !seen.isEmpty());
        }

        assertThat(seen).containsExactly("new");
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName(
            "9.3 a missing topic opens empty with one warning; when it appears it is joined and read from its start")
    void missingTopic(String protocol) {
        String topic = LiveKafka.unique("missing");
        try (CapturedLog log = new CapturedLog(Level.WARN, "io.settlestream")) {
            try (RunningApp app = SettleStream.app("start-it", "1")
                    .withBroker(
                            broker(protocol).config("metadata.max.age.ms", 100),
                            scope -> scope.include(noting(KafkaTopic.of(topic).startOffset(StartOffset.LATEST))))
                    .start()) {
                assertThat(app.health().healthy()).isTrue();
                assertThat(app.health().subscriptions())
                        .singleElement()
                        .satisfies(subscription ->
                                assertThat(subscription.partitions()).isEmpty());

                kafka.create(topic, 2);
                kafka.produce(topic, 0, "a0", "b0");
                kafka.produce(topic, 1, "a1", "b1");

                LiveKafka.eventually("all are seen", () -> seen.size() >= 4);
            }
            assertThat(seen).containsExactlyInAnyOrder("a0", "b0", "a1", "b1");
            assertThat(log.lines())
                    .singleElement()
                    .satisfies(line -> assertThat(line).contains("topic does not exist", topic));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName(
            "9.3 nothing listens: the start fails after assignmentTimeout, names subscription and group, leaves nothing")
    void nothingListens(String protocol) throws IOException {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }

        failsToStart(protocol, "127.0.0.1:" + port);
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("9.3 a broker that takes connections and never answers: the same")
    void neverAnswers(String protocol) throws IOException {
        List<Socket> held = new ArrayList<>();
        try (ServerSocket silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            Thread accepting = Thread.ofVirtual().start(() -> {
                try {
                    while (true) {
                        held.add(silent.accept());
                    }
                } catch (IOException e) {
                    // closed by the test
                }
            });
            failsToStart(protocol, "127.0.0.1:" + silent.getLocalPort());
            assertThat(accepting.isAlive()).isTrue();
        }
        assertThat(held).as("connections that were taken").isNotEmpty();
        for (Socket socket : held) {
            socket.close();
        }
    }

    private void failsToStart(String protocol, String bootstrap) {
        Leftovers leftovers = new Leftovers();
        AtomicInteger hooks = new AtomicInteger();
        String topic = LiveKafka.unique("unreachable");
        App<NoState> app = SettleStream.app("start-it", "1")
                .withBroker(
                        KafkaBroker.of(bootstrap)
                                .defaultGroup("somebody")
                                .assignmentTimeout(Duration.ofMillis(300))
                                // Kafka's producer ends its thread no earlier than its request for a first id times
                                // out.
                                .config("request.timeout.ms", 1_000)
                                .config("group.protocol", protocol),
                        scope -> {
                            scope.publisher(KafkaPublish.to("out"));
                            scope.include(noting(KafkaTopic.of(topic)));
                        })
                .afterStartup(state -> hooks.addAndGet(100))
                .onShutdown(state -> hooks.addAndGet(10))
                .afterShutdown(state -> hooks.addAndGet(1));

        StartupException failure = catchThrowableOfType(StartupException.class, app::start);

        assertThat(failure.problems())
                .singleElement()
                .satisfies(problem -> assertThat(problem)
                        .contains("subscription " + topic, "group somebody", bootstrap, "assignmentTimeout PT0.3S"));
        assertThat(hooks).as("only afterShutdown has run").hasValue(1);
        leftovers.awaitNone();
    }

    private KafkaBroker broker(String protocol) {
        return KafkaBroker.of(kafka.bootstrap())
                .defaultGroup(LiveKafka.unique("group"))
                .config("group.protocol", protocol);
    }

    private Subscriber<String, Object> noting(KafkaTopic topic) {
        return Subscriber.on(topic, String.class).handle((value, context) -> {
            seen.add(value);
            return HandlerOutcome.ack();
        });
    }
}
