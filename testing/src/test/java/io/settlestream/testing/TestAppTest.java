package io.settlestream.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.settlestream.App;
import io.settlestream.HandlerOutcome;
import io.settlestream.Message;
import io.settlestream.NoState;
import io.settlestream.PublishException;
import io.settlestream.SettleStream;
import io.settlestream.StartupException;
import io.settlestream.Subscriber;
import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaPartitions;
import io.settlestream.kafka.KafkaSource;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.kafka.KafkaTopics;
import io.settlestream.kafka.StartOffset;
import io.settlestream.testing.Payouts.Bank;
import io.settlestream.testing.Payouts.Paid;
import io.settlestream.testing.Payouts.Payout;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.InvalidTxnStateException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.assertj.core.api.ThrowableAssert;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a test of an application sees, and what it is told when it asks for what is not there. */
@Timeout(60)
class TestAppTest {

    private static final Payout FIRST = new Payout(1, 500);
    private static final Payout SECOND = new Payout(2, 700);

    // --- to rest

    @Test
    @DisplayName("11.1: publishing drives the production application to rest: handled, replied, committed")
    void publish() {
        try (TestApp<Bank> app = TestApp.start(Payouts.replying())) {
            app.publish("payouts", FIRST);

            app.subscription("payouts").hasValues(FIRST).hasOutcomes(HandlerOutcome.ack());
            app.topic("payouts.done").hasValues(new Paid(1));
            app.group("payouts").hasCommitted("payouts", 0, 1).hasLag("payouts", 0);
            app.isRunning();
        }
    }

    @Test
    @DisplayName("A bank that fails twice sees the payout three times, in virtual time")
    void retries() {
        try (TestApp<Bank> app =
                TestApp.of(Payouts.replying()).state(new Bank(2)).start()) {
            app.publish("payouts", FIRST);

            app.subscription("payouts")
                    .hasAttempts(1, 2, 3)
                    .hasOutcomes(HandlerOutcome.retry(), HandlerOutcome.retry(), HandlerOutcome.ack());
            app.group("payouts").hasCommitted("payouts", 0, 1);
        }
    }

    @Test
    @DisplayName("A topic that replies go to is there before the first one, and empty")
    void nothingPublished() {
        try (TestApp<Bank> app = TestApp.start(Payouts.replying())) {
            app.topic("payouts.done").isEmpty();
        }
    }

    @Test
    @DisplayName("11.3: a failed application is at rest, and goes on when it is started again")
    void failed() {
        try (TestApp<Bank> app = TestApp.start(Payouts.replying())) {
            app.faults().produce("payouts.done").fail(new TopicAuthorizationException("payouts.done"));

            app.publish("payouts", FIRST);
            app.hasFailed(PublishException.class);
            app.group("payouts").hasCommitted("payouts", 0, 0);

            app.restart().settle();
            app.topic("payouts.done").hasValues(new Paid(1));
        }
    }

    @Test
    @DisplayName("11.3: a reaction that never rests is reported with what is open")
    void neverRests() {
        try (TestApp<Bank> app = TestApp.of(Payouts.replying())
                .state(new Bank(Integer.MAX_VALUE))
                .start()) {
            assertThatThrownBy(() -> app.publish("payouts", FIRST))
                    .isInstanceOf(NotAtRestError.class)
                    .hasMessageContaining("payouts-0 of subscription payouts has 1 open records")
                    .hasMessageContaining("PT1M");
        }
    }

    @Test
    @DisplayName("What is sent waits until the test lets it go on, and is committed on the interval")
    void send() {
        try (TestApp<Bank> app = TestApp.start(Payouts.replying())) {
            app.send("payouts", FIRST);
            app.subscription("payouts").hasCalls(0);

            app.proceed();
            app.subscription("payouts").hasCalls(1);
            app.group("payouts").hasCommitted("payouts", 0, 0);

            app.advance(Duration.ofSeconds(5));
            app.group("payouts").hasCommitted("payouts", 0, 1);
        }
    }

    @Test
    @DisplayName("Time stands still between the steps of a test, and a sleep of a handler takes none of the test's")
    void sleep() {
        try (TestKafka kafka = TestKafka.create()) {
            Duration hour = Duration.ofHours(1);
            App<Bank> sleeper = Payouts.handling((payout, delivery) -> {
                kafka.clock().sleep(hour);
                return HandlerOutcome.ack();
            });
            try (TestApp<Bank> app = TestApp.of(sleeper)
                    .on(kafka)
                    .settleLimit(hour.multipliedBy(2))
                    .start()) {
                Instant before = app.clock().now();
                app.send("payouts", FIRST);
                app.proceed();
                assertThat(app.clock().now()).isEqualTo(before);

                app.settle();

                assertThat(app.clock().now()).isAfterOrEqualTo(before.plus(hour));
                app.subscription("payouts").hasOutcomes(HandlerOutcome.ack());
            }
        }
    }

    @Test
    @DisplayName("A handler may answer with a future that the test completes")
    void future() {
        CompletableFuture<HandlerOutcome> answer = new CompletableFuture<>();
        App<Bank> asking = SettleStream.app("payouts", "1")
                .onStartup(() -> new Bank(0))
                .withBroker(
                        Payouts.BROKER,
                        scope -> scope.include(Subscriber.on(Payouts.topic(), Payout.class)
                                .<Bank>handleAsync((payout, delivery) -> answer)));
        try (TestApp<Bank> app = TestApp.start(asking)) {
            app.send("payouts", FIRST);
            app.proceed();
            app.subscription("payouts").hasCalls(1).hasOutcomes();

            answer.complete(HandlerOutcome.drop());
            app.settle();

            app.subscription("payouts").hasOutcomes(HandlerOutcome.drop());
        }
    }

    @Test
    @DisplayName("A handler may block on a latch of the test; the rest of the application goes on meanwhile")
    void latch() {
        CountDownLatch latch = new CountDownLatch(1);
        App<Bank> blocking = Payouts.handling(
                (payout, delivery) -> {
                    if (payout.equals(FIRST)) {
                        latch.await();
                    }
                    return HandlerOutcome.ack();
                },
                mount -> mount.workers(2));
        try (TestApp<Bank> app = TestApp.start(blocking)) {
            app.send("payouts", FIRST);
            app.send("payouts", SECOND);
            app.proceed();
            app.subscription("payouts").hasCalls(2).hasOutcomes(HandlerOutcome.ack());
            app.advance(Duration.ofSeconds(10));
            app.group("payouts").hasCommitted("payouts", 0, 0);

            latch.countDown();
            app.settle();

            app.group("payouts").hasCommitted("payouts", 0, 2);
            assertThat(app.kafka().reproducible()).isFalse();
        }
    }

    // --- accidents

    @Test
    @DisplayName("11.4: a crash loses what was not committed, and the next start handles it again")
    void crash() {
        try (TestApp<Bank> app = TestApp.start(Payouts.replying())) {
            app.publish("payouts", FIRST);
            app.send("payouts", SECOND);
            app.proceed();

            app.crash();
            app.advance(Duration.ofSeconds(10));
            app.kafka().group("payouts").hasCommitted("payouts", 0, 1);
            app.restart();
            app.settle();

            app.subscription("payouts").hasValues(FIRST, SECOND, SECOND);
            app.group("payouts").hasCommitted("payouts", 0, 2);
        }
    }

    @Test
    @DisplayName("11.4: nothing of a crashed application runs on, neither its hooks nor what its handlers had in hand")
    void crashUnwindsNothing() {
        List<String> seen = new ArrayList<>();
        try (TestKafka kafka = TestKafka.create()) {
            App<Bank> app = Payouts.handling((payout, delivery) -> {
                        seen.add("begins");
                        kafka.clock().sleep(Duration.ofSeconds(1));
                        seen.add("ends");
                        return HandlerOutcome.ack();
                    })
                    .onShutdown(bank -> seen.add("onShutdown"))
                    .afterShutdown(bank -> seen.add("afterShutdown"));
            TestApp<Bank> started = TestApp.of(app).on(kafka).start();
            started.send("payouts", FIRST);
            started.proceed();

            started.crash();
            kafka.advance(Duration.ofMinutes(10));

            assertThat(seen).containsExactly("begins");
        }
    }

    @Test
    @DisplayName(
            "11.4: a crash while a handler blocks on a latch is one, too: nobody waits for it, and it begins nothing more")
    void crashWhileBlocked() throws InterruptedException {
        CountDownLatch latch = new CountDownLatch(1);
        AtomicReference<Thread> crashed = new AtomicReference<>();
        List<Payout> asked = Collections.synchronizedList(new ArrayList<>());
        App<Bank> blocking = Payouts.handling((payout, delivery) -> {
            asked.add(payout);
            if (crashed.compareAndSet(null, Thread.currentThread())) {
                latch.await();
            }
            return HandlerOutcome.ack();
        });
        try (TestApp<Bank> app = TestApp.start(blocking)) {
            app.send("payouts", FIRST);
            app.send("payouts", SECOND);
            app.proceed();

            app.crash();
            app.restart().settle();
            app.subscription("payouts").hasValues(FIRST, FIRST, SECOND);
            app.group("payouts").hasCommitted("payouts", 0, 2);
        } finally {
            latch.countDown();
        }
        crashed.get().join();
        assertThat(asked).containsExactly(FIRST, FIRST, SECOND);
    }

    @Test
    @DisplayName("A graceful stop commits what was handled, and the next start repeats nothing")
    void stop() {
        try (TestApp<Bank> app = TestApp.start(Payouts.replying())) {
            app.send("payouts", FIRST);
            app.proceed();

            assertThat(app.stop().clean()).isTrue();
            app.restart();
            app.settle();

            app.subscription("payouts").hasCalls(1);
        }
    }

    @Test
    @DisplayName("11.4: a second member takes its share, and gives it back when it leaves")
    void another() {
        try (TestKafka kafka = TestKafka.create().topic("payouts", 2);
                TestApp<Bank> one = TestApp.of(Payouts.acking()).on(kafka).start()) {
            try (TestApp<Bank> other = one.another()) {
                kafka.settle();
                kafka.topic("payouts");
                one.send("payouts", io.settlestream.Message.of(FIRST).partition(0));
                one.publish("payouts", io.settlestream.Message.of(SECOND).partition(1));

                one.subscription("payouts").hasCalls(1);
                other.subscription("payouts").hasCalls(1);

                one.take("payouts", 0, 1);
                one.settle();
                one.publish("payouts", io.settlestream.Message.of(FIRST).partition(1));
                one.publish("payouts", io.settlestream.Message.of(FIRST).partition(0));
                one.subscription("payouts").hasCalls(3);
            }
            one.publish("payouts", io.settlestream.Message.of(FIRST).partition(1));
            one.subscription("payouts").hasCalls(4);
        }
    }

    @Test
    @DisplayName("11.4: a member that loses its partitions starts again from what is committed")
    void lose() {
        try (TestApp<Bank> app = TestApp.start(Payouts.acking())) {
            app.publish("payouts", FIRST);
            app.send("payouts", SECOND);
            app.proceed();

            app.lose("payouts");
            app.settle();

            app.subscription("payouts").hasValues(FIRST, SECOND, SECOND);
            assertThat(app.health().subscriptions().get(0).counts().rebalances())
                    .isEqualTo(3);
        }
    }

    @Test
    @DisplayName("11.4: a member from outside makes an application give its partitions up, and leaves them to it again")
    void addMember() {
        try (TestApp<Bank> app = TestApp.start(Payouts.acking())) {
            String outsider = app.kafka().addMember("payouts", "payouts", 0);
            app.proceed();
            app.send("payouts", FIRST);
            app.proceed();
            app.subscription("payouts").hasCalls(0);

            app.kafka().removeMember("payouts", outsider);
            app.settle();
            app.subscription("payouts").hasValues(FIRST);
        }
    }

    @Test
    @DisplayName("11.4: a commit that is refused, late or of unknown fate is made good")
    void commitFaults() {
        try (TestApp<Bank> app = TestApp.start(Payouts.acking())) {
            app.faults()
                    .commit("payouts")
                    .fail(new org.apache.kafka.common.errors.CoordinatorNotAvailableException("test"));
            app.faults().commit("payouts").nth(2).loseAnswer();
            app.faults().commit("payouts").nth(4).delay(Duration.ofSeconds(2));
            for (int i = 0; i < 4; i++) {
                app.publish("payouts", FIRST);
            }
            app.advance(Duration.ofSeconds(10));

            app.group("payouts").hasCommitted("payouts", 0, 4);
            assertThat(app.faults().left()).isZero();
        }
    }

    @Test
    @DisplayName("11.4: a reply that Kafka refuses comes back with its delivery")
    void produceFault() {
        try (TestApp<Bank> app = TestApp.start(Payouts.replying())) {
            app.faults()
                    .produce("payouts.done")
                    .fail(new org.apache.kafka.common.errors.TopicAuthorizationException("payouts.done"));
            app.publish("payouts", FIRST);

            app.hasFailed(org.apache.kafka.common.errors.TopicAuthorizationException.class);
            app.kafka().group("payouts").hasCommitted("payouts", 0, 0);
        }
    }

    @Test
    @DisplayName("11.4: a transaction can time out or lose its producer's id, in a line each")
    void transactions() {
        try (TestKafka kafka = TestKafka.create().topic("prices", 1)) {
            Producer<byte[], byte[]> producer = kafka.clients().producer(Map.of("transactional.id", "pricing"));
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>("prices", new byte[] {1}));
            producer.flush();

            kafka.expireTransaction("pricing");
            kafka.topic("prices").isEmpty();
            assertThatThrownBy(producer::commitTransaction).isInstanceOf(InvalidTxnStateException.class);
            producer.close();

            Producer<byte[], byte[]> next = kafka.clients().producer(Map.of("transactional.id", "pricing"));
            next.initTransactions();
            next.beginTransaction();
            next.send(new ProducerRecord<>("prices", new byte[] {2}));
            next.flush();
            kafka.fence("pricing");
            assertThatThrownBy(next::commitTransaction).isInstanceOf(ProducerFencedException.class);
            kafka.topic("prices").isEmpty();
            next.close();

            assertThatThrownBy(() -> kafka.expireTransaction("pricing"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("pricing");
            assertThatThrownBy(() -> kafka.fence("prices"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContainingAll("prices", "[pricing]");
        }
    }

    @Test
    @DisplayName("11.4: while a log is paused its records are not seen")
    void pauseLog() {
        try (TestApp<Bank> app = TestApp.start(Payouts.acking())) {
            app.kafka().pauseLog("payouts");
            app.publish("payouts", FIRST);
            app.subscription("payouts").hasCalls(0);

            app.kafka().resumeLog("payouts");
            app.settle();
            app.subscription("payouts").hasCalls(1);
        }
    }

    @Test
    @DisplayName("3.10, 11.4: what was trimmed before it was read is passed over")
    void trim() {
        try (TestApp<Bank> app = TestApp.start(Payouts.acking())) {
            app.publish("payouts", FIRST);
            app.stop();
            app.send("payouts", FIRST);
            app.send("payouts", SECOND);
            app.kafka().trim("payouts", 0, 2);
            app.restart();
            app.settle();

            app.subscription("payouts").hasValues(FIRST, SECOND);
            assertThat(app.health().subscriptions().get(0).counts().trimmed()).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("11.4: a seed reproduces a whole run")
    void seeds() {
        List<Long> fingerprints = new ArrayList<>();
        for (int run = 0; run < 2; run++) {
            try (TestKafka kafka = TestKafka.seeded(7).topic("payouts", 3);
                    TestApp<Bank> app = TestApp.of(Payouts.handling(
                                    (payout, delivery) -> HandlerOutcome.ack(), mount -> mount.workers(3)))
                            .on(kafka)
                            .start()) {
                for (int i = 0; i < 20; i++) {
                    app.send("payouts", FIRST);
                }
                app.settle();
                fingerprints.add(kafka.fingerprint());
                assertThat(kafka.reproducible()).isTrue();
            }
        }
        assertThat(fingerprints.get(0)).isEqualTo(fingerprints.get(1));
    }

    // --- mistakes

    @Test
    @DisplayName("A failed assertion shows what was seen")
    void failures() {
        try (TestApp<Bank> app = TestApp.start(Payouts.replying())) {
            app.publish("payouts", FIRST);

            assertThatThrownBy(() -> app.subscription("payouts").hasValues(SECOND))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("Payout[id=2, amountCents=700]")
                    .hasMessageContaining("payouts-0@0 attempt 1 Payout[id=1, amountCents=500] -> ");
            assertThatThrownBy(() -> app.topic("payouts.done").hasValues(new Paid(2)))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("Paid[payoutId=2]")
                    .hasMessageContaining("payouts.done-0@0 {\"payoutId\":1}");
            assertThatThrownBy(() -> app.group("payouts").hasCommitted("payouts", 0, 2))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("payouts-0 committed 1 of 1");
            assertThatThrownBy(() -> app.hasFailed(RuntimeException.class))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("RUNNING");
        }
    }

    @Test
    @DisplayName("Asking for what is not there names what there is")
    void unknown() {
        try (TestApp<Bank> app = TestApp.start(Payouts.replying())) {
            assertThatThrownBy(() -> app.subscription("payout"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContainingAll("payout", "[payouts]");
            assertThatThrownBy(() -> app.topic("payout"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContainingAll("payout", "[payouts, payouts.done]");
            assertThatThrownBy(() -> app.group("payout"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContainingAll("payout", "[payouts]");
            assertThatThrownBy(() -> app.take("other", 0))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContainingAll("other", "[payouts]");
        }
    }

    @Test
    @DisplayName("A partition that a topic does not have cannot be taken, and the test is told how to get one")
    void unknownPartition() {
        try (TestApp<Bank> app = TestApp.start(Payouts.acking())) {
            for (int partition : new int[] {-1, 1}) {
                assertThatThrownBy(() -> app.take("payouts", partition))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContainingAll(
                                "no partition " + partition + " of payouts", "it has 1", "addPartitions");
                assertThatThrownBy(() -> app.kafka().addMember("payouts", "payouts", partition))
                        .isInstanceOf(IllegalArgumentException.class);
            }
            app.take("payouts", 0).publish("payouts", FIRST);
            app.group("payouts").hasLag("payouts", 0);
        }
    }

    @Test
    @DisplayName("An assertion that does not hold says that the application has failed, and why")
    void assertionAfterFailure() {
        IllegalStateException fault = new IllegalStateException("the bank is closed");
        App<Bank> failing = Payouts.handling((payout, delivery) -> {
            throw fault;
        });
        try (TestApp<Bank> app = TestApp.start(failing)) {
            app.publish("payouts", FIRST);

            List<ThrowableAssert.ThrowingCallable> assertions = List.of(
                    () -> app.subscription("payouts").hasCalls(2),
                    () -> app.topic("payouts").hasRecords(2),
                    () -> app.kafka().topic("payouts").hasRecords(2),
                    () -> app.group("payouts").hasLag("payouts", 0),
                    app::isRunning);
            assertThat(assertions)
                    .allSatisfy(assertion -> assertThatThrownBy(assertion)
                            .isInstanceOf(AssertionError.class)
                            .hasMessageContainingAll("Expected ", "payouts has failed: ", "payouts-0@0")
                            .hasRootCause(fault));

            app.crash();
            assertThatThrownBy(() -> app.kafka().topic("payouts").hasRecords(2)).hasNoCause();
        }
    }

    @Test
    @DisplayName(
            "9.1: lists and named partitions have their topics, and topics that a pattern matches are the test's to make")
    void sourcesOfMoreThanOneTopic() {
        App<NoState> app = SettleStream.app("sets", "1").withBroker(Payouts.BROKER, scope -> {
            scope.include(noting(KafkaTopics.of("eu", "us"))).name("list");
            scope.include(noting(KafkaTopics.matching(Pattern.compile("orders-.*"))))
                    .name("pattern");
            scope.include(noting(KafkaPartitions.of("prices", 0, 2).startOffset(StartOffset.LATEST)))
                    .name("partitions");
        });

        try (TestKafka kafka = TestKafka.create();
                TestApp<NoState> test = TestApp.of(app).on(kafka).start()) {
            test.topic("eu").isEmpty();
            test.publish("us", "a");
            test.publish("prices", Message.of("b").partition(2));
            test.publish("prices", Message.of("not read").partition(1));
            kafka.topic("orders-eu", 1);
            test.publish("orders-eu", "c");
            test.advance(Duration.ofMinutes(1));

            test.subscription("list").hasValues("a");
            test.subscription("partitions").hasValues("b");
            test.subscription("pattern").hasValues("c");
            test.group("payouts")
                    .hasCommitted("us", 0, 1)
                    .hasCommitted("orders-eu", 0, 1)
                    .hasCommittedNothing("prices");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> test.take("elsewhere", 0))
                    .withMessageContaining("[eu, us, orders-.*, prices]");
        }
    }

    private static Subscriber<String, Object> noting(KafkaSource<?> source) {
        return Subscriber.on(source, String.class).handle((value, delivery) -> HandlerOutcome.ack());
    }

    @Test
    @DisplayName("A value without a destination is refused with what the application reads")
    void noDestination() {
        try (TestApp<Bank> app = TestApp.start(Payouts.replying())) {
            assertThatThrownBy(() -> app.publish(FIRST))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContainingAll("Payout", "@Outgoing", "[payouts]");
        }
    }

    @Test
    @DisplayName("A type that names its topic can be published with or without naming it again")
    void outgoing() {
        try (TestApp<Bank> app = TestApp.start(Payouts.replying())) {
            app.publish(new Paid(1));
            app.publish("payouts.done", new Paid(2));
            app.topic("payouts.done").hasValues(new Paid(1), new Paid(2));
        }
    }

    @Test
    @DisplayName("A closed TestApp says that it is closed, whatever it is asked")
    void closed() {
        TestApp<Bank> app = TestApp.start(Payouts.replying());
        app.close();
        app.close();

        assertThatThrownBy(() -> app.publish("payouts", FIRST))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed");
        assertThatThrownBy(app::settle).hasMessageContaining("closed");
        assertThatThrownBy(() -> app.subscription("payouts")).hasMessageContaining("closed");
        assertThatThrownBy(() -> app.topic("payouts")).hasMessageContaining("closed");
        assertThatThrownBy(app::restart).hasMessageContaining("closed");
        assertThatThrownBy(app::crash).hasMessageContaining("closed");
    }

    @Test
    @DisplayName("A closed Kafka says so, whatever is asked of it to do")
    void closedKafka() {
        TestKafka kafka = TestKafka.create();
        kafka.close();

        assertThatThrownBy(() -> TestApp.of(Payouts.acking()).on(kafka).start())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("TestKafka is closed");
        assertThatThrownBy(kafka::settle).hasMessageContaining("closed");
        assertThatThrownBy(kafka::proceed).hasMessageContaining("closed");
        assertThatThrownBy(() -> kafka.advance(Duration.ZERO)).hasMessageContaining("closed");
    }

    @Test
    @DisplayName("Bytes are compared by what is in them")
    void bytes() {
        App<String> bytes = SettleStream.app("raw", "1")
                .onStartup(() -> "state")
                .withBroker(
                        Payouts.BROKER,
                        scope -> scope.include(Subscriber.on(Payouts.topic(), byte[].class)
                                .handle((value, delivery) -> HandlerOutcome.ack())));
        try (TestApp<String> app = TestApp.start(bytes)) {
            app.send("payouts", new byte[] {1});
            app.publish("payouts", new byte[] {2});

            app.subscription("payouts")
                    .hasValues(new byte[] {1}, new byte[] {2})
                    .hasValuesInAnyOrder(new byte[] {2}, new byte[] {1});
            app.topic("payouts").hasValues(new byte[] {1}, new byte[] {2});
            assertThatThrownBy(() -> app.subscription("payouts").hasValues(new byte[] {1}, new byte[] {3}))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("[[1], [3]]");
            assertThatThrownBy(() -> app.subscription("payouts").hasValuesInAnyOrder(new byte[] {1}, new byte[] {1}))
                    .isInstanceOf(AssertionError.class);
        }
    }

    @Test
    @DisplayName("A tombstone is null among the values of a topic, and a missing key is null among the keys")
    void tombstone() {
        try (TestKafka kafka = TestKafka.create().topic("accounts", 1)) {
            try (var producer = kafka.clients().producer(Map.of())) {
                var unread = List.of(
                        producer.send(new ProducerRecord<>("accounts", new byte[] {'a'}, new byte[] {'x'})),
                        producer.send(new ProducerRecord<>("accounts", new byte[] {'a'}, null)),
                        producer.send(new ProducerRecord<>("accounts", null, new byte[] {'y'})));
                producer.flush();
                assertThat(unread).allMatch(Future::isDone);
            }

            kafka.topic("accounts").hasValues("x", null, "y").hasKeys("a", "a", null);
            assertThatThrownBy(() -> kafka.topic("accounts").hasValues("x", "null", "y"))
                    .isInstanceOf(AssertionError.class);
            assertThatThrownBy(() -> kafka.topic("accounts").hasValuesInAnyOrder(null, null, "x"))
                    .isInstanceOf(AssertionError.class);
        }
    }

    @Test
    @DisplayName("What has crashed says so, and what runs is not started twice")
    void lives() {
        try (TestApp<Bank> app = TestApp.start(Payouts.replying())) {
            assertThatThrownBy(app::restart)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("stop() or crash()");
            app.crash();
            app.subscription("payouts").hasCalls(0);
            app.group("payouts").hasCommitted("payouts", 0, 0);
            assertThatThrownBy(() -> app.isRunning())
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("restart()");
        }
    }

    @Test
    @DisplayName("A startup mistake is the same as in production")
    void startupMistake() {
        assertThatThrownBy(() -> TestApp.start(SettleStream.app("empty", "1"))).isInstanceOf(StartupException.class);
    }

    @Test
    @DisplayName(
            "11.1, 11.4: a retry topic has as many partitions as the source that it is for, and goes with its group")
    void retryTopic() {
        App<NoState> app = SettleStream.app("service", "1")
                .withBroker(KafkaBroker.of("kafka:9092").defaultGroup("group"), scope -> {
                    scope.include(comingBack(KafkaPartitions.of("prices", 0, 2).group("prices")))
                            .name("partitions")
                            .retryTopic("prices.later");
                    scope.include(comingBack(KafkaTopic.of("orders")))
                            .name("member")
                            .retryTopic("orders.later");
                });

        try (TestKafka kafka = TestKafka.create();
                TestApp<NoState> test = TestApp.of(app).on(kafka).start()) {
            test.publish("prices", Message.of("a").partition(2));
            test.publish("orders", "b");
            test.lose("orders.later");
            test.settle();

            test.subscription("partitions").hasAttempts(1, 2);
            test.topic("prices.later").hasPartitions(2);
            test.subscription("member").hasAttempts(1, 2);
            assertThat(test.subscription("member").counts().rebalances()).isEqualTo(3);
        }
    }

    private static <S extends KafkaSource<S>> Subscriber<String, Object> comingBack(S source) {
        return Subscriber.on(source.commit(Commit.tracked()).startOffset(StartOffset.EARLIEST), String.class)
                .handle((value, context) -> context.attempt() == 1
                        ? HandlerOutcome.retryAfter(Duration.ofSeconds(1))
                        : HandlerOutcome.ack());
    }
}
