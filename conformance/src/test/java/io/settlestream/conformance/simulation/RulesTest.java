package io.settlestream.conformance.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.DecodePolicy;
import io.settlestream.conformance.simulation.DeliveryRules.End;
import io.settlestream.conformance.simulation.SubscriptionPlan.Kind;
import io.settlestream.conformance.simulation.SubscriptionPlan.Order;
import io.settlestream.conformance.simulation.SubscriptionPlan.Protocol;
import io.settlestream.testing.TestKafka;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Rules that cannot be broken hold nobody to anything: each is broken here by hand. */
class RulesTest {

    private static final TopicPartition PARTITION = new TopicPartition("in0", 0);

    private final TestKafka kafka = TestKafka.create().topic("in0", 1);
    private final Trace trace = new Trace(() -> Instant.EPOCH);
    private final Violations violations = new Violations(trace);
    private Instant now = Instant.EPOCH;
    private final Records records = new Records();
    private final SubscriptionPlan subscription = plan(Order.ONE_LANE, 1);
    private final DeliveryRules deliveries = new DeliveryRules(violations, () -> now);
    private final RunPlan plan = new RunPlan(1, List.of(subscription), 1, false, false, false);
    private final AttemptRules attempts = new AttemptRules(records, kafka.clock(), violations);
    private final CopyRules copies = new CopyRules(plan, kafka, records, attempts, violations, trace);
    private final PositionRules positions = new PositionRules(plan, kafka, records, copies, violations, trace);
    private final Life life = new Life("m", 1);

    @AfterEach
    void close() {
        kafka.close();
    }

    private static SubscriptionPlan plan(Order order, int workers) {
        return plan(order, workers, true, OnException.RETRY);
    }

    private static SubscriptionPlan plan(Order order, int workers, boolean tracked, OnException onException) {
        return new SubscriptionPlan(
                "s0",
                "in0",
                1,
                "g0",
                tracked,
                Kind.SINGLE,
                order,
                workers,
                false,
                1,
                Protocol.EAGER,
                10,
                OptionalInt.empty(),
                onException,
                DecodePolicy.Fixed.DROP,
                Duration.ZERO,
                Duration.ZERO,
                Duration.ZERO,
                Duration.ofSeconds(5),
                false,
                RecoveryPlan.NONE);
    }

    private HandMadeContext enter(long offset, int attempt) {
        return enter(subscription, new HandMadeContext(life, offset, attempt, false));
    }

    private HandMadeContext enter(SubscriptionPlan of, HandMadeContext context) {
        deliveries.enter(life, of, List.of(context));
        return context;
    }

    private void broken(String rule) {
        assertThat(violations.first())
                .hasValueSatisfying(violation -> assertThat(violation.rule()).isEqualTo(rule));
    }

    private void unbroken() {
        assertThat(violations.first()).isEmpty();
    }

    @Test
    @DisplayName("1.3: a record with two handlers at a time is seen")
    void twoAtATime() {
        SubscriptionPlan shared = plan(Order.NONE, 2);
        enter(shared, new HandMadeContext(life, 7, 1, false));
        unbroken();
        enter(shared, new HandMadeContext(life, 7, 2, false));
        broken("1.3 one at a time");
    }

    @Test
    @DisplayName("1.2: a record that is delivered again although it was acked is seen")
    void settledAgain() {
        deliveries.leave(life, subscription, enter(7, 1), End.SETTLED);
        enter(7, 2);
        broken("1.2 settled");
    }

    @Test
    @DisplayName("3.4: an attempt that is left out is seen")
    void attempts() {
        deliveries.leave(life, subscription, enter(7, 1), End.AGAIN);
        enter(7, 3);
        broken("3.4 attempts");
    }

    @Test
    @DisplayName("3.4: a record that overtakes a retry is seen")
    void overtakes() {
        deliveries.leave(life, subscription, enter(7, 1), End.AGAIN);
        enter(8, 1);
        broken("3.4 retries first");
    }

    @Test
    @DisplayName("5.1: two records of a lane at a time are seen")
    void laneWithTwo() {
        enter(7, 1);
        enter(8, 1);
        broken("5.1 one after the other");
    }

    @Test
    @DisplayName("5.1: records out of order are seen")
    void outOfOrder() {
        deliveries.leave(life, subscription, enter(8, 1), End.SETTLED);
        enter(7, 1);
        broken("5.1 in order");
    }

    @Test
    @DisplayName("3.8: queued records that are handled although they were given up are seen")
    void givenUp() {
        deliveries.leave(life, subscription, enter(subscription, new HandMadeContext(life, 7, 1, true)), End.SETTLED);
        unbroken();
        enter(subscription, new HandMadeContext(life, 8, 1, true));
        broken("3.8 given up");
    }

    @Test
    @DisplayName("3.8: a worker that takes another record of a partition that it has met given up is seen")
    void givenUpAgain() {
        SubscriptionPlan shared = plan(Order.NONE, 2);
        deliveries.leave(life, shared, enter(shared, new HandMadeContext(life, 7, 1, true)), End.SETTLED);
        unbroken();
        enter(shared, new HandMadeContext(life, 8, 1, true));
        broken("3.8 given up");
    }

    @Test
    @DisplayName("A handler in order, with a retry, breaks nothing")
    void inOrder() {
        deliveries.leave(life, subscription, enter(7, 1), End.AGAIN);
        deliveries.leave(life, subscription, enter(7, 2), End.SETTLED);
        deliveries.leave(life, subscription, enter(8, 1), End.SETTLED);
        enter(10, 1);
        unbroken();
    }

    @Test
    @DisplayName("3.1: a record that is skipped, and so lost, is seen")
    void skipped() {
        write("r1", "r2", "r3");
        records.settled(subscription, PARTITION, 0);
        records.settled(subscription, PARTITION, 2);
        commit(1);
        positions.check();
        unbroken();
        commit(3);
        positions.check();
        broken("3.1 never past an open record");
    }

    @Test
    @DisplayName("3.3: a committed offset that goes back is seen")
    void back() {
        write("r1", "r2");
        records.settled(subscription, PARTITION, 0);
        commit(1);
        positions.check();
        commit(0);
        positions.check();
        broken("3.3 never back");
    }

    @Test
    @DisplayName("2.3: under Auto a committed offset may go back to a record that failed the service, and to no other")
    void backToWhatFailed() {
        SubscriptionPlan auto = plan(Order.ONE_LANE, 1, false, OnException.FAIL_FAST);
        PositionRules ofAuto = new PositionRules(
                new RunPlan(1, List.of(auto), 1, false, false, false), kafka, records, copies, violations, trace);
        write("r1", "r2", "r3");
        List.of("r1", "r2", "r3").forEach(id -> records.met(auto, id));
        records.failed(auto, PARTITION, 2);
        commit(3);
        ofAuto.check();
        commit(2);
        ofAuto.check();
        unbroken();
        commit(1);
        ofAuto.check();
        broken("3.3 never back");
    }

    @Test
    @DisplayName("3.1: a committed offset past the end of the log is seen")
    void pastTheEnd() {
        commit(1);
        positions.check();
        broken("3.1 log end");
    }

    @Test
    @DisplayName("3.2: lag at rest is seen")
    void lag() {
        write("r1", "r2");
        records.settled(subscription, PARTITION, 0);
        commit(1);
        positions.atRest();
        broken("3.2 up to it");
    }

    private void write(String... values) {
        try (var producer = kafka.clients()
                .producer(Map.of("bootstrap.servers", "localhost:9092", "linger.ms", 0, "client.id", "test"))) {
            for (String value : values) {
                var unused =
                        producer.send(new ProducerRecord<>("in0", 0, null, value.getBytes(StandardCharsets.UTF_8)));
            }
            producer.flush();
        }
    }

    private void commit(long offset) {
        try (Consumer<byte[], byte[]> consumer = kafka.clients()
                .consumer(
                        Map.of("bootstrap.servers", "localhost:9092", "group.id", "g0", "enable.auto.commit", false))) {
            consumer.assign(List.of(PARTITION));
            consumer.commitSync(Map.of(PARTITION, new OffsetAndMetadata(offset)));
        }
    }
}
