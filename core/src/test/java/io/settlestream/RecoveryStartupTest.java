package io.settlestream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaSource;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.kafka.KafkaTopics;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What startup refuses of retries, caps and dead letters. */
class RecoveryStartupTest {

    private static final KafkaTopic AUTO = KafkaTopic.of("orders").commit(Commit.auto());
    private static final KafkaTopic TRACKED = KafkaTopic.of("orders").commit(Commit.tracked());

    /** What a start says to one subscription; no cluster is asked. */
    private static List<String> problems(KafkaSource<?> source, Consumer<Mount> options) {
        App<NoState> app = SettleStream.app("payouts", "1")
                .withBroker(
                        // Nothing connects: the other subscription has a mistake, so that every start is refused.
                        KafkaBroker.of("127.0.0.1:1").defaultGroup("group"), scope -> {
                            options.accept(scope.include(Subscriber.on(source, String.class)
                                            .<Object>handle((value, context) -> HandlerOutcome.ack()))
                                    .name("in"));
                            scope.include(Subscriber.on(KafkaTopic.of("no good"), String.class)
                                            .<Object>handle((value, context) -> HandlerOutcome.ack()))
                                    .name("refused");
                        });
        StartupException report = catchThrowableOfType(StartupException.class, app::start);
        assertThat(report.problems()).anyMatch(problem -> problem.startsWith("subscription refused"));
        return report.problems().stream()
                .filter(problem -> problem.startsWith("subscription in: "))
                .map(problem -> problem.substring("subscription in: ".length()))
                .toList();
    }

    @Test
    @DisplayName("2.3: under Auto a cap, a retry topic and policies that retry are refused, each for itself")
    void underAuto() {
        String way = " under Commit.auto(), where nothing comes back. Use Commit.tracked(), or ";
        assertThat(problems(
                        AUTO,
                        mount -> mount.maxAttempts(3)
                                .retryTopic("later")
                                .onException(ExceptionPolicy.retryAfter(Duration.ofSeconds(5)))
                                .onDecodeFailure(DecodePolicy.RETRY)))
                .containsExactly(
                        "maxAttempts(3)" + way + "leave it out",
                        "retryTopic(later)" + way + "leave it out",
                        "onException(RETRY_AFTER(PT5S))" + way + "another policy",
                        "onDecodeFailure(RETRY)" + way + "another policy");
        assertThat(problems(AUTO, mount -> mount.onException(ExceptionPolicy.RETRY)))
                .containsExactly("onException(RETRY)" + way + "another policy");
    }

    @Test
    @DisplayName("2.3: under Auto a dead-letter topic is allowed, and policies that need one are")
    void deadLettersUnderAuto() {
        assertThat(problems(
                        AUTO,
                        mount -> mount.deadLetter("dead")
                                .onException(ExceptionPolicy.DEAD_LETTER)
                                .onDecodeFailure(DecodePolicy.DEAD_LETTER)))
                .isEmpty();
    }

    @Test
    @DisplayName("7.5: a policy that sends records to the dead letters needs a topic for them")
    void nowhereToGo() {
        for (KafkaTopic topic : List.of(AUTO, TRACKED)) {
            assertThat(problems(
                            topic,
                            mount -> mount.onException(ExceptionPolicy.DEAD_LETTER)
                                    .onDecodeFailure(DecodePolicy.DEAD_LETTER)))
                    .containsExactly(
                            "onException(DEAD_LETTER) without a dead-letter topic. Name one with deadLetter(...), or"
                                    + " choose another policy",
                            "onDecodeFailure(DEAD_LETTER) without a dead-letter topic. Name one with deadLetter(...), or"
                                    + " choose another policy");
        }
    }

    @Test
    @DisplayName("7.1, 3.5: a topic that the subscription reads is neither its dead-letter nor its retry topic")
    void readsItself() {
        String deadLetter =
                "deadLetter(orders) is a topic that the subscription reads: records that were given up would"
                        + " be handled again, without end. Name another topic";
        for (KafkaSource<?> source : List.of(
                TRACKED,
                KafkaTopics.of("payments", "orders").commit(Commit.tracked()),
                KafkaTopics.matching(Pattern.compile("ord.*")).commit(Commit.tracked()))) {
            assertThat(problems(source, mount -> mount.deadLetter("orders"))).containsExactly(deadLetter);
            assertThat(problems(source, mount -> mount.retryTopic("orders")))
                    .containsExactly(
                            "retryTopic(orders) is a topic that the subscription reads: a copy that waits could"
                                    + " not be told from a new record. Name another topic");
            assertThat(problems(source, mount -> mount.deadLetter("dead").retryTopic("later")))
                    .isEmpty();
        }
    }

    @Test
    @DisplayName("7.1: dead letters and retries cannot share a topic")
    void oneForBoth() {
        assertThat(problems(TRACKED, mount -> mount.deadLetter("both").retryTopic("both")))
                .containsExactly(
                        "deadLetter and retryTopic are both both, so records that were given up would be handled"
                                + " again. Name two topics");
    }

    @Test
    @DisplayName("7.1, 3.5: one subscription's dead letters are not another one's retries, whichever is included first")
    void keptApart() {
        App<NoState> app = SettleStream.app("shop", "1.0")
                .withBroker(KafkaBroker.of("127.0.0.1:1").defaultGroup("group"), scope -> {
                    for (String name : List.of("a", "b", "c")) {
                        Mount mount =
                                scope.include(Subscriber.on(KafkaTopic.of(name).commit(Commit.tracked()), String.class)
                                        .<Object>handle((value, context) -> HandlerOutcome.ack()));
                        if (name.equals("b")) {
                            mount.retryTopic("x");
                        } else {
                            mount.deadLetter("x");
                        }
                    }
                });

        StartupException report = catchThrowableOfType(StartupException.class, app::start);

        String why = ", so records that were given up would be handled again or settled unseen. Name two topics";
        assertThat(report.problems())
                .containsExactly(
                        "subscription b: retryTopic(x) is the deadLetter of subscription a" + why,
                        "subscription c: deadLetter(x) is the retryTopic of subscription b" + why);
    }

    @Test
    @DisplayName("7.1, 12.2: a name that no topic can have is refused, and shown without what would break the line")
    void illegalNames() {
        List<String> problems =
                problems(TRACKED, mount -> mount.deadLetter("a b").retryTopic("new\nline"));
        assertThat(problems).hasSize(2);
        assertThat(problems.get(0)).startsWith("deadLetter: ").contains("a?b");
        assertThat(problems.get(1)).startsWith("retryTopic: ").doesNotContain("\n");
    }

    @Test
    @DisplayName("7.1: a cap below one is refused where it is set, as is a delay below zero")
    void numbers() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> problems(TRACKED, mount -> mount.maxAttempts(0)))
                .withMessageContaining("maxAttempts");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> HandlerOutcome.retryAfter(Duration.ofMillis(-1)))
                .withMessageContaining("must not be negative");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ExceptionPolicy.retryAfter(Duration.ofMillis(-1)))
                .withMessageContaining("must not be negative");
    }
}
