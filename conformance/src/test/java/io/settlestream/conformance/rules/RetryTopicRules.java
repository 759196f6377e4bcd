package io.settlestream.conformance.rules;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.settlestream.App;
import io.settlestream.Handler;
import io.settlestream.HandlerOutcome;
import io.settlestream.Mount;
import io.settlestream.NoState;
import io.settlestream.Subscriber;
import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaPartitions;
import io.settlestream.kafka.KafkaTopics;
import io.settlestream.kafka.RecordCopy;
import io.settlestream.kafka.StartOffset;
import io.settlestream.testing.TestApp;
import io.settlestream.testing.TestRecord;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;

/** Rule 3.5 with a retry topic, and what rule 7.7 says of it. */
final class RetryTopicRules {

    private RetryTopicRules() {}

    static List<Scenario> scenarios() {
        return List.of(waitsThere(), twoGroups(), overAStop(), fromTheBeginning(), ofASet(), ofPartitions());
    }

    static Consumer<Mount> retryTopic(Stage stage) {
        return mount -> mount.retryTopic(stage.name("later"));
    }

    /** The name of a topic as if nobody else used it. */
    static String plain(Stage stage, String topic) {
        return List.of("orders", "payments", "later").stream()
                .filter(name -> stage.name(name).equals(topic))
                .findFirst()
                .orElse(topic);
    }

    private static Scenario waitsThere() {
        return Scenario.of(
                        "a delayed record waits on the retry topic: its offset is committed at once, and its copy runs when"
                                + " it is due, as the record that it was",
                        "3.5",
                        "7.3")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.topic("later", 1);
                            Headers headers = new RecordHeaders();
                            headers.add("mine", new byte[] {1});
                            stage.write("orders", new byte[] {7}, "a".getBytes(UTF_8), headers);
                            stage.write("orders", 0, "b");
                            List<Instant> times = new CopyOnWriteArrayList<>();
                            List<Instant> timestamps = new CopyOnWriteArrayList<>();
                            List<String> seen = new CopyOnWriteArrayList<>();
                            TestApp<NoState> app = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> {
                                        if (value.equals("b")) {
                                            return HandlerOutcome.ack();
                                        }
                                        times.add(stage.now());
                                        timestamps.add(context.timestamp());
                                        StringBuilder what = new StringBuilder(plain(stage, context.topic()));
                                        what.append(" key ").append(Arrays.toString(context.key()));
                                        for (Header header : context.headers()) {
                                            what.append(' ').append(header.key());
                                        }
                                        context.origin()
                                                .ifPresent(origin -> what.append(" of ")
                                                        .append(plain(stage, origin.topic()))
                                                        .append('-')
                                                        .append(origin.partition())
                                                        .append('@')
                                                        .append(origin.offset()));
                                        seen.add(what.toString());
                                        return context.attempt() == 1
                                                ? HandlerOutcome.retryAfter(Duration.ofMillis(1_500))
                                                : HandlerOutcome.ack();
                                    }),
                                    retryTopic(stage));
                            stage.eventuallyCommitted("orders", "0@2");
                            stage.note("acked before", Stage.counts(app).acked());
                            stage.eventuallyCommitted("later", "0@1");
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            stage.note("seen", seen);
                            stage.note(
                                    "in time",
                                    Duration.between(times.get(0), times.get(1)).toMillis() >= 1_499);
                            stage.note(
                                    "one timestamp",
                                    timestamps.stream().distinct().count());
                            TestRecord copy = stage.published("later").get(0);
                            stage.note(
                                    "attempts", copy.header(RecordCopy.ATTEMPTS).orElseThrow());
                            stage.note("retry copies", Stage.counts(app).retryCopies());
                            stage.note("acked", Stage.counts(app).acked());
                            stage.note("open", Stage.open(app));
                        },
                        """
                        acked before: 1
                        handled: a#1 retry after PT1.5S, b#1 ack, a#2 ack
                        seen: [orders key [7] mine, later key [7] mine of orders-0@0]
                        in time: true
                        one timestamp: 1
                        attempts: 1
                        retry copies: 1
                        acked: 2
                        open: 0
                        """);
    }

    private static Scenario twoGroups() {
        return Scenario.of(
                        "two groups share a retry topic, and each runs its own copies and commits past the other's",
                        "3.5")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.topic("later", 1);
                            TestApp<NoState> first = stage.start(app(stage, "one", "a"));
                            TestApp<NoState> second = stage.start(app(stage, "two", "b"));
                            stage.write("orders", 0, "a", "b", "c");
                            stage.eventually(
                                    "both have committed past all copies",
                                    () -> stage.committed(stage.name("one"), "later")
                                                    .equals("0@2")
                                            && stage.committed(stage.name("two"), "later")
                                                    .equals("0@2"));
                            stage.note("first", Seen.sorted(first));
                            stage.note("second", Seen.sorted(second));
                            stage.note("committed", stage.committed(stage.name("one"), "orders"));
                            stage.note("committed", stage.committed(stage.name("two"), "orders"));
                        },
                        """
                        first: a#1 retry after PT0.2S, a#2 ack, b#1 ack, c#1 ack
                        second: a#1 ack, b#1 retry after PT0.2S, b#2 ack, c#1 ack
                        committed: 0@3
                        committed: 0@3
                        """);
    }

    /** Delays the first attempt at one value. */
    private static App<NoState> app(Stage stage, String group, String delayed) {
        return stage.app(
                stage.brokerWithoutGroup().defaultGroup(stage.name(group)),
                scope -> retryTopic(stage)
                        .accept(scope.include(stage.handled(
                                        stage.tracked("orders"),
                                        (value, context) -> value.equals(delayed) && context.attempt() == 1
                                                ? HandlerOutcome.retryAfter(Duration.ofMillis(200))
                                                : HandlerOutcome.ack()))
                                .name("in")));
    }

    private static Scenario overAStop() {
        return Scenario.of(
                        "a stop does not wait for a copy that is not due; the next start runs it in time",
                        "3.5",
                        "10.3")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.topic("later", 1);
                            stage.write("orders", 0, "a");
                            AtomicReference<Instant> delayedAt = new AtomicReference<>();
                            AtomicReference<Instant> handledAt = new AtomicReference<>();
                            TestApp<NoState> app = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> {
                                        if (context.attempt() == 1) {
                                            delayedAt.set(stage.now());
                                            return HandlerOutcome.retryAfter(Duration.ofSeconds(3));
                                        }
                                        handledAt.set(stage.now());
                                        return HandlerOutcome.ack();
                                    }),
                                    retryTopic(stage));
                            stage.eventuallyCommitted("orders", "0@1");
                            app.stop();
                            stage.note("handled", Seen.calls(app));
                            stage.note("committed", stage.committed("orders"));
                            app.restart();
                            stage.eventuallyCommitted("later", "0@1");
                            stage.note("handled", Seen.calls(app));
                            stage.note(
                                    "in time",
                                    Duration.between(delayedAt.get(), handledAt.get())
                                                    .toMillis()
                                            >= 2_999);
                        },
                        """
                        handled: a#1 retry after PT3S
                        committed: 0@1
                        handled: a#1 retry after PT3S, a#2 ack
                        in time: true
                        """);
    }

    static Headers copyHeaders(Stage stage, String attempts, @Nullable String due) {
        Headers headers = new RecordHeaders();
        headers.add(RecordCopy.ORIGIN_TOPIC, stage.name("orders").getBytes(UTF_8));
        headers.add(RecordCopy.ORIGIN_PARTITION, "0".getBytes(UTF_8));
        headers.add(RecordCopy.ORIGIN_OFFSET, "7".getBytes(UTF_8));
        headers.add(RecordCopy.GROUP, stage.group().getBytes(UTF_8));
        headers.add(RecordCopy.ATTEMPTS, attempts.getBytes(UTF_8));
        if (due != null) {
            headers.add(RecordCopy.DUE, due.getBytes(UTF_8));
        }
        return headers;
    }

    private static Scenario fromTheBeginning() {
        return Scenario.of("StartOffset.LATEST is for new records: it skips no copy that waits", "3.5", "9.2")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.topic("later", 1);
                            stage.write("orders", 0, "old");
                            stage.write("later", null, "waits".getBytes(UTF_8), copyHeaders(stage, "3", null));
                            TestApp<NoState> app = stage.start(
                                    stage.handled(
                                            stage.tracked("orders").startOffset(StartOffset.LATEST),
                                            (value, context) -> HandlerOutcome.ack()),
                                    retryTopic(stage));
                            stage.write("orders", 0, "new");
                            stage.eventuallyCommitted("later", "0@1");
                            stage.eventuallyCommitted("orders", "0@2");
                            stage.note("handled", Seen.sorted(app));
                        },
                        """
                        handled: new#1 ack, waits#4 ack
                        """);
    }

    private static Handler<String, Object> delaysOnce(Stage stage, List<String> origins) {
        return (value, context) -> {
            if (context.attempt() == 1) {
                return HandlerOutcome.retryAfter(Duration.ofMillis(50));
            }
            RecordCopy origin = context.origin().orElseThrow();
            origins.add(value + " of " + plain(stage, origin.topic()) + "-" + origin.partition() + "@" + origin.offset()
                    + " in " + context.partition());
            return HandlerOutcome.ack();
        };
    }

    private static Scenario ofASet() {
        return Scenario.of("copies of a subscription over several topics remember which they came from", "7.7", "3.5")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.topic("payments", 1);
                            stage.topic("later", 1);
                            stage.write("orders", 0, "o");
                            stage.write("payments", 0, "first", "p");
                            List<String> origins = new CopyOnWriteArrayList<>();
                            KafkaTopics source = KafkaTopics.of(stage.name("orders"), stage.name("payments"))
                                    .commit(Commit.tracked())
                                    .startOffset(StartOffset.EARLIEST)
                                    .config("metadata.max.age.ms", 200)
                                    .config("auto.commit.interval.ms", Stage.COMMIT_INTERVAL_MS);
                            stage.start(
                                    Subscriber.on(source, String.class).handle(delaysOnce(stage, origins)),
                                    retryTopic(stage));
                            stage.eventuallyCommitted("later", "0@3");
                            stage.note("origins", origins.stream().sorted().toList());
                            stage.note("committed", stage.committed("orders") + " " + stage.committed("payments"));
                        },
                        """
                        origins: [first of payments-0@0 in 0, o of orders-0@0 in 0, p of payments-0@1 in 0]
                        committed: 0@1 0@2
                        """);
    }

    private static Scenario ofPartitions() {
        return Scenario.of(
                        "copies of named partitions stay in the partitions of their numbers, which are read",
                        "7.7",
                        "3.5")
                .play(
                        stage -> {
                            stage.topic("orders", 3);
                            stage.topic("later", 3);
                            stage.write("orders", 0, "unread");
                            stage.write("orders", 1, "one");
                            stage.write("orders", 2, "two");
                            List<String> origins = new CopyOnWriteArrayList<>();
                            KafkaPartitions source = KafkaPartitions.of(stage.name("orders"), 1, 2)
                                    .group(stage.group())
                                    .commit(Commit.tracked())
                                    .startOffset(StartOffset.EARLIEST)
                                    .config("metadata.max.age.ms", 200)
                                    .config("auto.commit.interval.ms", Stage.COMMIT_INTERVAL_MS);
                            stage.start(
                                    Subscriber.on(source, String.class).handle(delaysOnce(stage, origins)),
                                    retryTopic(stage));
                            stage.eventuallyCommitted("later", "1@1 2@1");
                            stage.note("origins", origins.stream().sorted().toList());
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        origins: [one of orders-1@0 in 1, two of orders-2@0 in 2]
                        committed: 1@1 2@1
                        """);
    }
}
