package io.settlestream.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.HandlerOutcome;
import io.settlestream.Health;
import io.settlestream.RunningApp;
import io.settlestream.Subscriber;
import io.settlestream.embedded.EmbeddedKafka;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Positions on a broker whose log cleaner is quick, and which goes away and comes back. */
class OwnBrokerIT {

    private static EmbeddedKafka broker;
    private static LiveKafka kafka;

    @BeforeAll
    static void start() {
        broker = EmbeddedKafka.builder()
                .brokerConfig("log.cleaner.backoff.ms", "50")
                .start();
        kafka = new LiveKafka(broker);
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("3.2 offsets that compaction took hold nothing back: lag is 0 at rest")
    void passesCompactedOffsets(String protocol) {
        String topic = kafka.topic(
                "compacted",
                1,
                Map.of(
                        "cleanup.policy", "compact",
                        "min.cleanable.dirty.ratio", "0.0",
                        "min.compaction.lag.ms", "0",
                        "segment.ms", "1"));
        String group = LiveKafka.unique("group");
        for (int i = 0; i < 10; i++) {
            kafka.produceKeyed(topic, 0, "same", "old" + i);
        }
        kafka.produceKeyed(topic, 0, "hold", "hold");
        for (int i = 0; i < 10; i++) {
            kafka.produceKeyed(topic, 0, "same", "newer" + i);
        }
        kafka.produceKeyed(topic, 0, "last", "last");
        LiveKafka.eventually(
                "the cleaner has run",
                () -> kafka.read(topic, 1).stream()
                        .map(ConsumerRecord::offset)
                        .toList()
                        .equals(List.of(10L, 20L, 21L)));
        List<Long> seen = new CopyOnWriteArrayList<>();
        CountDownLatch release = new CountDownLatch(1);
        Subscriber<String, Object> subscriber = Subscriber.on(Service.tracked(topic, group, protocol), String.class)
                .handle((value, context) -> {
                    seen.add(context.offset());
                    if (value.equals("hold")) {
                        Service.await(release);
                    }
                    return HandlerOutcome.ack();
                });

        try (RunningApp app = Service.start(kafka, subscriber, mount -> mount.workers(2))) {
            // In front of the open record nothing is left that could be read.
            committed(group, topic, 10);
            LiveKafka.eventually(
                    "the others are settled", () -> Service.only(app).counts().acked() == 2);
            assertThat(kafka.committed0(group, topic)).contains(10L);
            release.countDown();
            committed(group, topic, 22);
            assertThat(kafka.ends(topic, 1)).isEqualTo(Map.of(0, 22L));
        } finally {
            release.countDown();
        }
        assertThat(seen).containsExactlyInAnyOrder(10L, 20L, 21L);
    }

    private static void committed(String group, String topic, long offset) {
        LiveKafka.eventually(
                group + " commits " + offset,
                () -> kafka.committed0(group, topic).equals(Optional.of(offset)));
    }

    @Test
    @DisplayName("3.3 a commit that failed is made again with the newest positions, health shows it meanwhile;"
            + " the leader epoch is the log's")
    void commitsAfterAnOutage() {
        List<String> protocols = List.of("classic", "consumer");
        List<RunningApp> apps = new ArrayList<>();
        List<String> seen = new CopyOnWriteArrayList<>();
        CountDownLatch release = new CountDownLatch(1);
        String topic = kafka.topic("outage", 1);
        kafka.produce(topic, 0, "a", "hold", "c");
        try {
            for (String protocol : protocols) {
                Subscriber<String, Object> subscriber = Subscriber.on(
                                CommitLog.noted(
                                        Service.tracked(topic, "outage-" + protocol, protocol)
                                                .config("reconnect.backoff.max.ms", 200),
                                        "outage-" + protocol),
                                String.class)
                        .handle((value, context) -> {
                            if (value.equals("hold")) {
                                Service.await(release);
                            }
                            seen.add(protocol + " " + value);
                            return HandlerOutcome.ack();
                        });
                apps.add(Service.start(kafka, subscriber));
            }
            protocols.forEach(protocol -> committed("outage-" + protocol, topic, 1));

            broker.node(0).stop();
            release.countDown();
            for (RunningApp app : apps) {
                LiveKafka.eventually(
                        "what was fetched is handled",
                        () -> Service.only(app).counts().acked() == 3);
                LiveKafka.eventually(
                        "health shows that commits fail",
                        () -> !Service.only(app).problems().isEmpty());
                assertThat(app.health().healthy()).isFalse();
                assertThat(app.health().status()).isEqualTo(Health.Status.RUNNING);
            }

            broker.startNodes();
            protocols.forEach(protocol -> committed("outage-" + protocol, topic, 3));
            for (RunningApp app : apps) {
                LiveKafka.eventually("health is well again", () -> app.health().healthy());
            }

            // What comes after the outage has another leader epoch, and it is committed with the offset.
            kafka.produce(topic, 0, "d");
            int epoch = kafka.read(topic, 1).get(3).leaderEpoch().orElseThrow();
            assertThat(epoch).isPositive();
            for (String protocol : protocols) {
                committed("outage-" + protocol, topic, 4);
                OffsetAndMetadata committed =
                        kafka.committedOffsets("outage-" + protocol).get(new TopicPartition(topic, 0));
                assertThat(committed.leaderEpoch()).isEqualTo(Optional.of(epoch));
                assertThat(CommitLog.of("outage-" + protocol).stream()
                                .map(offsets -> offsets.get(new TopicPartition(topic, 0))
                                        .offset())
                                .toList())
                        .isSorted()
                        .endsWith(4L);
                assertThat(seen.stream()
                                .filter(value -> value.startsWith(protocol))
                                .distinct())
                        .containsExactly(protocol + " a", protocol + " hold", protocol + " c", protocol + " d");
            }
        } finally {
            release.countDown();
            apps.forEach(RunningApp::close);
        }
    }
}
