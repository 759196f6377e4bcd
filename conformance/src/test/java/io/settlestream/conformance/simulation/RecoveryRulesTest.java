package io.settlestream.conformance.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.DecodePolicy;
import io.settlestream.conformance.simulation.DeliveryRules.End;
import io.settlestream.conformance.simulation.SubscriptionPlan.Kind;
import io.settlestream.conformance.simulation.SubscriptionPlan.Order;
import io.settlestream.conformance.simulation.SubscriptionPlan.Protocol;
import io.settlestream.kafka.RecordCopy;
import io.settlestream.testing.TestKafka;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** As {@link RulesTest}, for caps, dead letters, delays, retry topics and pauses: each rule is broken here by hand. */
class RecoveryRulesTest {

    private static final int CAP = 3;
    private static final Original FIRST = new Original("in0", 0, 0);

    private final TestKafka kafka =
            TestKafka.create().topic("in0", 1).topic("dead", 1).topic("again", 1);
    private final Trace trace = new Trace(() -> Instant.EPOCH);
    private final Violations violations = new Violations(trace);
    private final Records records = new Records();
    private final SubscriptionPlan subscription = plan(true);
    private final RunPlan plan = new RunPlan(1, List.of(subscription), 1, false, false, true);
    private final AttemptRules attempts = new AttemptRules(records, kafka.clock(), violations);
    private final DeliveryRules deliveries = new DeliveryRules(violations, kafka.clock());
    private final CopyRules copies = new CopyRules(plan, kafka, records, attempts, violations, trace);
    private final PositionRules positions = new PositionRules(plan, kafka, records, copies, violations, trace);
    private final Life life = new Life("m", 1);

    @AfterEach
    void close() {
        kafka.close();
    }

    private static SubscriptionPlan plan(boolean tracked) {
        return new SubscriptionPlan(
                "s0",
                "in0",
                1,
                "g0",
                tracked,
                Kind.SINGLE,
                Order.ONE_LANE,
                1,
                false,
                1,
                Protocol.EAGER,
                10,
                OptionalInt.empty(),
                OnException.RETRY,
                DecodePolicy.Fixed.DROP,
                Duration.ZERO,
                Duration.ZERO,
                Duration.ZERO,
                Duration.ofSeconds(5),
                false,
                new RecoveryPlan(
                        OptionalInt.of(CAP),
                        Optional.of("dead"),
                        Optional.of("again"),
                        Optional.empty(),
                        Optional.empty(),
                        true,
                        false));
    }

    private void broken(String rule) {
        assertThat(violations.first())
                .hasValueSatisfying(violation -> assertThat(violation.rule()).isEqualTo(rule));
    }

    private void unbroken() {
        assertThat(violations.first()).isEmpty();
    }

    private void attempt(int number) {
        attempts.enter(life, subscription, new HandMadeContext(life, 0, number, false));
    }

    @Test
    @DisplayName("7.4: an attempt that the record has not earned is seen, also in another life")
    void notEarned() {
        attempt(1);
        attempts.enter(new Life("n", 1), subscription, new HandMadeContext(life, 0, 2, false));
        unbroken();
        attempt(4);
        broken("7.4 never early");
    }

    @Test
    @DisplayName("7.1: an attempt more than the cap is seen")
    void pastTheCap() {
        for (int i = 1; i <= CAP; i++) {
            attempt(i);
        }
        unbroken();
        attempt(CAP + 1);
        broken("7.1 cap");
    }

    private void attemptAtCopy(String group, Instant due, int number) {
        attempt(1);
        RecordCopy copy = new RecordCopy(
                "in0",
                0,
                0,
                Instant.EPOCH,
                Optional.of(group),
                1,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.of(due));
        attempts.enter(life, subscription, new HandMadeContext(life, 7, number, false, Optional.of(copy)));
    }

    @Test
    @DisplayName("3.5: a copy that is handled before it is due is seen")
    void copyNotDue() {
        attemptAtCopy("g0", kafka.clock().now().plusMillis(1), 2);
        broken("3.5 delays");
    }

    @Test
    @DisplayName("3.5: a copy of another group that is handled is seen")
    void copyOfAnother() {
        attemptAtCopy("g1", kafka.clock().now(), 2);
        broken("3.5 own copies");
    }

    @Test
    @DisplayName("7.4: a copy whose attempts begin again is seen")
    void copyFromTheStart() {
        attemptAtCopy("g0", kafka.clock().now(), 1);
        broken("7.4 counts");
    }

    private HandMadeContext enter(long offset, int attempt) {
        HandMadeContext context = new HandMadeContext(life, offset, attempt, false);
        deliveries.enter(life, subscription, List.of(context));
        return context;
    }

    @Test
    @DisplayName("3.5: a delayed record lets others pass, and one that comes back before its time is seen")
    void tooEarly() {
        deliveries.leave(life, subscription, enter(0, 1), End.DELAYED, Duration.ofSeconds(2));
        deliveries.leave(life, subscription, enter(1, 1), End.SETTLED);
        kafka.advance(Duration.ofSeconds(1));
        unbroken();
        enter(0, 2);
        broken("3.5 delays");
    }

    @Test
    @DisplayName("7.2: a record that is delivered again while its copy is on the way is seen")
    void deliveredWhileCopying() {
        deliveries.leave(life, subscription, enter(0, 1), End.GIVEN_UP);
        enter(0, 2);
        broken("1.2 settled");
    }

    @Test
    @DisplayName("9.5: a record of a paused partition that is begun is seen, and one of another is not")
    void pausedPartition() {
        UserPauses pauses = new UserPauses(kafka, violations, trace);
        pauses.add(life, subscription, "in0-1");
        pauses.enter(life, subscription, new HandMadeContext(life, 0, 1, false));
        unbroken();
        pauses.add(life, subscription, "in0-0");
        pauses.enter(life, subscription, new HandMadeContext(life, 0, 1, false));
        broken("9.5 paused");
    }

    @Test
    @DisplayName("9.5: a record of a paused subscription that is begun is seen")
    void pausedSubscription() {
        UserPauses pauses = new UserPauses(kafka, violations, trace);
        pauses.add(life, subscription, UserPauses.ALL);
        pauses.enter(life, subscription, new HandMadeContext(life, 0, 1, false));
        broken("9.5 paused");
    }

    @Test
    @DisplayName("10.3: a stop that waits for a delay is seen")
    void stopWaits() {
        StopRules stops = new StopRules(plan, kafka, deliveries, violations);
        StopRules.Before before =
                new StopRules.Before(List.of(), true, kafka.clock().now(), 0);
        kafka.advance(Duration.ofSeconds(1));
        stops.inTime(new Member("m"), before);
        unbroken();
        kafka.advance(Duration.ofMillis(1));
        stops.inTime(new Member("m"), before);
        broken("10.3 waits for nothing");
    }

    @Test
    @DisplayName("3.1: a record that is given up and committed past, but not among the dead letters, is seen")
    void copyMissing() {
        write("in0", "r1", Map.of());
        write("in0", "r2", Map.of());
        attempt(1);
        records.givenUp(subscription, FIRST);
        commit(1);
        positions.check();
        broken("3.1 never past an open record");
    }

    @Test
    @DisplayName("3.1: a record whose dead letter is in the log may be committed past")
    void copyThere() {
        write("in0", "r1", Map.of());
        attempt(1);
        records.givenUp(subscription, FIRST);
        copy("dead", "r1", 1, Map.of());
        commit(1);
        positions.check();
        unbroken();
    }

    @Test
    @DisplayName("2.1: under Auto, a record that is given up and then committed past without a dead letter is seen")
    void copyMissingUnderAuto() {
        SubscriptionPlan auto = plan(false);
        RunPlan ofAuto = new RunPlan(1, List.of(auto), 1, false, false, true);
        PositionRules autoPositions = new PositionRules(ofAuto, kafka, records, copies, violations, trace);
        write("in0", "r1", Map.of());
        records.met(auto, "r1");
        records.givenUp(auto, FIRST);
        autoPositions.check();
        unbroken();
        commit(1);
        autoPositions.check();
        broken("2.1 never past what nobody has met");
    }

    @Test
    @DisplayName("7.3: a copy that is not as its original is seen")
    void unfaithful() {
        write("in0", "r1", Map.of("tag", "a"));
        attempt(1);
        records.givenUp(subscription, FIRST);
        copy("dead", "r1", 1, Map.of("tag", "b"));
        copies.check();
        broken("7.3 faithful");
    }

    @Test
    @DisplayName("7.3: a copy that does not say what it is a copy of is seen")
    void withoutOrigin() {
        write("dead", "r1", Map.of());
        copies.check();
        broken("7.3 faithful");
    }

    @Test
    @DisplayName("7.4: a dead letter without a reason, before the cap, is seen")
    void early() {
        write("in0", "r1", Map.of());
        attempt(1);
        copy("dead", "r1", 1, Map.of());
        copies.check();
        broken("7.4 never early");
    }

    @Test
    @DisplayName("7.4: a copy that tells of more attempts than there were is seen")
    void tooManyAttempts() {
        write("in0", "r1", Map.of());
        attempt(1);
        records.givenUp(subscription, FIRST);
        copy("dead", "r1", 2, Map.of());
        copies.check();
        broken("7.4 counts");
    }

    @Test
    @DisplayName("7.2: a second dead letter of a record that was given up once is seen, unless an answer was lost")
    void twice() {
        write("in0", "r1", Map.of());
        attempt(1);
        records.givenUp(subscription, FIRST);
        copies.uncertain("dead");
        copy("dead", "r1", 1, Map.of());
        copy("dead", "r1", 1, Map.of());
        copies.check();
        unbroken();
        CopyRules certain = new CopyRules(plan, kafka, records, attempts, violations, trace);
        certain.check();
        broken("7.2 once");
    }

    @Test
    @DisplayName("7.1: a retry copy of a record that has had its last attempt is seen")
    void postponedPastTheCap() {
        write("in0", "r1", Map.of());
        for (int i = 1; i <= CAP; i++) {
            attempt(i);
        }
        records.postponed(subscription, FIRST);
        copy(
                "again",
                "r1",
                CAP,
                Map.of(RecordCopy.DUE, millis(kafka.clock().now().plusSeconds(1))));
        copies.check();
        broken("7.1 cap");
    }

    private static String millis(Instant time) {
        return String.valueOf(time.toEpochMilli());
    }

    /** A copy of the first record, of one written at the same moment. */
    private void copy(String topic, String value, int attemptsMade, Map<String, String> more) {
        Map<String, String> headers = new java.util.TreeMap<>(more);
        String now = millis(kafka.clock().now());
        headers.putAll(Map.of(
                RecordCopy.ORIGIN_TOPIC,
                "in0",
                RecordCopy.ORIGIN_PARTITION,
                "0",
                RecordCopy.ORIGIN_OFFSET,
                "0",
                RecordCopy.ORIGIN_TIMESTAMP,
                millis(kafka.topic("in0").records().get(0).timestamp()),
                RecordCopy.GROUP,
                "g0",
                RecordCopy.ATTEMPTS,
                String.valueOf(attemptsMade),
                RecordCopy.COPIED_AT,
                now));
        write(topic, value, headers);
    }

    private void write(String topic, String value, Map<String, String> headers) {
        try (var producer = kafka.clients()
                .producer(Map.of("bootstrap.servers", "localhost:9092", "linger.ms", 0, "client.id", "test"))) {
            ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(
                    topic, 0, kafka.clock().now().toEpochMilli(), null, value.getBytes(StandardCharsets.UTF_8));
            headers.forEach((name, text) -> record.headers().add(name, text.getBytes(StandardCharsets.UTF_8)));
            var unused = producer.send(record);
            producer.flush();
        }
    }

    private void commit(long offset) {
        try (Consumer<byte[], byte[]> consumer = kafka.clients()
                .consumer(
                        Map.of("bootstrap.servers", "localhost:9092", "group.id", "g0", "enable.auto.commit", false))) {
            TopicPartition partition = new TopicPartition("in0", 0);
            consumer.assign(List.of(partition));
            consumer.commitSync(Map.of(partition, new OffsetAndMetadata(offset)));
        }
    }
}
