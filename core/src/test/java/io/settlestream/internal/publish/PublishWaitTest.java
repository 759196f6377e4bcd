package io.settlestream.internal.publish;

import static io.settlestream.internal.publish.Publishing.large;
import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.PublishException;
import io.settlestream.PublishException.Reason;
import io.settlestream.PublishedRecord;
import io.settlestream.internal.publish.FakeProducer.Taken;
import io.settlestream.internal.publish.Publishing.Plain;
import io.settlestream.internal.publish.Threads.Call;
import io.settlestream.kafka.KafkaPublish;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Waiting for room and for reports, and the threads that this happens on. */
class PublishWaitTest {

    private final Publishing publishing = new Publishing();
    private final ManualTime time = publishing.time;
    private final FakeProducer producer = publishing.producer;
    private final BrokerPublisher broker = publishing.broker;
    private final PublishSite payouts = publishing.payouts;

    // ---- 6.1 success, 6.3 threads

    @Test
    @DisplayName("6.1: publishAndWait returns when Kafka has the record, and not before")
    void waitsForTheReport() throws InterruptedException {
        Call<PublishedRecord> call = Threads.call(() -> payouts.publishAndWait(new Plain("")));
        Taken taken = producer.taken.take();
        assertThat(call.result()).isNotDone();

        taken.accept(7);

        assertThat(call.join()).isEqualTo(new PublishedRecord("payouts", 0, 7));
    }

    @Test
    @DisplayName("6.1: publishAndWait throws what the report says, from where it was called")
    void waitsForTheFailure() throws InterruptedException {
        Call<PublishedRecord> call = Threads.call(() -> payouts.publishAndWait(new Plain("")));

        producer.taken.take().fail(new NotEnoughReplicasException("1 of 2"));

        assertThat(call.failure()).isInstanceOfSatisfying(PublishException.class, failure -> {
            assertThat(failure.reason()).isEqualTo(Reason.NOT_ACCEPTED);
            assertThat(failure).message().contains("NotEnoughReplicas", "1 of 2");
            assertThat(failure.getStackTrace())
                    .extracting(StackTraceElement::getMethodName)
                    .contains("publishAndWait");
        });
    }

    @Test
    @DisplayName("6.3: what is chained to a publish never runs on the thread that reports")
    void completesElsewhere() {
        CompletableFuture<Thread> chained = payouts.publish(new Plain(""))
                .thenApply(accepted -> Thread.currentThread())
                .toCompletableFuture();

        producer.taken.remove().accept(1);

        assertThat(chained.join()).isNotSameAs(Thread.currentThread());
    }

    @Test
    @DisplayName("6.3: what is chained to a publish may block without holding up others")
    void chainedBlocks() {
        CountDownLatch second = new CountDownLatch(1);
        CompletableFuture<String> first = payouts.publish(new Plain(""))
                .thenApply(accepted -> awaited(second))
                .toCompletableFuture();
        payouts.publish(new Plain("")).thenRun(second::countDown);

        producer.taken.remove().accept(1);
        producer.taken.remove().accept(2);

        assertThat(first.join()).isEqualTo("both");
    }

    @Test
    @DisplayName("6.1: a stage of publish carries what Kafka accepted, or the typed error")
    void stageCarriesTheResult() {
        CompletableFuture<PublishedRecord> accepted =
                payouts.publish(new Plain("")).toCompletableFuture();
        CompletableFuture<PublishedRecord> refused =
                payouts.publish(new Plain("")).toCompletableFuture();

        producer.taken.remove().accept(5);
        producer.taken.remove().fail(new RecordTooLargeException("topic"));

        assertThat(accepted.join()).isEqualTo(new PublishedRecord("payouts", 0, 5));
        assertThat(refused.handle((record, failure) -> (Object) failure).join())
                .isInstanceOfSatisfying(
                        PublishException.class,
                        failure -> assertThat(failure.reason()).isEqualTo(Reason.TOO_LARGE));
    }

    // ---- 6.2 room

    @Test
    @DisplayName("6.2: with the queue full a publish fails after queueTimeout, saying what is in the way")
    void queueFull() throws InterruptedException {
        PublishSite bounded = broker.site(KafkaPublish.to("payouts").queueTimeout(Duration.ofSeconds(5)));
        int sent = publishing.fill();
        Call<Object> call = Threads.call(() -> bounded.publishAndWait(large()));
        Threads.until("it waits", () -> time.timers() == 1);

        time.advance(Duration.ofSeconds(5));

        assertThat(call.failure()).isInstanceOfSatisfying(PublishException.class, failure -> {
            assertThat(failure.reason()).isEqualTo(Reason.QUEUE_FULL);
            assertThat(failure.topic()).isEqualTo("payouts");
            assertThat(failure).message().contains("payouts", "PT5S", "5000", sent + " records", "buffer.memory");
        });
        assertThat(broker.unreported()).isEqualTo(sent);
    }

    @Test
    @DisplayName("6.2: without queueTimeout a publish waits until a report makes room; sites share the room")
    void waitsForRoom() throws InterruptedException {
        PublishSite anywhere = broker.site(KafkaPublish.create());
        publishing.fill();
        Call<PublishedRecord> call = Threads.call(() -> anywhere.publishAndWait(large().to("other")));
        Threads.until("it waits", () -> call.thread().getState() == Thread.State.WAITING);
        time.advance(Duration.ofDays(365));
        assertThat(call.result()).isNotDone();

        producer.taken.remove().accept(1);

        Threads.until(
                "it is sent",
                () -> producer.taken.stream()
                        .anyMatch(taken -> taken.record().topic().equals("other")));
        producer.taken.forEach(taken -> taken.accept(2));
        assertThat(call.join().topic()).isEqualTo("other");
    }

    @Test
    @DisplayName("6.2: a failed record makes room as an accepted one does")
    void failureMakesRoom() throws InterruptedException {
        int sent = publishing.fill();

        producer.taken.remove().fail(new NotEnoughReplicasException("1"));

        assertThat(publishing.fill()).isEqualTo(1);
        assertThat(broker.unreported()).isEqualTo(sent);
    }

    private static String awaited(CountDownLatch other) {
        try {
            other.await();
            return "both";
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }
}
