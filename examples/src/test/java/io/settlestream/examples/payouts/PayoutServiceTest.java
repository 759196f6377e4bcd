package io.settlestream.examples.payouts;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.HandlerOutcome;
import io.settlestream.Message;
import io.settlestream.PublishException;
import io.settlestream.examples.payouts.PayoutService.Clients;
import io.settlestream.examples.payouts.PayoutService.Paid;
import io.settlestream.examples.payouts.PayoutService.Payout;
import io.settlestream.examples.payouts.PayoutService.StatementLine;
import io.settlestream.testing.TestApp;
import io.settlestream.testing.TestKafka;
import java.time.Duration;
import java.time.Instant;
import java.util.stream.LongStream;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The payouts service on the in-process Kafka: what it does on every Kafka, and what it does when things go wrong. */
@DisplayName("The payouts service")
class PayoutServiceTest implements PayoutServiceContract {

    @Override
    public TestApp<Clients> start(Clients clients) {
        return TestApp.of(PayoutService.app("localhost:9092")).state(clients).start();
    }

    private static TestApp<Clients> start(TestKafka kafka, Bank bank) {
        return TestApp.of(PayoutService.app("localhost:9092"))
                .on(kafka)
                .state(new Clients(bank, page -> true))
                .start();
    }

    @Test
    @DisplayName("Statement lines that are there together come in one batch, without those that are none")
    void oneBatch() {
        try (TestApp<Clients> app = start(new Clients((id, cents) -> true, page -> true))) {
            app.send("statements", new StatementLine(1, 500));
            app.send("statements", "opening balance".getBytes(UTF_8));
            app.send("statements", new StatementLine(2, 0));
            app.settle();

            app.subscription("statements")
                    .hasBatchSizes(2)
                    .hasUndecodable(1)
                    .hasOutcomes(HandlerOutcome.ack(), HandlerOutcome.drop());
            app.group("reconciliation").hasCommitted("statements", 0, 3).hasLag("statements", 0);
        }
    }

    @Test
    @DisplayName("The payouts of one account are made in order, those of others meanwhile")
    void orderOfAnAccount() {
        try (TestKafka kafka = TestKafka.create()) {
            SlowBank bank = new SlowBank(kafka.clock(), Duration.ofSeconds(2));
            try (TestApp<Clients> app = start(kafka, bank)) {
                Instant begin = kafka.clock().now();
                app.send("payouts", Message.of(new Payout(1, 500)).key("ada"));
                app.send("payouts", Message.of(new Payout(2, 500)).key("ada"));
                app.send("payouts", Message.of(new Payout(3, 500)).key("bob"));

                app.proceed();
                assertThat(bank.asked()).containsExactlyInAnyOrder(1L, 3L);
                app.advance(Duration.ofSeconds(2));
                assertThat(bank.asked()).endsWith(2L);

                app.settle();
                assertThat(Duration.between(begin, kafka.clock().now())).isGreaterThanOrEqualTo(Duration.ofSeconds(4));
                app.topic("payouts.done").hasValuesInAnyOrder(new Paid(1), new Paid(2), new Paid(3));
            }
        }
    }

    @Test
    @DisplayName("A payout that is with the bank in a crash is asked for again by the next start")
    void crashBeforeSettlement() {
        try (TestKafka kafka = TestKafka.create()) {
            SlowBank bank = new SlowBank(kafka.clock(), Duration.ofSeconds(2));
            try (TestApp<Clients> app = start(kafka, bank)) {
                app.send("payouts", new Payout(1, 500));
                app.proceed();
                assertThat(bank.asked()).containsExactly(1L);

                app.crash();
                app.restart().settle();

                assertThat(bank.asked()).containsExactly(1L, 1L);
                app.topic("payouts.done").hasValues(new Paid(1));
                app.group("payouts").hasCommitted("payouts", 0, 1).hasLag("payouts", 0);
            }
        }
    }

    @Test
    @DisplayName("A payout that was confirmed, but not yet committed before a crash, is confirmed twice")
    void crashBeforeCommit() {
        FlakyBank bank = new FlakyBank();
        try (TestApp<Clients> app = start(new Clients(bank, page -> true))) {
            app.publish("payouts", new Payout(1, 500));
            app.send("payouts", new Payout(2, 500));
            app.advance(Duration.ofMillis(10)); // enough for the confirmation, not for the next commit
            app.topic("payouts.done").hasValues(new Paid(1), new Paid(2));
            app.group("payouts").hasCommitted("payouts", 0, 1);

            app.crash();
            app.restart().settle();

            assertThat(bank.paid()).containsExactly(1L, 2L, 2L);
            app.topic("payouts.done").hasValues(new Paid(1), new Paid(2), new Paid(2));
            app.group("payouts").hasCommitted("payouts", 0, 2).hasLag("payouts", 0);
        }
    }

    @Test
    @DisplayName("A clean stop repeats nothing")
    void stop() {
        FlakyBank bank = new FlakyBank();
        try (TestApp<Clients> app = start(new Clients(bank, page -> true))) {
            app.publish("payouts", new Payout(1, 500));
            app.send("payouts", new Payout(2, 500));
            app.proceed();

            assertThat(app.stop().clean()).isTrue();
            app.restart().settle();

            assertThat(bank.paid()).containsExactly(1L, 2L);
            app.topic("payouts.done").hasValues(new Paid(1), new Paid(2));
        }
    }

    @Test
    @DisplayName("A confirmation that Kafka refuses for a while is there once in the end, and the payout was made once")
    void replicasMissing() {
        SlowBank bank;
        try (TestKafka kafka = TestKafka.create()) {
            bank = new SlowBank(kafka.clock(), Duration.ZERO);
            try (TestApp<Clients> app = start(kafka, bank)) {
                app.faults().produce("payouts.done").times(3).fail(new NotEnoughReplicasException());

                app.publish("payouts", new Payout(1, 500));

                assertThat(app.faults().left()).isZero();
                assertThat(bank.asked()).containsExactly(1L);
                app.topic("payouts.done").hasValues(new Paid(1));
            }
        }
    }

    @Test
    @DisplayName("A service that may not write confirmations stops with the payout open, and makes it when it may")
    void notAuthorized() {
        try (TestApp<Clients> app = start(new Clients((id, cents) -> true, page -> true))) {
            app.faults().produce("payouts.done").fail(new TopicAuthorizationException("payouts.done"));

            app.publish("payouts", new Payout(1, 500));
            app.hasFailed(PublishException.class);
            app.group("payouts").hasCommitted("payouts", 0, 0).hasLag("payouts", 1);

            app.restart().settle();
            app.topic("payouts.done").hasValues(new Paid(1));
            app.group("payouts").hasLag("payouts", 0);
        }
    }

    @Test
    @DisplayName("A commit whose answer is lost is made again")
    void commitWithoutAnswer() {
        try (TestApp<Clients> app = start(new Clients((id, cents) -> true, page -> true))) {
            app.faults().commit("payouts").loseAnswer();

            app.publish("payouts", new Payout(1, 500));

            app.group("payouts").hasCommitted("payouts", 0, 1);
            app.isRunning();
        }
    }

    @Test
    @DisplayName("A second instance takes half of the payouts, and the first one all when the second has crashed")
    void twoInstances() {
        try (TestKafka kafka = TestKafka.create().topic("payouts", 4);
                TestApp<Clients> one = start(kafka, (id, cents) -> true);
                TestApp<Clients> other = one.another()) {
            sendToEachPartition(one, 1);
            one.settle();
            one.subscription("payouts").hasCalls(2);
            other.subscription("payouts").hasCalls(2);

            other.crash();
            kafka.advance(Duration.ofSeconds(45)); // session.timeout.ms: now the group knows
            sendToEachPartition(one, 5);
            one.settle();
            one.subscription("payouts").hasCalls(6);
            one.group("payouts").hasLag("payouts", 0);
        }
    }

    private static void sendToEachPartition(TestApp<Clients> app, long firstId) {
        for (int partition = 0; partition < 4; partition++) {
            app.send("payouts", Message.of(new Payout(firstId + partition, 500)).partition(partition));
        }
    }

    @Test
    @DisplayName("A payout that is with the bank when its partition is taken away is finished where it is")
    void rebalance() {
        try (TestKafka kafka = TestKafka.create().topic("payouts", 2)) {
            SlowBank bank = new SlowBank(kafka.clock(), Duration.ofSeconds(2));
            try (TestApp<Clients> one = start(kafka, bank);
                    TestApp<Clients> other = one.another()) {
                one.take("payouts", 0, 1).settle();
                one.send("payouts", Message.of(new Payout(1, 500)).partition(0));
                one.proceed();
                assertThat(bank.asked()).containsExactly(1L);

                other.take("payouts", 0).settle();
                assertThat(bank.asked()).containsExactly(1L);
                one.topic("payouts.done").hasValues(new Paid(1));

                other.publish("payouts", Message.of(new Payout(2, 500)).partition(0));
                other.subscription("payouts").hasValues(new Payout(2, 500));
            }
        }
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3, 4, 5})
    @DisplayName("Whatever Kafka brings first and whoever is quicker, a crash loses no payout")
    void anyOrder(long seed) {
        assertThat(crashInTheMiddle(seed)).isEqualTo(crashInTheMiddle(seed));
    }

    private static long crashInTheMiddle(long seed) {
        try (TestKafka kafka = TestKafka.seeded(seed).topic("payouts", 3)) {
            SlowBank bank = new SlowBank(kafka.clock(), Duration.ofMillis(20));
            try (TestApp<Clients> app = start(kafka, bank)) {
                for (long id = 1; id <= 30; id++) {
                    app.send("payouts", Message.of(new Payout(id, 500)).key("account-" + id % 7));
                }
                app.advance(Duration.ofMillis(50));
                app.crash();
                app.restart().settle();

                Long[] all = LongStream.rangeClosed(1, 30).boxed().toArray(Long[]::new);
                assertThat(bank.asked()).contains(all);
                app.group("payouts").hasLag("payouts", 0);
            }
            return kafka.fingerprint();
        }
    }
}
