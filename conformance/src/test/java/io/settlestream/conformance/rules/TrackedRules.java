package io.settlestream.conformance.rules;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.settlestream.HandlerOutcome;
import io.settlestream.NoState;
import io.settlestream.StartupException;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.kafka.StartOffset;
import io.settlestream.testing.TestApp;
import java.time.Duration;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;

/** Section 3, as far as one member goes: what is committed, and when. */
final class TrackedRules {

    private static final int NEVER_MS = 3_600_000;

    private TrackedRules() {}

    static List<Scenario> scenarios() {
        return List.of(
                behindTheOpenRecord(),
                neverPastNeverDown(),
                transactions(),
                compacted(),
                inTheBackground(),
                atClose(),
                leaderEpoch(),
                startIsCommitted(),
                latestIsCommitted(),
                ownedProperty(),
                trimmed(),
                newPartitions());
    }

    private static Scenario behindTheOpenRecord() {
        return Scenario.of("the committed offset stops at the lowest open record while later ones are settled", "3.1")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a", "b", "held", "d", "e", "f");
                            Gate gate = stage.gate();
                            TestApp<NoState> app = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> {
                                        if (value.equals("held")) {
                                            gate.pass();
                                        }
                                        return value.equals("e") ? HandlerOutcome.drop() : HandlerOutcome.ack();
                                    }),
                                    mount -> mount.workers(3));
                            stage.eventually(
                                    "all others are settled",
                                    () -> Stage.counts(app).acked() == 4
                                            && Stage.counts(app).dropped() == 1);
                            stage.eventuallyCommitted("orders", "0@2");
                            stage.pass(Duration.ofMillis(2 * Stage.COMMIT_INTERVAL_MS));
                            stage.note("committed", stage.committed("orders"));
                            stage.note("open", Stage.open(app));
                            stage.note(
                                    "oldest open",
                                    Stage.health(app).partitions().get(0).oldestOpen());

                            gate.open();
                            stage.settle();
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        committed: 0@2
                        open: 1
                        oldest open: Optional[2]
                        committed: 0@6
                        """);
    }

    /** What was acked, noted a moment before the framework hears of it. */
    private static final class Acked {
        private final BitSet offsets = new BitSet();

        synchronized void add(long offset) {
            offsets.set((int) offset);
        }

        synchronized long lowestOpen() {
            return offsets.nextClearBit(0);
        }
    }

    private static Scenario neverPastNeverDown() {
        int count = 60;
        return Scenario.of(
                        "with retries and out of order, the committed offset never passes an open record or goes down",
                        "3.1",
                        "3.3")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            for (int i = 0; i < count; i++) {
                                stage.write("orders", 0, Integer.toString(i));
                            }
                            Acked acked = new Acked();
                            List<String> wrong = new CopyOnWriteArrayList<>();
                            stage.start(
                                    stage.handled(
                                            stage.tracked("orders")
                                                    .config("auto.commit.interval.ms", 20)
                                                    .config("max.poll.records", 16),
                                            (value, context) -> {
                                                long offset = context.offset();
                                                stage.busy(Duration.ofMillis(offset * 7 % 11));
                                                if (context.attempt() <= offset % 4 - 1) {
                                                    return HandlerOutcome.retry();
                                                }
                                                acked.add(offset);
                                                return HandlerOutcome.ack();
                                            }),
                                    mount ->
                                            mount.workers(4).retryBackoff(Duration.ofMillis(5), Duration.ofMillis(20)));
                            long[] last = {0};
                            stage.eventually("all is committed", () -> {
                                String seen = stage.committed("orders");
                                long committed = seen.isEmpty() ? 0 : Long.parseLong(seen.substring(2));
                                long open = acked.lowestOpen();
                                if (committed > open || committed < last[0]) {
                                    wrong.add("committed " + committed + " after " + last[0] + ", open " + open);
                                }
                                last[0] = committed;
                                return committed == count;
                            });
                            stage.note("wrong", wrong);
                        },
                        """
                        wrong: []
                        """);
    }

    private static Scenario transactions() {
        return Scenario.of("markers and aborted records hold nothing back: lag is 0 at rest", "3.2", "6.4")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            try (Producer<byte[], byte[]> producer = stage.clients()
                                    .producer(Map.of(ProducerConfig.TRANSACTIONAL_ID_CONFIG, stage.name("writer")))) {
                                producer.initTransactions();
                                transaction(stage, producer, false, "never", "never");
                                TestApp<NoState> app = stage.start(stage.handled(
                                        stage.tracked("orders"), (value, context) -> HandlerOutcome.ack()));
                                stage.eventuallyCommitted("orders", "0@3");
                                stage.note("of aborted ones alone", Seen.calls(app));
                                transaction(stage, producer, true, "a", "b");
                                transaction(stage, producer, false, "never");
                                stage.eventuallyCommitted("orders", "0@8");
                                stage.settle();
                                stage.note("handled", Seen.calls(app));
                                stage.note("committed", stage.committed("orders"));
                                transaction(stage, producer, true, "c");
                                stage.eventuallyCommitted("orders", "0@10");
                                stage.settle();
                                stage.note("handled", Seen.calls(app));
                                stage.note("committed", stage.committed("orders"));
                            }
                        },
                        """
                        of aborted ones alone:\s
                        handled: a#1 ack, b#1 ack
                        committed: 0@8
                        handled: a#1 ack, b#1 ack, c#1 ack
                        committed: 0@10
                        """);
    }

    /** Aborted records are in the log for good, because they are flushed before the abort. */
    private static void transaction(Stage stage, Producer<byte[], byte[]> producer, boolean commit, String... values) {
        producer.beginTransaction();
        for (String value : values) {
            // What fails fails the end of the transaction.
            Future<RecordMetadata> unused =
                    producer.send(new ProducerRecord<>(stage.name("orders"), 0, null, value.getBytes(UTF_8)));
        }
        producer.flush();
        if (commit) {
            producer.commitTransaction();
        } else {
            producer.abortTransaction();
        }
    }

    private static Scenario compacted() {
        Map<String, String> config =
                Map.of("cleanup.policy", "compact", "segment.ms", "100", "min.cleanable.dirty.ratio", "0.01");
        return Scenario.of("offsets that compaction took hold nothing back", "3.2")
                .play(
                        stage -> {
                            stage.topic("orders", 1, config);
                            stage.writeKeyed("orders", "k", "1", "2", "3", "4");
                            stage.pass(Duration.ofMillis(200));
                            stage.writeKeyed("orders", "other", "5");
                            stage.compact("orders");
                            stage.eventually(
                                    "the log is cleaned",
                                    () -> stage.publishedValues("orders").equals(List.of("4", "5")));
                            TestApp<NoState> app = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> HandlerOutcome.ack()));
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        handled: 4#1 ack, 5#1 ack
                        committed: 0@5
                        """);
    }

    private static Scenario inTheBackground() {
        return Scenario.of("commits are made in the background, on the interval", "3.2", "3.3")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            TestApp<NoState> app = stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> HandlerOutcome.ack()));
                            for (int i = 1; i <= 3; i++) {
                                stage.write("orders", 0, Integer.toString(i));
                                stage.eventuallyCommitted("orders", "0@" + i);
                            }
                            stage.note("handled", Seen.calls(app));
                            stage.note("failed commits", Stage.counts(app).failedCommits());
                        },
                        """
                        handled: 1#1 ack, 2#1 ack, 3#1 ack
                        failed commits: 0
                        """);
    }

    private static Scenario atClose() {
        return Scenario.of("positions are committed at close; the next start repeats nothing", "3.3", "9.2")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a", "b");
                            TestApp<NoState> app = stage.start(stage.handled(
                                    stage.tracked("orders").config("auto.commit.interval.ms", NEVER_MS),
                                    (value, context) -> HandlerOutcome.ack()));
                            stage.eventually(
                                    "both are acked", () -> Stage.counts(app).acked() == 2);
                            stage.note("committed", stage.committed("orders"));
                            app.stop();
                            stage.note("committed", stage.committed("orders"));

                            stage.write("orders", 0, "c");
                            app.restart();
                            stage.eventually(
                                    "c is acked", () -> Stage.counts(app).acked() == 1);
                            app.stop();
                            stage.note("handled", Seen.calls(app));
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        committed: 0@0
                        committed: 0@2
                        handled: a#1 ack, b#1 ack, c#1 ack
                        committed: 0@3
                        """);
    }

    private static Scenario leaderEpoch() {
        return Scenario.of("the leader epoch is committed with the offset", "3.3")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a");
                            stage.start(
                                    stage.handled(stage.tracked("orders"), (value, context) -> HandlerOutcome.ack()));
                            stage.settle();
                            TopicPartition partition = new TopicPartition(stage.name("orders"), 0);
                            try (Consumer<byte[], byte[]> reader =
                                    stage.clients().consumer(Map.of(ConsumerConfig.GROUP_ID_CONFIG, stage.group()))) {
                                OffsetAndMetadata committed =
                                        reader.committed(Set.of(partition)).get(partition);
                                stage.note("offset", committed.offset());
                                stage.note("epoch", committed.leaderEpoch());
                            }
                        },
                        """
                        offset: 1
                        epoch: Optional[0]
                        """);
    }

    private static Scenario startIsCommitted() {
        return Scenario.of("a start without a committed offset is committed before the first delivery", "3.7", "9.2")
                .play(stage -> firstCommit(stage, StartOffset.EARLIEST), """
                        handled: old#1 ack, old too#1 ack, new#1 ack
                        committed at the first delivery: 0@0
                        committed: 0@3
                        """);
    }

    private static Scenario latestIsCommitted() {
        return Scenario.of("so is the end, under LATEST, and what came before is not delivered", "3.7", "9.2", "9.3")
                .play(stage -> firstCommit(stage, StartOffset.LATEST), """
                        handled: new#1 ack
                        committed at the first delivery: 0@2
                        committed: 0@3
                        """);
    }

    private static void firstCommit(Stage stage, StartOffset start) {
        stage.topic("orders", 1);
        stage.write("orders", 0, "old", "old too");
        List<String> committed = new CopyOnWriteArrayList<>();
        TestApp<NoState> app =
                stage.start(stage.handled(stage.tracked("orders").startOffset(start), (value, context) -> {
                    committed.add(stage.committed("orders"));
                    return HandlerOutcome.ack();
                }));
        stage.write("orders", 0, "new");
        stage.settle();
        stage.note("handled", Seen.calls(app));
        stage.note("committed at the first delivery", committed.get(0));
        stage.note("committed", stage.committed("orders"));
    }

    private static Scenario ownedProperty() {
        return Scenario.of("enable.auto.commit is refused at startup, with the mode that owns it", "3.9", "6.4")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            KafkaTopic topic = stage.tracked("orders").config("enable.auto.commit", true);
                            try {
                                stage.start(stage.handled(topic, (value, context) -> HandlerOutcome.ack()));
                            } catch (StartupException e) {
                                stage.note("problems", e.problems().size());
                                String problem = e.problems().get(0);
                                stage.note("names the property", problem.contains("enable.auto.commit"));
                                stage.note("names the mode", problem.contains("Commit.tracked()"));
                            }
                        },
                        """
                        problems: 1
                        names the property: true
                        names the mode: true
                        """);
    }

    private static Scenario trimmed() {
        return Scenario.of("committed below the log start: it goes on there, not at the end, and counts it", "3.10")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "a", "b");
                            TestApp<NoState> app = stage.start(stage.handled(
                                    stage.tracked("orders").startOffset(StartOffset.LATEST),
                                    (value, context) -> HandlerOutcome.ack()));
                            stage.write("orders", 0, "c");
                            stage.settle();
                            app.stop();
                            stage.note("committed", stage.committed("orders"));

                            stage.write("orders", 0, "d", "e", "f");
                            stage.trim("orders", 0, 5);
                            app.restart();
                            stage.settle();
                            stage.note("handled", Seen.calls(app));
                            stage.note("trimmed", Stage.counts(app).trimmed());
                            stage.note("committed", stage.committed("orders"));
                        },
                        """
                        committed: 0@3
                        handled: c#1 ack, f#1 ack
                        trimmed: 1
                        committed: 0@6
                        """);
    }

    private static Scenario newPartitions() {
        return Scenario.of("partitions first seen after the start begin at earliest, under LATEST too", "3.10", "9.2")
                .play(
                        stage -> {
                            stage.topic("orders", 1);
                            stage.write("orders", 0, "old");
                            TestApp<NoState> app = stage.start(stage.handled(
                                    stage.tracked("orders").startOffset(StartOffset.LATEST),
                                    (value, context) -> HandlerOutcome.ack()));
                            stage.addPartitions("orders", 2);
                            stage.write("orders", 1, "a", "b");
                            stage.eventuallyCommitted("orders", "0@1 1@2");
                            stage.note("handled", Seen.calls(app));
                        },
                        """
                        handled: a#1 ack, b#1 ack
                        """);
    }
}
