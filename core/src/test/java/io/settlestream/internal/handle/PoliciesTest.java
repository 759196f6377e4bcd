package io.settlestream.internal.handle;

import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.BatchHandler;
import io.settlestream.BatchOutcome;
import io.settlestream.DecodeException;
import io.settlestream.DecodePolicy;
import io.settlestream.ExceptionPolicy;
import io.settlestream.HandlerOutcome;
import io.settlestream.internal.health.Counters;
import io.settlestream.internal.position.OwnedPartition;
import io.settlestream.internal.position.Slots;
import io.settlestream.internal.settle.AutoSettlement;
import io.settlestream.internal.settle.BatchUnit;
import io.settlestream.internal.settle.Delivery;
import io.settlestream.internal.settle.Disposition;
import io.settlestream.internal.settle.Recovery;
import io.settlestream.internal.settle.Settlement;
import io.settlestream.internal.settle.TrackedSettlement;
import io.settlestream.internal.testing.ManualTime;
import io.settlestream.internal.testing.Records;
import io.settlestream.kafka.RecordCopy;
import io.settlestream.spi.AppObserver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** 7.5: what policies choose, and what becomes of it. */
@Timeout(30)
class PoliciesTest {

    private static final Duration LATER = Duration.ofSeconds(5);

    private final ManualTime time = new ManualTime();
    private final Counters counters = new Counters();
    private final List<Throwable> failures = new ArrayList<>();
    private final LinkedBlockingQueue<ProducerRecord<byte[], byte[]>> sent = new LinkedBlockingQueue<>();
    private OwnedPartition partition = assigned();

    private boolean auto;
    private String deadLetters = "dead";
    private Integer maxAttempts;
    private ExceptionPolicy onException = ExceptionPolicy.FAIL_FAST;
    private DecodePolicy onDecodeFailure = DecodePolicy.FAIL_FAST;

    private HandlerEnvironment environment() {
        Recovery recovery = new Recovery(
                "in",
                new Recovery.Plan(maxAttempts, deadLetters, null, "group", false),
                (record, listener) -> sent.add(record),
                counters,
                failures::add,
                time);
        Settlement settlement = auto
                ? new AutoSettlement("in", counters, recovery, time)
                : new TrackedSettlement("in", counters, recovery, time);
        return new HandlerEnvironment(
                "in",
                new OneByte(),
                onException,
                onDecodeFailure,
                settlement,
                recovery,
                counters,
                failures::add,
                time,
                AppObserver.NONE);
    }

    private Disposition thrown(Throwable thrown) {
        return new Policies(environment()).threw(delivery(), thrown);
    }

    private Disposition undecodable(Throwable thrown) {
        return new Policies(environment()).undecodable(delivery(), thrown);
    }

    private long next;

    private static OwnedPartition assigned() {
        return new OwnedPartition(new TopicPartition("orders", 3), Slots.State.SETTLED, settled -> {});
    }

    /** One of a new assignment: of one that has failed nothing more is handed over. */
    private Delivery delivery() {
        partition = assigned();
        return deliveries(1).get(0);
    }

    private List<Delivery> deliveries(int count) {
        Slots slots =
                partition.register(Records.row(partition.topicPartition(), next, count), next + count, null, next);
        next += count;
        List<Delivery> deliveries = new ArrayList<>();
        for (int slot = 0; slot < count; slot++) {
            Delivery delivery = new Delivery(new Delivery.Shared("state", null, null), slots, slot);
            assertThat(delivery.handOver()).isTrue();
            deliveries.add(delivery);
        }
        return deliveries;
    }

    private RecordCopy copy() throws InterruptedException {
        ProducerRecord<byte[], byte[]> copy = sent.poll(20, TimeUnit.SECONDS);
        assertThat(copy).as("a copy").isNotNull();
        return RecordCopy.of(copy.headers()).orElseThrow();
    }

    private void failedWith(String words) {
        assertThat(failures).hasSize(1);
        assertThat(failures.remove(0)).hasMessageContaining("orders-3@").hasMessageContaining(words);
    }

    @Test
    @DisplayName("7.5: a policy may look at what was thrown, and choose again within what it has chosen")
    void byCause() throws Exception {
        ExceptionPolicy ofState = ExceptionPolicy.byCause(
                cause -> "soon".equals(cause.getMessage()) ? ExceptionPolicy.RETRY : ExceptionPolicy.retryAfter(LATER));
        onException = ExceptionPolicy.byCause(cause -> switch (cause) {
            case IllegalStateException state -> ofState;
            case IllegalArgumentException bad -> ExceptionPolicy.DEAD_LETTER;
            case TimeoutException slow -> ExceptionPolicy.DROP;
            default -> ExceptionPolicy.FAIL_FAST;
        });
        assertThat(thrown(new IllegalStateException("soon"))).isEqualTo(Disposition.RETRY);
        assertThat(thrown(new IllegalStateException("later"))).isEqualTo(new Disposition.Later(LATER.toNanos()));
        assertThat(thrown(new IllegalArgumentException("bad"))).isEqualTo(Disposition.AWAITING_REPORT);
        RecordCopy copy = copy();
        assertThat(copy.failure()).contains("java.lang.IllegalArgumentException");
        assertThat(copy.reason()).contains("bad");
        assertThat(thrown(new TimeoutException())).isEqualTo(Disposition.DONE);
        assertThat(counters.dropped.sum()).isEqualTo(1);
        assertThat(failures).isEmpty();
        assertThat(thrown(new Exception("other"))).isEqualTo(Disposition.FAILED);
        failedWith("threw on attempt 1");
        assertThat(counters.exceptions.sum()).isEqualTo(5);
    }

    @Test
    @DisplayName("7.5: a choice that is null, throws, has no end or cannot be followed stops the service")
    void choicesThatAreNone() {
        deadLetters = null;
        List<ExceptionPolicy> policies = new ArrayList<>();
        policies.add(ExceptionPolicy.byCause(cause -> null));
        policies.add(ExceptionPolicy.byCause(cause -> {
            throw new UnsupportedOperationException("no choice");
        }));
        policies.add(ExceptionPolicy.byCause(cause -> ExceptionPolicy.DEAD_LETTER));
        policies.add(ExceptionPolicy.byCause(cause -> policies.get(3)));
        policies.add(ExceptionPolicy.byCause(cause -> {
            throw new NoClassDefFoundError("no choice");
        }));
        List<String> said = List.of(
                "chose null",
                "policy threw itself",
                "chose DEAD_LETTER, but there is no dead-letter topic: name one with deadLetter(...)",
                "chose BY_CAUSE over and over",
                "policy threw itself");
        for (int i = 0; i < policies.size(); i++) {
            onException = policies.get(i);
            assertThat(thrown(new IllegalStateException("why"))).isEqualTo(Disposition.FAILED);
            assertThat(failures).hasSize(1);
            Throwable failure = failures.remove(0);
            assertThat(failure).hasCauseInstanceOf(IllegalStateException.class).hasMessageContaining("onException");
            assertThat(failure.getCause().getSuppressed()).hasSize(1);
            assertThat(failure.getCause().getSuppressed()[0]).hasMessageContaining(said.get(i));
            if (i == 1) {
                assertThat(failure.getCause().getSuppressed()[0])
                        .hasCauseInstanceOf(UnsupportedOperationException.class);
            }
            assertThat(partition.openRecords()).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("2.2, 7.5: under Auto a choice to retry cannot be followed: it stops the service and loses nothing")
    void retryUnderAuto() {
        auto = true;
        for (ExceptionPolicy choice : List.of(ExceptionPolicy.RETRY, ExceptionPolicy.retryAfter(LATER))) {
            onException = ExceptionPolicy.byCause(cause -> choice);
            assertThat(thrown(new IllegalStateException("why"))).isEqualTo(Disposition.FAILED);
            failedWith("threw");
            assertThat(partition.openRecords()).isEqualTo(1);
        }
        onDecodeFailure = DecodePolicy.byCause(cause -> DecodePolicy.RETRY);
        assertThat(undecodable(new DecodeException("no", null))).isEqualTo(Disposition.FAILED);
        failedWith("cannot be decoded");
        assertThat(counters.unsupportedRetries.sum()).isZero();
        assertThat(partition.openRecords()).isEqualTo(1);
    }

    @Test
    @DisplayName("7.5: a decode policy may look at what the codec said, and choose again within what it has chosen")
    void decodeByCause() throws Exception {
        onDecodeFailure = DecodePolicy.byCause(why -> switch (why.getMessage()) {
            case "bad" -> DecodePolicy.byCause(again -> DecodePolicy.DEAD_LETTER);
            case "not yet" -> DecodePolicy.RETRY;
            case "noise" -> DecodePolicy.DROP;
            default -> DecodePolicy.FAIL_FAST;
        });
        assertThat(undecodable(new DecodeException("bad", null))).isEqualTo(Disposition.AWAITING_REPORT);
        RecordCopy copy = copy();
        assertThat(copy.failure()).contains("io.settlestream.DecodeException");
        assertThat(copy.reason()).contains("bad");
        assertThat(undecodable(new DecodeException("not yet", null))).isEqualTo(Disposition.RETRY);
        assertThat(undecodable(new DecodeException("noise", null))).isEqualTo(Disposition.DONE);
        assertThat(undecodable(new IllegalStateException("secret"))).isEqualTo(Disposition.FAILED);
        failedWith("cannot be decoded");
        assertThat(counters.undecodable.sum()).isEqualTo(4);
    }

    @Test
    @DisplayName("7.5: a decode choice that is null, throws, has no end or cannot be followed stops the service")
    void decodeChoicesThatAreNone() {
        deadLetters = null;
        List<DecodePolicy> policies = new ArrayList<>();
        policies.add(DecodePolicy.byCause(why -> null));
        policies.add(DecodePolicy.byCause(why -> {
            throw new UnsupportedOperationException("no choice");
        }));
        policies.add(DecodePolicy.byCause(why -> DecodePolicy.DEAD_LETTER));
        policies.add(DecodePolicy.byCause(why -> policies.get(3)));
        for (DecodePolicy policy : policies) {
            onDecodeFailure = policy;
            assertThat(undecodable(new DecodeException("why", null))).isEqualTo(Disposition.FAILED);
            failedWith("onDecodeFailure");
            assertThat(partition.openRecords()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName("7.1: a dead letter with no topic declared counts as a thrown exception that says so")
    void nowhereToGo(boolean auto) {
        this.auto = auto;
        deadLetters = null;
        assertThat(new Policies(environment()).answered(delivery(), HandlerOutcome.deadLetter("why")))
                .isEqualTo(Disposition.FAILED);
        assertThat(failures).hasSize(1);
        assertThat(failures.remove(0))
                .cause()
                .hasMessageContaining("has no dead-letter topic")
                .hasMessageContaining("deadLetter(...)");
        assertThat(counters.exceptions.sum()).isEqualTo(1);

        onException = ExceptionPolicy.DROP;
        assertThat(new Policies(environment()).answered(delivery(), HandlerOutcome.deadLetter("why")))
                .isEqualTo(Disposition.DONE);
        assertThat(failures).isEmpty();
        assertThat(counters.dropped.sum()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName("7.1: a dead letter of a handler goes there at once, whatever the cap, with what the handler said")
    void deadLetter(boolean auto) throws Exception {
        this.auto = auto;
        assertThat(new Policies(environment()).answered(delivery(), HandlerOutcome.deadLetter("no such customer")))
                .isEqualTo(Disposition.AWAITING_REPORT);
        RecordCopy copy = copy();
        assertThat(copy.failure()).isEmpty();
        assertThat(copy.reason()).contains("no such customer");
        assertThat(copy.attempts()).isEqualTo(1);
    }

    @Test
    @DisplayName(
            "7.5: what is thrown under a cap is a failed attempt, and on the last one the reason of the dead letter")
    void thrownUnderACap() throws Exception {
        maxAttempts = 2;
        onException = ExceptionPolicy.RETRY;
        Delivery delivery = delivery();
        Policies policies = new Policies(environment());
        assertThat(policies.threw(delivery, new IllegalStateException("first"))).isEqualTo(Disposition.RETRY);
        delivery.nextAttempt();
        assertThat(policies.threw(delivery, new IllegalStateException("second")))
                .isEqualTo(Disposition.AWAITING_REPORT);
        RecordCopy copy = copy();
        assertThat(copy.attempts()).isEqualTo(2);
        assertThat(copy.failure()).contains("java.lang.IllegalStateException");
        assertThat(copy.reason()).contains("second");
    }

    @Test
    @DisplayName("4.2, 4.3: each element of a batch goes its own way")
    void mixedBatch() throws Exception {
        BatchRunner.Result result = batch((values, context) -> BatchOutcome.each(List.of(
                        HandlerOutcome.ack(),
                        HandlerOutcome.retry(),
                        HandlerOutcome.retryAfter(LATER),
                        HandlerOutcome.deadLetter("bad"),
                        HandlerOutcome.drop())))
                .run(new BatchUnit(deliveries(5)));

        assertThat(result.again()).extracting(Delivery::offset).containsExactly(1L);
        assertThat(result.later()).hasSize(1);
        assertThat(result.later().get(0).delivery().offset()).isEqualTo(2);
        assertThat(result.later().get(0).nanos()).isEqualTo(LATER.toNanos());
        assertThat(result.failed()).isFalse();
        assertThat(copy().offset()).isEqualTo(3);
        assertThat(partition.openRecords()).isEqualTo(3);
        assertThat(partition.position().offset()).isEqualTo(1);
    }

    @Test
    @DisplayName("4.2, 7.1: a dead letter with nowhere to go fails the service, and the other elements are settled")
    void mixedBatchThatFails() {
        deadLetters = null;
        BatchRunner.Result result = batch((values, context) -> BatchOutcome.each(
                        List.of(HandlerOutcome.ack(), HandlerOutcome.deadLetter("bad"), HandlerOutcome.ack())))
                .run(new BatchUnit(deliveries(3)));
        assertThat(result.failed()).isTrue();
        assertThat(failures).hasSize(1);
        assertThat(partition.openRecords()).isEqualTo(1);
        assertThat(partition.position().offset()).isEqualTo(1);
    }

    @Test
    @DisplayName("7.4: elements at their cap are given up unseen, and the others of their batch are handled")
    void exhaustedInABatch() throws Exception {
        maxAttempts = 3;
        partition.attempts().failed(1, 3);
        List<Object> seen = new ArrayList<>();
        BatchRunner.Result result = batch((values, context) -> {
                    seen.addAll(values);
                    return HandlerOutcome.ack();
                })
                .run(new BatchUnit(deliveries(3)));
        assertThat(seen).hasSize(2);
        assertThat(result.failed()).isFalse();
        assertThat(copy().offset()).isEqualTo(1);
        assertThat(partition.openRecords()).isEqualTo(1);
    }

    private BatchRunner batch(BatchHandler<Object, Object> handler) {
        return Handlers.batch(new HandlerSpec.Batch(new HandlerSpec.Input(null, null), handler, 10), environment());
    }

    /** A codec of bytes as they are. */
    private static final class OneByte implements io.settlestream.codec.Codec<byte[]> {
        @Override
        public byte[] decode(byte[] data) {
            return Arrays.copyOf(data, data.length);
        }

        @Override
        public byte[] encode(byte[] value) {
            return value;
        }
    }
}
