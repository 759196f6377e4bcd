package io.settlestream.internal.poll;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.settlestream.ControlException;
import io.settlestream.ControlException.Reason;
import io.settlestream.internal.health.Counters;
import io.settlestream.internal.testing.ManualTime;
import io.settlestream.kafka.KafkaPosition;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.WakeupException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Seeks between being asked for and taking effect, on a cluster whose every answer the test gives. */
class SeeksTest {

    private static final TopicPartition A = new TopicPartition("orders", 0);
    private static final TopicPartition B = new TopicPartition("orders", 1);

    /** Both partitions begin at 10 and end at 20. */
    private static final class Cluster extends MockConsumer<byte[], byte[]> {

        private RuntimeException answer;

        Cluster() {
            super("none");
            assign(List.of(A, B));
            updateBeginningOffsets(Map.of(A, 10L, B, 10L));
            updateEndOffsets(Map.of(A, 20L, B, 20L));
        }

        @Override
        public Map<TopicPartition, Long> beginningOffsets(Collection<TopicPartition> partitions, Duration timeout) {
            if (answer != null) {
                throw answer;
            }
            return super.beginningOffsets(partitions, timeout);
        }
    }

    private final ManualTime time = new ManualTime();
    private final Counters counters = new Counters();
    private final Cluster cluster = new Cluster();
    private final List<String> moved = new ArrayList<>();
    private final Seeks seeks = new Seeks(
            "in",
            cluster,
            new LogPlaces(cluster, Duration.ofSeconds(1)),
            (name, offset) -> moved.add(name + "@" + offset),
            counters,
            time);

    private Request seek(KafkaPosition position, TopicPartition... names) {
        Request request = new Request("in", time);
        request.awaits(List.of(names));
        for (TopicPartition name : names) {
            seeks.add(name, position, request);
        }
        return request;
    }

    private static void assertDone(Request request) throws Exception {
        assertThat(request.answer().get(20, TimeUnit.SECONDS)).isNull();
    }

    private static void assertFailed(Request request, Reason reason, String... words) {
        assertThatThrownBy(() -> request.answer().get(20, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isInstanceOfSatisfying(ControlException.class, e -> {
                    assertThat(e.reason()).isEqualTo(reason);
                    assertThat(e.subscription()).isEqualTo("in");
                    assertThat(e).hasMessageContainingAll(words);
                });
    }

    @Test
    @DisplayName("9.4: what the cluster does not answer in time is asked again, and health says so meanwhile")
    void asksAgain() throws Exception {
        Request request = seek(KafkaPosition.earliest(), A);
        cluster.answer = new TimeoutException("nobody there");
        seeks.resolve();
        assertThat(seeks.any()).isTrue();
        assertThat(seeks.problem()).contains("nobody there");
        assertThat(request.answer()).isNotDone();

        cluster.answer = null;
        seeks.resolve();
        assertDone(request);
        assertThat(moved).containsExactly("orders-0@10");
        assertThat(cluster.position(A)).isEqualTo(10);
        assertThat(seeks.any()).isFalse();
        assertThat(seeks.problem()).isNull();
    }

    @Test
    @DisplayName("9.4: what the cluster refuses fails, moves nothing, and stands in nobody's way")
    void refused() throws Exception {
        Request request = seek(KafkaPosition.earliest(), A);
        cluster.answer = new TopicAuthorizationException("not yours");
        seeks.resolve();
        assertFailed(request, Reason.REFUSED, "subscription in", "Earliest", "not yours");
        assertThat(seeks.any()).isFalse();
        assertThat(moved).isEmpty();

        cluster.answer = null;
        Request next = seek(KafkaPosition.latest(), A);
        seeks.resolve();
        assertDone(next);
        assertThat(moved).containsExactly("orders-0@20");
    }

    @Test
    @DisplayName("9.4: a wake-up in between is passed on, and the seek is asked for again")
    void wokenUp() throws Exception {
        Request request = seek(KafkaPosition.offset(12), A);
        cluster.answer = new WakeupException();
        assertThatThrownBy(seeks::resolve).isInstanceOf(WakeupException.class);
        cluster.answer = null;
        seeks.resolve();
        assertDone(request);
        assertThat(moved).containsExactly("orders-0@12");
    }

    @Test
    @DisplayName("9.4: of two seeks of a partition the later wins, and both are done with it")
    void laterWins() throws Exception {
        Request both = seek(KafkaPosition.earliest(), A, B);
        Request one = seek(KafkaPosition.offset(15), B);
        seeks.resolve();
        assertDone(both);
        assertDone(one);
        assertThat(moved).containsExactlyInAnyOrder("orders-0@10", "orders-1@15");
    }

    @Test
    @DisplayName("9.4: a partition that leaves takes its seek along; the others of the request move")
    void leaves() {
        Request request = seek(KafkaPosition.latest(), A, B);
        seeks.gone(A);
        seeks.resolve();
        assertFailed(request, Reason.REVOKED, "orders-0", "before it was sought");
        assertThat(moved).containsExactly("orders-1@20");
    }

    @Test
    @DisplayName("9.4, 10.3: a stop does not wait for seeks")
    void stops() {
        Request request = seek(KafkaPosition.latest(), A);
        seeks.tooLate();
        assertFailed(request, Reason.STOPPING, "subscription in");
        assertThat(seeks.any()).isFalse();
    }

    @Test
    @DisplayName("9.4: a request that concerns no partition is done at once")
    void nothingToMove() throws Exception {
        assertDone(seek(KafkaPosition.latest()));
    }

    @Test
    @DisplayName("3.10, 9.4: an offset outside of the log is counted, one within is not")
    void outside() {
        seek(KafkaPosition.offset(3), A);
        seek(KafkaPosition.offset(20), B);
        seeks.resolve();
        assertThat(moved).containsExactlyInAnyOrder("orders-0@10", "orders-1@20");
        assertThat(counters.trimmed.sum()).isEqualTo(1);
    }
}
