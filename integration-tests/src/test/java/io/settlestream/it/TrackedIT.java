package io.settlestream.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.HandlerOutcome;
import io.settlestream.RunningApp;
import io.settlestream.SettleStream;
import io.settlestream.Subscriber;
import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.kafka.StartOffset;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Commit.tracked() on a real broker. */
class TrackedIT {

    private final LiveKafka kafka = LiveKafka.shared();

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName(
            "3.2 with nothing open the committed offset is the log end; 3.4 a retry comes before what is behind it")
    void commitsUpToTheEnd(String protocol) {
        String topic = kafka.topic("tracked", 1);
        String group = LiveKafka.unique("group");
        List<String> seen = new CopyOnWriteArrayList<>();
        Subscriber<String, Object> subscriber = Subscriber.on(
                        KafkaTopic.of(topic)
                                .commit(Commit.tracked())
                                .startOffset(StartOffset.EARLIEST)
                                .config("group.protocol", protocol)
                                .config("auto.commit.interval.ms", 100),
                        String.class)
                .handle((value, context) -> {
                    seen.add(value + "#" + context.attempt());
                    return value.equals("b") && context.attempt() < 4 ? HandlerOutcome.retry() : HandlerOutcome.ack();
                });
        kafka.produce(topic, 0, "a", "b", "c");

        try (RunningApp app = SettleStream.app("tracked-it", "1")
                .withBroker(KafkaBroker.of(kafka.bootstrap()).defaultGroup(group), scope -> scope.include(subscriber))
                .start()) {
            LiveKafka.eventually(
                    "the group commits the end",
                    () -> kafka.committed0(group, topic).equals(Optional.of(3L)));
            assertThat(app.health().healthy()).isTrue();
        }

        assertThat(seen).containsExactly("a#1", "b#1", "b#2", "b#3", "b#4", "c#1");
        assertThat(kafka.committed(group, topic)).isEqualTo(Map.of(0, 3L));
    }
}
