package io.settlestream.conformance.clients;

import static io.settlestream.conformance.clients.BothKafkas.play;
import static io.settlestream.conformance.clients.BothKafkas.playWithEachProtocol;
import static io.settlestream.conformance.clients.Stage.partition;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.CONCURRENT)
class CommittingTest {

    @Test
    @DisplayName("What is committed is seen by all: offset, metadata and epoch, by partition")
    void committed() {
        playWithEachProtocol(
                stage -> {
                    String topic = stage.topic("kept", 3);
                    TopicPartition first = partition(topic, 0);
                    TopicPartition second = partition(topic, 1);
                    stage.write(topic, 0, "a", "b", "c");
                    var consumer = stage.consumer("group.id", stage.name("g"));
                    stage.call("nothing yet", () -> consumer.committed(Set.of(first, second)));
                    consumer.assign(List.of(first, second));
                    stage.values(consumer, 3);
                    stage.run("commit positions", consumer::commitSync);
                    stage.call("committed", () -> consumer.committed(Set.of(first, second)));
                    stage.run(
                            "commit with all",
                            () -> consumer.commitSync(Map.of(
                                    first,
                                    new OffsetAndMetadata(1, Optional.of(0), "text"),
                                    second,
                                    new OffsetAndMetadata(7, "beyond the end"))));
                    stage.call("committed", () -> consumer.committed(Set.of(first, second)));
                    stage.note("seen from outside", stage.kafka().committed(stage.name("g")));
                    stage.run(
                            "commit null metadata",
                            () -> consumer.commitSync(Map.of(first, new OffsetAndMetadata(2, null))));
                    stage.call("committed", () -> consumer.committed(Set.of(first)));
                    stage.run("commit nothing", () -> consumer.commitSync(Map.of()));
                    stage.run(
                            "commit what is not assigned",
                            () -> consumer.commitSync(Map.of(partition(topic, 2), new OffsetAndMetadata(0))));
                    stage.run("negative offset", () -> new OffsetAndMetadata(-1));
                    stage.note("seen from outside", stage.kafka().committed(stage.name("g")));
                    var other = stage.consumer("group.id", stage.name("g"));
                    other.assign(List.of(first));
                    stage.call("another starts at", () -> other.position(first));
                    stage.note("and reads", stage.values(other, 1));
                    var elsewhere = stage.consumer("group.id", stage.name("h"));
                    stage.call("another group", () -> elsewhere.committed(Set.of(first)));
                    stage.note("another group from outside", stage.kafka().committed(stage.name("h")));
                },
                """
                nothing yet: {kept-0=null, kept-1=null}
                commit positions: done
                committed: {kept-0=3 '' epoch 0, kept-1=0 '' epoch none}
                commit with all: done
                committed: {kept-0=1 'text' epoch 0, kept-1=7 'beyond the end' epoch none}
                seen from outside: {kept-0=1 'text' epoch 0, kept-1=7 'beyond the end' epoch none}
                commit null metadata: done
                committed: {kept-0=2 '' epoch none}
                commit nothing: done
                commit what is not assigned: done
                negative offset throws: IllegalArgumentException
                seen from outside: {kept-0=2 '' epoch none, kept-1=7 'beyond the end' epoch none, kept-2=0 '' epoch none}
                another starts at: 2
                and reads: [c]
                another group: {kept-0=null}
                another group from outside: {}
                """);
    }

    @Test
    @DisplayName("A consumer that is no member may commit to a group only while that has no members")
    void byHandNextToMembers() {
        playWithEachProtocol(
                stage -> {
                    String topic = stage.topic("by-hand", 2);
                    TopicPartition first = partition(topic, 0);
                    var consumer = stage.consumer("group.id", stage.name("g"));
                    consumer.assign(List.of(first));
                    stage.run("alone", () -> consumer.commitSync(Map.of(first, new OffsetAndMetadata(1))));
                    var member = stage.consumer("group.id", stage.name("g"));
                    member.subscribe(List.of(topic));
                    stage.pollUntil(
                            "a member", member, () -> member.assignment().size() == 2);
                    stage.run("with a member", () -> consumer.commitSync(Map.of(first, new OffsetAndMetadata(2))));
                    List<String> heard = Collections.synchronizedList(new ArrayList<>());
                    consumer.commitAsync(
                            Map.of(first, new OffsetAndMetadata(3)),
                            (offsets, failure) -> heard.add(failure.getClass().getSimpleName()));
                    stage.pollUntil("callback", consumer, () -> heard.size() == 1);
                    stage.note("asynchronously", heard);
                    member.close();
                    stage.run("alone again", () -> consumer.commitSync(Map.of(first, new OffsetAndMetadata(4))));
                    stage.note("seen from outside", stage.kafka().committed(stage.name("g")));
                },
                """
                alone: done
                with a member throws: CommitFailedException
                asynchronously: [CommitFailedException]
                alone again: done
                seen from outside: {by-hand-0=4 '' epoch none}
                """);
    }

    @Test
    @DisplayName("Callbacks of asynchronous commits run in the order of commits, in later calls of the same thread")
    void callbacks() {
        playWithEachProtocol(
                stage -> {
                    String topic = stage.topic("async", 1);
                    TopicPartition first = partition(topic, 0);
                    var consumer = stage.consumer("group.id", stage.name("g"));
                    consumer.assign(List.of(first));
                    stage.call("settle", () -> consumer.position(first));
                    Thread self = Thread.currentThread();
                    List<String> heard = Collections.synchronizedList(new ArrayList<>());
                    for (int i = 1; i <= 3; i++) {
                        consumer.commitAsync(
                                Map.of(first, new OffsetAndMetadata(i)),
                                (offsets, failure) -> heard.add(Words.of(offsets) + " " + Words.of(failure)
                                        + (Thread.currentThread() == self ? "" : " astray")));
                        if (i == 1) {
                            stage.note("before any other call", heard);
                        }
                    }
                    stage.pollUntil("callbacks", consumer, () -> heard.size() == 3);
                    stage.note("after polls", heard);
                    heard.clear();
                    consumer.commitAsync(
                            Map.of(first, new OffsetAndMetadata(4)), (offsets, failure) -> heard.add("async 4"));
                    consumer.commitSync(Map.of(first, new OffsetAndMetadata(5)));
                    heard.add("sync 5");
                    stage.note("a synchronous commit waits for earlier ones", heard);
                    heard.clear();
                    consumer.commitAsync(
                            Map.of(first, new OffsetAndMetadata(6)), (offsets, failure) -> heard.add("async 6"));
                    consumer.close();
                    stage.note("seen from outside", stage.kafka().committed(stage.name("g")));
                },
                """
                settle: 0
                before any other call: []
                after polls: [{async-0=1 '' epoch none} null, {async-0=2 '' epoch none} null, {async-0=3 '' epoch none} null]
                a synchronous commit waits for earlier ones: [async 4, sync 5]
                seen from outside: {async-0=6 '' epoch none}
                """);
    }

    @Test
    @DisplayName("Positions that are committed without saying are those after what polls returned")
    void positions() {
        playWithEachProtocol(
                stage -> {
                    String topic = stage.topic("implied", 1);
                    TopicPartition first = partition(topic, 0);
                    stage.write(topic, 0, "a", "b", "c");
                    var consumer = stage.consumer("group.id", stage.name("g"), "max.poll.records", 1);
                    consumer.assign(List.of(first));
                    stage.values(consumer, 2);
                    consumer.commitSync();
                    stage.note("after two", stage.kafka().committed(stage.name("g")));
                    consumer.seek(first, 0);
                    consumer.commitSync();
                    stage.note("after seek", stage.kafka().committed(stage.name("g")));
                    List<String> heard = new ArrayList<>();
                    stage.values(consumer, 1);
                    consumer.commitAsync((offsets, failure) -> heard.add(Words.of(offsets) + " " + Words.of(failure)));
                    stage.pollUntil("callback", consumer, () -> !heard.isEmpty());
                    stage.note("in the background", heard);
                },
                """
                after two: {implied-0=2 '' epoch 0}
                after seek: {implied-0=0 '' epoch none}
                in the background: [{implied-0=1 '' epoch 0} null]
                """);
    }

    @Test
    @DisplayName("Automatic commits take what earlier polls returned: with time, and at close")
    void automatic() {
        playWithEachProtocol(
                stage -> {
                    String topic = stage.topic("auto", 1);
                    TopicPartition first = partition(topic, 0);
                    stage.write(topic, 0, "a", "b", "c");
                    var consumer = stage.consumer(
                            "group.id", stage.name("g"), "enable.auto.commit", true, "auto.commit.interval.ms", 100);
                    consumer.assign(List.of(first));
                    stage.note("read", stage.values(consumer, 3));
                    stage.pollUntil("committed", consumer, () -> {
                        var offset = stage.kafka().committed(stage.name("g")).get(first);
                        return offset != null && offset.offset() == 3;
                    });
                    stage.note("with time", stage.kafka().committed(stage.name("g")));
                    var slow = stage.consumer(
                            "group.id",
                            stage.name("h"),
                            "enable.auto.commit",
                            true,
                            "auto.commit.interval.ms",
                            600_000);
                    slow.assign(List.of(first));
                    stage.note("read", stage.values(slow, 3));
                    stage.note("not yet", stage.kafka().committed(stage.name("h")));
                    slow.close();
                    stage.note("at close", stage.kafka().committed(stage.name("h")));
                },
                """
                read: [a, b, c]
                with time: {auto-0=3 '' epoch 0}
                read: [a, b, c]
                not yet: {}
                at close: {auto-0=3 '' epoch 0}
                """);
    }

    @Test
    @DisplayName("A committed position is where a group goes on after all have left")
    void afterAllLeft() {
        playWithEachProtocol(
                stage -> {
                    String topic = stage.topic("again", 1);
                    stage.write(topic, 0, "a", "b", "c");
                    var consumer = stage.consumer("group.id", stage.name("g"), "max.poll.records", 1);
                    consumer.subscribe(List.of(topic));
                    stage.note("read", stage.values(consumer, 2));
                    consumer.commitSync();
                    consumer.close();
                    stage.note("committed", stage.kafka().committed(stage.name("g")));
                    var next = stage.consumer("group.id", stage.name("g"));
                    next.subscribe(List.of(topic));
                    stage.note("read", stage.values(next, 1));
                },
                """
                read: [a, b]
                committed: {again-0=2 '' epoch 0}
                read: [c]
                """);
    }

    @Test
    @DisplayName("A consumer without membership may commit while a group is empty, not while it has members")
    void withoutMembership() {
        playWithEachProtocol(
                stage -> {
                    String topic = stage.topic("simple", 1);
                    TopicPartition first = partition(topic, 0);
                    stage.write(topic, 0, "a", "b");
                    var simple = stage.consumer("group.id", stage.name("g"));
                    stage.run("commit of nobody", () -> simple.commitSync(Map.of(first, new OffsetAndMetadata(1))));
                    var member = stage.consumer("group.id", stage.name("g"));
                    member.subscribe(List.of(topic));
                    stage.note("read", stage.values(member, 1));
                    stage.run(
                            "commit beside a member", () -> simple.commitSync(Map.of(first, new OffsetAndMetadata(2))));
                    List<String> heard = new ArrayList<>();
                    simple.commitAsync(
                            Map.of(first, new OffsetAndMetadata(2)),
                            (offsets, failure) -> heard.add(Words.of(failure)));
                    simple.assign(List.of(first));
                    stage.pollUntil("callback", simple, () -> !heard.isEmpty());
                    stage.note("in the background", heard);
                    stage.call("may still look", () -> simple.committed(Set.of(first)));
                    member.close();
                    stage.run("commit after it left", () -> simple.commitSync(Map.of(first, new OffsetAndMetadata(0))));
                    stage.call("committed", () -> simple.committed(Set.of(first)));
                },
                """
                commit of nobody: done
                read: [b]
                commit beside a member throws: CommitFailedException
                in the background: [CommitFailedException]
                may still look: {simple-0=1 '' epoch none}
                commit after it left: done
                committed: {simple-0=0 '' epoch none}
                """);
    }

    @Test
    @DisplayName("Metadata that is too large and partitions that do not exist are refused")
    void refused() {
        playWithEachProtocol(
                stage -> {
                    String topic = stage.topic("refused", 1);
                    var consumer = stage.consumer("group.id", stage.name("g"), "default.api.timeout.ms", 1500);
                    stage.run(
                            "large metadata",
                            () -> consumer.commitSync(
                                    Map.of(partition(topic, 0), new OffsetAndMetadata(1, "x".repeat(5000)))));
                    stage.call(
                            "committed of a missing topic",
                            () -> consumer.committed(Set.of(partition(stage.name("missing"), 0))));
                    stage.call(
                            "committed of a missing partition", () -> consumer.committed(Set.of(partition(topic, 9))));
                    stage.call("committed of none", () -> consumer.committed(Set.of()));
                },
                """
                large metadata throws: OffsetMetadataTooLarge
                committed of a missing topic: {missing-0=null}
                committed of a missing partition: {refused-9=null}
                committed of none: {}
                """);
    }

    @Test
    @DisplayName("A commit to a topic that does not exist fails or does not end")
    void missingTopic() {
        playWithEachProtocol(
                stage -> {
                    var consumer = stage.consumer("group.id", stage.name("g"), "default.api.timeout.ms", 1000);
                    stage.run(
                            "commit",
                            () -> consumer.commitSync(
                                    Map.of(partition(stage.name("missing"), 0), new OffsetAndMetadata(1))));
                },
                """
                commit throws: TimeoutException
                """);
    }

    @Test
    @DisplayName("A classic consumer's group metadata is that of its last membership, also after unsubscribe")
    void metadataClassic() {
        play(
                stage -> {
                    metadata(stage, "classic", "");
                    metadata(stage, "classic", stage.name("i"));
                },
                """
                before: dynamics generation -1 member none instance none
                subscribed: dynamics generation -1 member none instance none
                member: dynamics generation 1 member some instance none
                unsubscribed: dynamics generation 1 member some instance none
                before: statics generation -1 member none instance i
                subscribed: statics generation -1 member none instance i
                member: statics generation 1 member some instance i
                unsubscribed: statics generation 1 member some instance i
                """);
    }

    @Test
    @DisplayName("Of the newer protocol, the metadata of a consumer that unsubscribed is that of no member")
    void metadata() {
        play(
                stage -> {
                    metadata(stage, "consumer", "");
                    metadata(stage, "consumer", stage.name("i"));
                },
                """
                before: dynamics generation -1 member none instance none
                subscribed: dynamics generation -1 member none instance none
                member: dynamics generation 1 member some instance none
                unsubscribed: dynamics generation -1 member none instance none
                before: statics generation -1 member none instance i
                subscribed: statics generation -1 member none instance i
                member: statics generation 1 member some instance i
                unsubscribed: statics generation -1 member none instance i
                """);
    }

    private static void metadata(Stage stage, String protocol, String instance) {
        String topic = stage.topic(instance.isEmpty() ? "dynamic" : "static", 1);
        stage.write(topic, 0, "a");
        var consumer =
                stage.consumer("group.id", topic + "s", "group.protocol", protocol, "group.instance.id", instance);
        note(stage, "before", consumer.groupMetadata());
        consumer.subscribe(List.of(topic));
        note(stage, "subscribed", consumer.groupMetadata());
        stage.values(consumer, 1);
        note(stage, "member", consumer.groupMetadata());
        consumer.unsubscribe();
        note(stage, "unsubscribed", consumer.groupMetadata());
    }

    private static void note(Stage stage, String when, ConsumerGroupMetadata metadata) {
        stage.note("%s: %s generation %s member %s instance %s"
                .formatted(
                        when,
                        metadata.groupId(),
                        Integer.signum(metadata.generationId()),
                        metadata.memberId().isEmpty() ? "none" : "some",
                        Words.of(metadata.groupInstanceId())));
    }
}
