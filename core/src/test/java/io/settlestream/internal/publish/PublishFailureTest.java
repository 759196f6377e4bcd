package io.settlestream.internal.publish;

import static io.settlestream.internal.publish.Publishing.small;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.settlestream.Message;
import io.settlestream.PublishException;
import io.settlestream.PublishException.Reason;
import io.settlestream.PublishedRecord;
import io.settlestream.internal.publish.FakeProducer.Answer;
import io.settlestream.internal.publish.FakeProducer.Taken;
import io.settlestream.internal.publish.Publishing.Plain;
import io.settlestream.internal.publish.Threads.Call;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What goes wrong in the producer, by each way it has to say so. */
class PublishFailureTest {

    private final Publishing publishing = new Publishing();
    private final FakeProducer producer = publishing.producer;
    private final BrokerPublisher broker = publishing.broker;
    private final PublishSite payouts = publishing.payouts;

    // ---- every failure of the producer, by each way it has

    enum Way {
        REPORT {
            @Override
            void fail(PublishFailureTest test, Exception failure, Reports reports) throws InterruptedException {
                test.payouts.send(MESSAGE, reports);
                test.producer.taken.remove().fail(failure);
            }
        },
        REPORT_IN_THE_CALL {
            @Override
            void fail(PublishFailureTest test, Exception failure, Reports reports) throws InterruptedException {
                test.producer.always(new Answer.Reports(failure));
                test.payouts.send(MESSAGE, reports);
            }
        },
        FAILED_FUTURE {
            @Override
            void fail(PublishFailureTest test, Exception failure, Reports reports) throws InterruptedException {
                test.producer.always(new Answer.Returns(failure));
                test.payouts.send(MESSAGE, reports);
            }
        },
        THROWN {
            @Override
            void fail(PublishFailureTest test, Exception failure, Reports reports) throws InterruptedException {
                test.producer.always(new Answer.Throws(failure));
                try {
                    test.payouts.send(MESSAGE, reports);
                } catch (PublishException thrown) {
                    assertThat(reports.calls).as("told of what was thrown").hasValue(0);
                    reports.failed(thrown);
                }
            }
        };

        private static final Message<Plain> MESSAGE =
                Message.of(new Plain("secret")).key("secret");

        abstract void fail(PublishFailureTest test, Exception failure, Reports reports) throws InterruptedException;
    }

    static Stream<Arguments> failures() {
        List<Arguments> failures = new ArrayList<>();
        for (Way way : Way.values()) {
            failures.addAll(List.of(
                    Arguments.of(way, new RecordTooLargeException("too large"), Reason.TOO_LARGE),
                    Arguments.of(way, new TopicAuthorizationException("payouts"), Reason.NOT_AUTHORIZED),
                    Arguments.of(way, new ClusterAuthorizationException("no"), Reason.NOT_AUTHORIZED),
                    Arguments.of(way, new InvalidTopicException("payouts"), Reason.ILLEGAL_TOPIC),
                    Arguments.of(way, new UnknownTopicOrPartitionException("gone"), Reason.UNKNOWN_TOPIC),
                    Arguments.of(way, new BufferExhaustedException("full"), Reason.QUEUE_FULL),
                    Arguments.of(way, new NotEnoughReplicasException("1"), Reason.NOT_ACCEPTED),
                    Arguments.of(way, new IllegalArgumentException("odd"), Reason.NOT_ACCEPTED),
                    Arguments.of(
                            way, new KafkaException("wrapped", new RecordTooLargeException("large")), Reason.TOO_LARGE),
                    Arguments.of(
                            way,
                            new TimeoutException("late"),
                            way == Way.REPORT ? Reason.NOT_ACCEPTED : Reason.UNKNOWN_TOPIC)));
        }
        failures.add(Arguments.of(Way.THROWN, new IllegalStateException("closed"), Reason.CLOSED));
        return failures.stream();
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("failures")
    @DisplayName("6.1: each failure of the producer is one typed error, told once, and leaves nothing behind")
    void failureIsTyped(Way way, Exception failure, Reason expected) throws InterruptedException {
        Reports reports = new Reports();

        way.fail(this, failure, reports);

        assertThat(reports.calls).hasValue(1);
        assertThat(reports.failure.reason()).isEqualTo(expected);
        assertThat(reports.failure.topic()).isEqualTo("payouts");
        assertThat(reports.failure).message().contains("payouts").doesNotContain("secret");
        if (failure instanceof KafkaException) {
            assertThat(reports.failure).hasCause(failure);
        } else {
            assertThat(reports.failure)
                    .as("12.1: what others throw is named and not quoted")
                    .cause()
                    .hasMessage(failure.getClass().getName());
        }
        publishing.assertAllRoomIsFree();
    }

    @Test
    @DisplayName("6.1: an Error of the producer goes through and leaves nothing behind")
    void errorGoesThrough() {
        producer.always(new Answer.Throws(new NoClassDefFoundError("plug-in")));

        assertThatExceptionOfType(NoClassDefFoundError.class).isThrownBy(() -> payouts.send(small(), new Reports()));

        assertThat(broker.unreported()).isZero();
    }

    @Test
    @DisplayName("6.3: a listener hears once, also if the producer reports twice")
    void heardOnce() throws InterruptedException {
        Reports reports = new Reports();
        payouts.send(small(), reports);
        Taken taken = producer.taken.remove();

        taken.accept(42);
        taken.fail(new NotEnoughReplicasException("late"));
        taken.accept(43);

        assertThat(reports.calls).hasValue(1);
        assertThat(reports.accepted).isEqualTo(new PublishedRecord("payouts", 0, 42));
        publishing.assertAllRoomIsFree();
    }

    @Test
    @DisplayName("6.3: a listener that throws harms neither the producer's thread nor the count")
    void listenerThrows() throws InterruptedException {
        payouts.send(small(), new ReportListener() {
            @Override
            public void accepted(PublishedRecord record) {
                throw new StackOverflowError("a listener that breaks its promise, on purpose");
            }

            @Override
            public void failed(PublishException failure) {
                throw new AssertionError(failure);
            }
        });

        producer.taken.remove().accept(1);

        publishing.assertAllRoomIsFree();
    }

    // ---- interrupts

    @Test
    @DisplayName("6.2: an interrupt inside the producer is an InterruptedException, and no room is lost")
    void interruptedInTheProducer() {
        producer.answers = ignored -> new Answer.Throws(new InterruptException(new InterruptedException()));
        Reports reports = new Reports();

        assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> payouts.send(small(), reports));

        assertThat(Thread.interrupted())
                .as("the flag, as the exception tells it")
                .isFalse();
        assertThat(reports.calls).hasValue(0);
        assertThat(broker.unreported()).isZero();
    }

    @Test
    @DisplayName("6.2: an interrupt of a publish that cannot throw it keeps the flag and is a typed error")
    void interruptedPublish() {
        producer.answers = ignored -> new Answer.Throws(new InterruptException(new InterruptedException()));

        PublishException refused = catchThrowableOfType(PublishException.class, () -> payouts.publish(new Plain("")));

        assertThat(Thread.interrupted()).isTrue();
        assertThat(refused.reason()).isEqualTo(Reason.NOT_ACCEPTED);
        assertThat(broker.unreported()).isZero();
    }

    @Test
    @DisplayName("6.2: an interrupt while metadata is on its way is an InterruptedException")
    void interruptedInMetadata() {
        producer.metadataFailure = new InterruptException(new InterruptedException());

        assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> payouts.send(small(), new Reports()));

        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    @DisplayName("6.1: an interrupt ends the wait for the report; the record stays on its way")
    void interruptedWait() throws InterruptedException {
        Call<PublishedRecord> call = Threads.call(() -> payouts.publishAndWait(new Plain("")));
        Taken taken = producer.taken.take();

        call.thread().interrupt();

        assertThat(call.failure()).isInstanceOf(InterruptedException.class);
        assertThat(broker.unreported()).isEqualTo(1);
        taken.accept(1);
        assertThat(broker.unreported()).isZero();
    }
}
