package io.settlestream.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.settlestream.App;
import io.settlestream.HandlerOutcome;
import io.settlestream.SettleStream;
import io.settlestream.Subscriber;
import io.settlestream.testing.Payouts.Bank;
import io.settlestream.testing.Payouts.Payout;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What happens to tests and handlers that do what they had better not. */
@Timeout(60)
class TestAppMisuseTest {

    private static final Payout FIRST = new Payout(1, 500);
    private static final Payout SECOND = new Payout(2, 700);

    /** Something that only a test may do. */
    private record Act(String name, Consumer<TestApp<Bank>> does) {
        @Override
        public String toString() {
            return name;
        }
    }

    private static List<Act> acts() {
        return List.of(
                new Act("publish", app -> app.publish("payouts", SECOND)),
                new Act("settle", TestApp::settle),
                new Act("proceed", TestApp::proceed),
                new Act("advance", app -> app.advance(Duration.ofSeconds(1))),
                new Act("stop", TestApp::stop),
                new Act("crash", TestApp::crash),
                new Act("close", TestApp::close),
                new Act("close the Kafka", app -> app.kafka().close()));
    }

    @ParameterizedTest
    @MethodSource("acts")
    @DisplayName("A handler that drives its own test is refused at once, and the test goes on")
    void drivesFromHandler(Act act) {
        AtomicReference<TestApp<Bank>> itself = new AtomicReference<>();
        AtomicReference<Throwable> refusal = new AtomicReference<>();
        try (TestApp<Bank> app = TestApp.start(Payouts.handling((payout, delivery) -> {
            try {
                act.does.accept(Objects.requireNonNull(itself.get()));
            } catch (IllegalStateException e) {
                refusal.set(e);
            }
            return HandlerOutcome.ack();
        }))) {
            itself.set(app);

            app.publish("payouts", FIRST);

            assertThat(refusal.get()).hasMessageContainingAll("Only a test", "delivery.publisher()");
            app.subscription("payouts").hasValues(FIRST).hasOutcomes(HandlerOutcome.ack());
            assertThat(app.kafka().reproducible()).isTrue();
        }
    }

    @Test
    @DisplayName("A handler may drive another test's application, and wait on its clock")
    void otherSimulation() {
        try (TestApp<Bank> other = TestApp.start(Payouts.acking());
                TestApp<Bank> app = TestApp.start(Payouts.handling((payout, delivery) -> {
                    other.publish("payouts", SECOND);
                    other.clock().sleep(Duration.ofHours(1));
                    return HandlerOutcome.ack();
                }))) {
            app.publish("payouts", FIRST);

            app.group("payouts").hasCommitted("payouts", 0, 1);
            other.group("payouts").hasCommitted("payouts", 0, 1);
            assertThat(Duration.between(app.clock().now(), other.clock().now())).isGreaterThan(Duration.ofMinutes(50));
        }
    }

    @Test
    @DisplayName("Closing a Kafka interrupts a handler that is blocked outside for ever")
    void closeWhileOutside() throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        CompletableFuture<Thread> handler = new CompletableFuture<>();
        try (TestKafka kafka = TestKafka.create()) {
            TestApp<Bank> app = TestApp.of(Payouts.handling((payout, delivery) -> {
                        handler.complete(Thread.currentThread());
                        never.await();
                        return HandlerOutcome.ack();
                    }))
                    .on(kafka)
                    .start();
            app.send("payouts", FIRST);
            app.proceed();
        }

        assertThat(handler.get().join(Duration.ofSeconds(30))).isTrue();
    }

    @Test
    @DisplayName("Handlers that sleep on the clock with a lock that others wait for come to rest")
    void sleepWithLock() {
        Object lock = new Object();
        try (TestKafka kafka = TestKafka.create();
                TestApp<Bank> app = TestApp.of(Payouts.handling(
                                (payout, delivery) -> {
                                    synchronized (lock) {
                                        kafka.clock().sleep(Duration.ofSeconds(1));
                                    }
                                    return HandlerOutcome.ack();
                                },
                                mount -> mount.workers(3)))
                        .on(kafka)
                        .start()) {
            for (int i = 0; i < 6; i++) {
                app.send("payouts", FIRST);
            }
            app.settle();

            app.group("payouts").hasCommitted("payouts", 0, 6);
        }
    }

    @Test
    @DisplayName("A sleep until the end of time neither ends nor hangs the test")
    void sleepForEver() {
        try (TestKafka kafka = TestKafka.create()) {
            TestApp<Bank> app = TestApp.of(Payouts.handling((payout, delivery) -> {
                        kafka.clock().sleep(Duration.ofSeconds(Long.MAX_VALUE));
                        return HandlerOutcome.ack();
                    }))
                    .on(kafka)
                    .start();
            app.advance(Duration.ofSeconds(1));
            app.send("payouts", FIRST);
            app.proceed();
            app.advance(Duration.ofHours(1));

            app.subscription("payouts").hasCalls(1).hasOutcomes();
        }
    }

    @Test
    @DisplayName("All of time cannot pass on an idle Kafka, and the attempt ends")
    void advanceForEver() {
        try (TestKafka kafka = TestKafka.create()) {
            kafka.advance(Duration.ofSeconds(Long.MAX_VALUE));

            try (TestApp<Bank> app = TestApp.of(Payouts.acking()).on(kafka).start()) {
                app.publish("payouts", FIRST);
                app.group("payouts").hasCommitted("payouts", 0, 1);
            }
        }
    }

    @Test
    @DisplayName("A start that hangs is ended, and does not join the group behind the test's back")
    void hangingStart() {
        CountDownLatch latch = new CountDownLatch(1);
        App<Bank> hanging = SettleStream.app("payouts", "1")
                .onStartup(() -> {
                    latch.await();
                    return new Bank(0);
                })
                .withBroker(
                        Payouts.BROKER,
                        scope -> scope.include(Subscriber.on(Payouts.topic(), Payout.class)
                                .<Bank>handle((payout, delivery) -> HandlerOutcome.ack())));
        try (TestKafka kafka = TestKafka.create()) {
            assertThatThrownBy(() -> TestApp.of(hanging).on(kafka).start())
                    .isInstanceOf(NotAtRestError.class)
                    .hasMessageContaining("The start of payouts");
            latch.countDown();

            try (TestApp<Bank> app = TestApp.of(Payouts.acking()).on(kafka).start()) {
                app.publish("payouts", FIRST);
                app.subscription("payouts").hasCalls(1);
            }
        }
    }

    @Test
    @DisplayName("Partitions that are not there are refused by name, and the group goes on")
    void partitions() {
        try (TestApp<Bank> app = TestApp.start(Payouts.acking())) {
            assertThatThrownBy(() -> app.take("payouts", -1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContainingAll("-1", "payouts", "1");
            assertThatThrownBy(() -> app.kafka().addMember("payouts", "payouts", 1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContainingAll("partition 1 of payouts");
            assertThatThrownBy(() -> app.kafka().addMember("payouts", "payout", 0))
                    .isInstanceOf(UnknownTopicOrPartitionException.class)
                    .hasMessageContaining("payout");

            app.publish("payouts", FIRST);
            app.group("payouts").hasCommitted("payouts", 0, 1);
        }
    }

    @Test
    @DisplayName("A limit that lets nothing happen, and an answer before its request, are refused")
    void times() {
        assertThatThrownBy(() -> TestApp.of(Payouts.acking()).settleLimit(Duration.ofSeconds(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("PT-1S");
        try (TestKafka kafka = TestKafka.create()) {
            assertThatThrownBy(() -> kafka.faults().commit("payouts").delay(Duration.ofSeconds(-1)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("PT-1S");
        }
    }
}
