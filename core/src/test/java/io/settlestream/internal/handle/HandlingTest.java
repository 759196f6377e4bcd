package io.settlestream.internal.handle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.settlestream.DecodeException;
import io.settlestream.DecodePolicy;
import io.settlestream.ExceptionPolicy;
import io.settlestream.HandlerOutcome;
import io.settlestream.PublishException;
import io.settlestream.PublishException.Reason;
import io.settlestream.ServiceFailedException;
import io.settlestream.codec.Codec;
import io.settlestream.internal.health.Counters;
import io.settlestream.internal.position.OwnedPartition;
import io.settlestream.internal.position.Slots;
import io.settlestream.internal.runtime.SystemEnvironment;
import io.settlestream.internal.settle.BatchUnit;
import io.settlestream.internal.settle.Delivery;
import io.settlestream.internal.settle.Disposition;
import io.settlestream.internal.settle.Recoveries;
import io.settlestream.internal.settle.Recovery;
import io.settlestream.internal.settle.TrackedSettlement;
import io.settlestream.spi.AppObserver;
import io.settlestream.spi.Scheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Single attempts, from a handler's answer to what is settled, counted and told. */
@Timeout(30)
class HandlingTest {

    private final Scheduler scheduler = SystemEnvironment.create().scheduler();
    private final Counters counters = new Counters();
    private final List<Throwable> failures = new ArrayList<>();
    private final OwnedPartition partition =
            new OwnedPartition(new TopicPartition("orders", 3), Slots.State.SETTLED, settled -> {});
    private RuntimeException codecFailure = new IllegalStateException("never thrown");

    // ---- a stage whose delivery is given up

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName("1.3, 1.4 a handler that answers later stays in the worker's hands after its delivery was given up")
    void givenUpStage(boolean stopping) throws Exception {
        Delivery delivery = deliveries(1).get(0);
        CompletableFuture<HandlerOutcome> answer = new CompletableFuture<>();
        FutureTask<HandlerOutcome> wait = new FutureTask<>(() -> Invocation.await(answer, delivery, scheduler));
        Thread worker = Thread.ofPlatform().daemon().start(wait);
        awaitParked(worker);

        if (stopping) {
            delivery.abandon();
        } else {
            partition.discard();
        }
        for (int i = 0; i < 2; i++) {
            worker.interrupt();
            awaitParked(worker);
            assertThat(wait.isDone())
                    .as("the wait is over after interrupt %d", i)
                    .isFalse();
        }
        assertThat(answer.isDone()).as("the stage is touched").isFalse();

        answer.complete(HandlerOutcome.ack());
        assertThatThrownBy(() -> wait.get(10, TimeUnit.SECONDS)).hasCauseInstanceOf(InterruptedException.class);
    }

    @Test
    @DisplayName("1.5 an Error at the end of a stage that was given up is not silent")
    void givenUpStageEndsInError() throws Exception {
        Delivery delivery = deliveries(1).get(0);
        CompletableFuture<HandlerOutcome> answer = new CompletableFuture<>();
        FutureTask<HandlerOutcome> wait = new FutureTask<>(() -> Invocation.await(answer, delivery, scheduler));
        Thread worker = Thread.ofPlatform().daemon().start(wait);
        awaitParked(worker);
        partition.discard();
        worker.interrupt();
        awaitParked(worker);

        answer.completeExceptionally(new StackOverflowError());

        assertThatThrownBy(() -> wait.get(10, TimeUnit.SECONDS)).hasCauseInstanceOf(StackOverflowError.class);
    }

    @Test
    @DisplayName("1.4 an interrupt that is not ours ends the wait for a stage")
    void foreignInterrupt() {
        Delivery delivery = deliveries(1).get(0);
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> Invocation.await(new CompletableFuture<HandlerOutcome>(), delivery, scheduler))
                .isInstanceOf(InterruptedException.class);
    }

    private static void awaitParked(Thread thread) {
        // The interrupt of a parked thread shows in its state for a moment only.
        while (thread.isInterrupted() || thread.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
    }

    // ---- a batch that throws

    @Test
    @DisplayName("4.5, 7.5 a throw is one attempt and one failure, however many elements the batch has")
    void batchFailsFast() {
        BatchUnit batch = new BatchUnit(deliveries(500));
        IllegalStateException thrown = new IllegalStateException("cannot");

        BatchRunner.Result result =
                batchThrowing(ExceptionPolicy.FAIL_FAST, thrown).run(batch);

        assertThat(result.failed()).isTrue();
        assertThat(result.again()).isEmpty();
        assertThat(counters.exceptions.sum()).isEqualTo(1);
        assertThat(failures)
                .singleElement()
                .satisfies(failure -> assertThat(failure)
                        .isInstanceOf(ServiceFailedException.class)
                        .hasCause(thrown)
                        .hasMessageContaining("a batch of 500 from orders-3@0"));
        assertThat(partition.openRecords()).isEqualTo(500);
    }

    @Test
    @DisplayName("4.5, 1.2 each element of a batch that threw is settled by the policy; those given up are stale")
    void batchRetries() {
        List<Delivery> deliveries = deliveries(5);
        deliveries.get(1).abandon();

        BatchRunner.Result result = batchThrowing(ExceptionPolicy.RETRY, new IllegalStateException("cannot"))
                .run(new BatchUnit(deliveries));

        assertThat(result.again()).extracting(Delivery::offset).containsExactly(0L, 2L, 3L, 4L);
        assertThat(counters.exceptions.sum()).isEqualTo(1);
        assertThat(counters.retried.sum()).isEqualTo(4);
        assertThat(counters.stale.sum()).isEqualTo(1);
        assertThat(failures).isEmpty();
    }

    @Test
    @DisplayName("1.5 an Error of a batch is one failure, also when nobody waits for the batch")
    void batchError() {
        List<Delivery> deliveries = deliveries(3);
        deliveries.forEach(Delivery::abandon);

        BatchRunner.Result result = Handlers.batch(
                        new HandlerSpec.Batch(
                                new HandlerSpec.Input(null, null),
                                (values, context) -> {
                                    throw new StackOverflowError();
                                },
                                10),
                        environment(ExceptionPolicy.DROP, DecodePolicy.DROP, new Bytes()))
                .run(new BatchUnit(deliveries));

        assertThat(result.failed()).isTrue();
        assertThat(failures)
                .singleElement()
                .satisfies(failure -> assertThat(failure).hasCauseInstanceOf(StackOverflowError.class));
    }

    private BatchRunner batchThrowing(ExceptionPolicy policy, RuntimeException thrown) {
        return Handlers.batch(
                new HandlerSpec.Batch(
                        new HandlerSpec.Input(null, null),
                        (values, context) -> {
                            throw thrown;
                        },
                        500),
                environment(policy, DecodePolicy.DROP, new Bytes()));
    }

    // ---- a reply that Kafka will never take

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "DEAD_LETTER")
    @DisplayName("6.3, 7.5 a reply that cannot heal goes to the exception policy, as a failed reply and not as a throw")
    void replyRefused(ExceptionPolicy.Fixed policy) {
        Delivery delivery = deliveries(1).get(0);
        PublishException refusal = new PublishException(Reason.TOO_LARGE, "receipts", "too large", null);

        Disposition disposition =
                new Policies(environment(policy, DecodePolicy.DROP, new Bytes())).replyRefused(delivery, refusal);

        assertThat(counters.failedReplies.sum()).isEqualTo(1);
        assertThat(counters.exceptions.sum()).isZero();
        switch (policy) {
            case FAIL_FAST -> {
                assertThat(disposition).isEqualTo(Disposition.FAILED);
                assertThat(failures)
                        .singleElement()
                        .satisfies(failure -> assertThat(failure)
                                .hasCause(refusal)
                                .message()
                                .contains("the reply to orders-3@0 cannot be published: TOO_LARGE, topic receipts")
                                .doesNotContain("threw"));
            }
            case RETRY -> assertThat(disposition).isEqualTo(Disposition.RETRY);
            case DROP -> {
                assertThat(disposition).isEqualTo(Disposition.DONE);
                assertThat(counters.dropped.sum()).isEqualTo(1);
            }
            case DEAD_LETTER -> throw new AssertionError("there is nowhere to send it");
        }
    }

    // ---- what a codec says

    @Test
    @DisplayName("12.1 of what a codec throws, and of its causes, only kinds and places are told")
    void codecCauses() {
        codecFailure = new DecodeException(
                "not a number", new IllegalArgumentException("secret 1", new IllegalStateException("secret 2")));
        codecFailure.addSuppressed(new IllegalStateException("secret 3"));

        Throwable failure = undecodable();

        assertThat(failure)
                .hasStackTraceContaining("not a number")
                .hasStackTraceContaining("IllegalArgumentException")
                .hasStackTraceContaining("Caused by: io.settlestream.internal.health.SilencedException:"
                        + " java.lang.IllegalStateException")
                .hasStackTraceContaining("HandlingTest.codecCauses");
        assertThat(trace(failure)).doesNotContain("secret");
    }

    private Throwable undecodable() {
        DeliveryHandler handler = Handlers.single(
                new HandlerSpec.Single(new HandlerSpec.Input(null, null), (value, context) -> HandlerOutcome.ack()),
                environment(ExceptionPolicy.FAIL_FAST, DecodePolicy.FAIL_FAST, new Bytes() {
                    @Override
                    public byte[] decode(byte[] data) {
                        throw codecFailure;
                    }
                }),
                publish -> {
                    throw new AssertionError("nothing is published");
                });
        Disposition disposition = handler.run(deliveries(1).get(0), null);
        assertThat(disposition).isEqualTo(Disposition.FAILED);
        assertThat(failures).hasSize(1);
        return failures.get(0);
    }

    @Test
    @DisplayName("12.1, 1.5 an Error of a codec fails the service, without its words")
    void codecError() {
        Disposition disposition = new Policies(environment(ExceptionPolicy.DROP, DecodePolicy.DROP, new Bytes()))
                .undecodable(deliveries(1).get(0), new AssertionError("secret"));

        assertThat(disposition).isEqualTo(Disposition.FAILED);
        assertThat(failures).singleElement().satisfies(failure -> {
            assertThat(failure).hasCauseInstanceOf(Error.class).hasStackTraceContaining("AssertionError");
            assertThat(trace(failure)).doesNotContain("secret");
        });
    }

    private static String trace(Throwable failure) {
        java.io.StringWriter trace = new java.io.StringWriter();
        failure.printStackTrace(new java.io.PrintWriter(trace));
        return trace.toString();
    }

    // ---- what a handler sees

    @Test
    @DisplayName("3.4 headers are read-only, so that a retry sees what the first attempt saw")
    void headersAreReadOnly() {
        Delivery delivery = deliveries(1).get(0);
        delivery.record().headers().add("a", new byte[] {1}).add("b", null).add("a", new byte[] {2});
        Headers headers = delivery.headers();
        Header other = headers.lastHeader("b");

        assertThatThrownBy(() -> headers.add("c", new byte[0])).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> headers.add(other)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> headers.remove("a")).isInstanceOf(IllegalStateException.class);
        var all = headers.iterator();
        all.next();
        assertThatThrownBy(all::remove).isInstanceOf(IllegalStateException.class);
        var named = headers.headers("a").iterator();
        named.next();
        assertThatThrownBy(named::remove).isInstanceOf(IllegalStateException.class);

        assertThat(delivery.headers()).extracting(Header::key).containsExactly("a", "b", "a");
        assertThat(headers.headers("a")).extracting(header -> header.value()[0]).containsExactly((byte) 1, (byte) 2);
        assertThat(headers.lastHeader("a").value()).containsExactly(2);
        assertThat(headers.lastHeader("none")).isNull();
        assertThat(headers.toArray()).hasSize(3);
        assertThat(headers).hasToString("Headers[3]");
    }

    private List<Delivery> deliveries(int count) {
        List<ConsumerRecord<byte[], byte[]>> records = IntStream.range(0, count)
                .mapToObj(offset -> new ConsumerRecord<>("orders", 3, offset, new byte[0], new byte[] {1}))
                .toList();
        Slots slots = partition.register(records, count, null, 0);
        List<Delivery> deliveries = new ArrayList<>();
        for (int slot = 0; slot < count; slot++) {
            Delivery delivery = new Delivery(new Delivery.Shared("state", null, null), slots, slot);
            assertThat(delivery.handOver()).isTrue();
            deliveries.add(delivery);
        }
        return deliveries;
    }

    private HandlerEnvironment environment(ExceptionPolicy onException, DecodePolicy onDecode, Codec<?> codec) {
        Recovery recovery = Recoveries.none(counters, scheduler);
        return new HandlerEnvironment(
                "orders",
                codec,
                onException,
                onDecode,
                new TrackedSettlement("orders", counters, recovery, scheduler),
                recovery,
                counters,
                failures::add,
                scheduler,
                AppObserver.NONE);
    }

    private static class Bytes implements Codec<byte[]> {
        @Override
        public byte[] decode(byte[] data) {
            return data;
        }

        @Override
        public byte[] encode(byte[] value) {
            return value;
        }
    }
}
