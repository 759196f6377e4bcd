package io.settlestream.conformance.clients;

import static io.settlestream.conformance.clients.BothKafkas.play;
import static io.settlestream.conformance.clients.Stage.partition;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What the listeners of a group's members are told, each protocol in its own way. */
@Execution(ExecutionMode.CONCURRENT)
class MembershipTest {

    @Test
    @DisplayName("Members come and go: eager")
    void comeAndGoRange() {
        play(stage -> comeAndGo(stage, Protocol.RANGE), """
                one
                a: assigned [shared-0, shared-1, shared-2, shared-3, shared-4, shared-5]
                two
                a: revoked [shared-0, shared-1, shared-2, shared-3, shared-4, shared-5], assigned [shared-0, shared-1, shared-2]
                b: assigned [shared-3, shared-4, shared-5]
                three
                a: revoked [shared-0, shared-1, shared-2], assigned [shared-0, shared-1]
                b: revoked [shared-3, shared-4, shared-5], assigned [shared-2, shared-3]
                c: assigned [shared-4, shared-5]
                a: revoked [shared-0, shared-1], closed
                two
                b: revoked [shared-2, shared-3], assigned [shared-0, shared-1, shared-2]
                c: revoked [shared-4, shared-5], assigned [shared-3, shared-4, shared-5]
                b: revoked [shared-0, shared-1, shared-2], unsubscribed
                one
                c: revoked [shared-3, shared-4, shared-5], assigned [shared-0, shared-1, shared-2, shared-3, shared-4, shared-5]
                c: revoked [shared-0, shared-1, shared-2, shared-3, shared-4, shared-5], closed
                """);
    }

    @Test
    @DisplayName("Members come and go: cooperative")
    void comeAndGoCooperative() {
        play(stage -> comeAndGo(stage, Protocol.COOPERATIVE), """
                one
                a: assigned [shared-0, shared-1, shared-2, shared-3, shared-4, shared-5]
                two
                a: revoked [shared-3, shared-4, shared-5], assigned []
                b: assigned [shared-3, shared-4, shared-5]
                three
                a: revoked [shared-2], assigned []
                b: revoked [shared-5], assigned []
                c: assigned [shared-2, shared-5]
                a: revoked [shared-0, shared-1], closed
                two
                b: assigned [shared-0]
                c: assigned [shared-1]
                b: revoked [shared-0, shared-3, shared-4], unsubscribed
                one
                c: assigned [shared-0, shared-3, shared-4]
                c: revoked [shared-0, shared-1, shared-2, shared-3, shared-4, shared-5], closed
                """);
    }

    @Test
    @DisplayName("Members come and go: of the newer protocol")
    void comeAndGoConsumer() {
        play(stage -> comeAndGo(stage, Protocol.CONSUMER), """
                one
                a: assigned [shared-0, shared-1, shared-2, shared-3, shared-4, shared-5]
                two
                a: revoked [shared-3, shared-4, shared-5], assigned []
                b: assigned [shared-3, shared-4, shared-5]
                three
                a: revoked [shared-2], assigned []
                b: revoked [shared-5], assigned []
                c: assigned [shared-2, shared-5]
                a: revoked [shared-0, shared-1], closed
                two
                b: assigned 1
                c: assigned 1
                b: revoked 3, unsubscribed
                one
                c: assigned 3
                c: revoked 6, closed
                """);
    }

    private static void comeAndGo(Stage stage, Protocol protocol) {
        String topic = stage.topic("shared", 6);
        Member a = Member.of(stage, protocol, "g", "a").subscribe(topic);
        Member.settle(stage, "one", Map.of(a, 6));
        Member b = Member.of(stage, protocol, "g", "b").subscribe(topic);
        Member.settle(stage, "two", Map.of(a, 3, b, 3));
        Member c = Member.of(stage, protocol, "g", "c").subscribe(topic);
        Member.settle(stage, "three", Map.of(a, 2, b, 2, c, 2));
        if (protocol == Protocol.CONSUMER) {
            // The coordinator goes by ids that members draw by lot: who gets what of what is free is chance.
            b.countOnly();
            c.countOnly();
        }
        a.close();
        Member.settle(stage, "two", Map.of(b, 3, c, 3));
        b.unsubscribe();
        Member.settle(stage, "one", Map.of(c, 6));
        c.close();
    }

    @Test
    @DisplayName("A member too many has nothing, until another leaves: eager")
    void tooManyRange() {
        play(stage -> tooMany(stage, Protocol.RANGE), """
                one
                a: assigned [scarce-0]
                two
                a: revoked [scarce-0], assigned [scarce-0]
                b: assigned []
                a: revoked [scarce-0], closed
                one
                b: revoked [], assigned [scarce-0]
                """);
    }

    @Test
    @DisplayName("A member too many has nothing, until another leaves: cooperative")
    void tooManyCooperative() {
        play(stage -> tooMany(stage, Protocol.COOPERATIVE), """
                one
                a: assigned [scarce-0]
                two
                a: assigned []
                b: assigned []
                a: revoked [scarce-0], closed
                one
                b: assigned [scarce-0]
                """);
    }

    @Test
    @DisplayName("A member too many has nothing, until another leaves: of the newer protocol")
    void tooManyConsumer() {
        play(stage -> tooMany(stage, Protocol.CONSUMER), """
                one
                a: assigned [scarce-0]
                two
                a:
                b: assigned []
                a: revoked [scarce-0], closed
                one
                b: assigned [scarce-0]
                """);
    }

    private static void tooMany(Stage stage, Protocol protocol) {
        String topic = stage.topic("scarce", 1);
        Member a = Member.of(stage, protocol, "g", "a").subscribe(topic);
        Member.settle(stage, "one", Map.of(a, 1));
        Member b = Member.of(stage, protocol, "g", "b").subscribe(topic);
        Member.settle(stage, "two", () -> b.hasHeard("assigned"), a, b);
        a.close();
        Member.settle(stage, "one", Map.of(b, 1));
    }

    @Test
    @DisplayName("A topic that appears later is assigned: eager")
    void topicAppearsRange() {
        play(stage -> topicAppears(stage, Protocol.RANGE), """
                without
                a: assigned [first-0]
                with
                a: revoked [first-0], assigned [first-0, later-0, later-1]
                """);
    }

    @Test
    @DisplayName("A topic that appears later is assigned: cooperative")
    void topicAppearsCooperative() {
        play(stage -> topicAppears(stage, Protocol.COOPERATIVE), """
                without
                a: assigned [first-0]
                with
                a: assigned [later-0, later-1]
                """);
    }

    @Test
    @DisplayName("A topic that appears later is assigned: of the newer protocol")
    void topicAppearsConsumer() {
        play(stage -> topicAppears(stage, Protocol.CONSUMER), """
                without
                a: assigned [first-0]
                with
                a: assigned [later-0, later-1]
                """);
    }

    private static void topicAppears(Stage stage, Protocol protocol) {
        Member a = Member.of(stage, protocol, "g", "a", "metadata.max.age.ms", 300)
                .subscribe(stage.name("later"), stage.topic("first", 1));
        Member.settle(stage, "without", Map.of(a, 1));
        stage.topic("later", 2);
        Member.settle(stage, "with", Map.of(a, 3));
    }

    @Test
    @DisplayName("A member of topics that do not exist: eager")
    void nothingToShareRange() {
        play(stage -> nothingToShare(stage, Protocol.RANGE), """
                without
                a: assigned []
                with
                a: revoked [], assigned [missing-0]
                """);
    }

    @Test
    @DisplayName("A member of topics that do not exist: cooperative")
    void nothingToShareCooperative() {
        play(stage -> nothingToShare(stage, Protocol.COOPERATIVE), """
                without
                a: assigned []
                with
                a: assigned [missing-0]
                """);
    }

    @Test
    @DisplayName("A member of topics that do not exist: of the newer protocol")
    void nothingToShareConsumer() {
        play(stage -> nothingToShare(stage, Protocol.CONSUMER), """
                without
                a: assigned []
                with
                a: assigned [missing-0]
                """);
    }

    private static void nothingToShare(Stage stage, Protocol protocol) {
        Member a =
                Member.of(stage, protocol, "g", "a", "metadata.max.age.ms", 300).subscribe(stage.name("missing"));
        Member.settle(stage, "without", () -> a.hasHeard("assigned"), a);
        stage.topic("missing", 1);
        Member.settle(stage, "with", Map.of(a, 1));
    }

    @Test
    @DisplayName("A pattern takes topics as they come: eager")
    void patternRange() {
        play(stage -> pattern(stage, Protocol.RANGE), """
                one
                a: assigned [match-1-0]
                subscription: [match-1]
                two
                a: revoked [match-1-0], assigned [match-1-0, match-2-0, match-2-1]
                subscription: [match-1, match-2]
                """);
    }

    @Test
    @DisplayName("A pattern takes topics as they come: cooperative")
    void patternCooperative() {
        play(stage -> pattern(stage, Protocol.COOPERATIVE), """
                one
                a: assigned [match-1-0]
                subscription: [match-1]
                two
                a: assigned [match-2-0, match-2-1]
                subscription: [match-1, match-2]
                """);
    }

    @Test
    @DisplayName("A pattern takes topics as they come: of the newer protocol")
    void patternConsumer() {
        play(stage -> pattern(stage, Protocol.CONSUMER), """
                one
                a: assigned [match-1-0]
                subscription: [match-1]
                two
                a: assigned [match-2-0, match-2-1]
                subscription: [match-1, match-2]
                """);
    }

    private static void pattern(Stage stage, Protocol protocol) {
        stage.topic("match-1", 1);
        stage.topic("other", 1);
        Member a = Member.of(stage, protocol, "g", "a", "metadata.max.age.ms", 300)
                .subscribe(Pattern.compile(stage.name("match-.*")));
        Member.settle(stage, "one", Map.of(a, 1));
        stage.note("subscription", a.consumer().subscription());
        stage.topic("match-2", 2);
        Member.settle(stage, "two", Map.of(a, 3));
        stage.note("subscription", a.consumer().subscription());
    }

    @Test
    @DisplayName("Partitions that are added are assigned: eager")
    void partitionsAddedRange() {
        play(stage -> partitionsAdded(stage, Protocol.RANGE), """
                one
                a: assigned [grows-0]
                three
                a: revoked [grows-0], assigned [grows-0, grows-1, grows-2]
                """);
    }

    @Test
    @DisplayName("Partitions that are added are assigned: cooperative")
    void partitionsAddedCooperative() {
        play(stage -> partitionsAdded(stage, Protocol.COOPERATIVE), """
                one
                a: assigned [grows-0]
                three
                a: assigned [grows-1, grows-2]
                """);
    }

    @Test
    @DisplayName("Partitions that are added are assigned: of the newer protocol")
    void partitionsAddedConsumer() {
        play(stage -> partitionsAdded(stage, Protocol.CONSUMER), """
                one
                a: assigned [grows-0]
                three
                a: assigned [grows-1, grows-2]
                """);
    }

    private static void partitionsAdded(Stage stage, Protocol protocol) {
        String topic = stage.topic("grows", 1);
        Member a =
                Member.of(stage, protocol, "g", "a", "metadata.max.age.ms", 300).subscribe(topic);
        Member.settle(stage, "one", Map.of(a, 1));
        stage.kafka().addPartitions(topic, 3);
        Member.settle(stage, "three", Map.of(a, 3));
    }

    @Test
    @DisplayName("Partitions of a topic that is deleted are taken away: eager")
    void topicDeletedRange() {
        play(stage -> topicDeleted(stage, Protocol.RANGE), """
                two
                a: assigned [gone-0, kept-0]
                one
                a: revoked [gone-0, kept-0], assigned [kept-0]
                """);
    }

    @Test
    @DisplayName("Partitions of a topic that is deleted are taken away: cooperative")
    void topicDeletedCooperative() {
        play(stage -> topicDeleted(stage, Protocol.COOPERATIVE), """
                two
                a: assigned [gone-0, kept-0]
                one
                a: revoked [gone-0], assigned []
                """);
    }

    @Test
    @DisplayName("Partitions of a topic that is deleted are taken away: of the newer protocol")
    void topicDeletedConsumer() {
        play(stage -> topicDeleted(stage, Protocol.CONSUMER), """
                two
                a: assigned [gone-0, kept-0]
                one
                a: revoked [gone-0], assigned []
                """);
    }

    private static void topicDeleted(Stage stage, Protocol protocol) {
        String kept = stage.topic("kept", 1);
        String gone = stage.topic("gone", 1);
        Member a =
                Member.of(stage, protocol, "g", "a", "metadata.max.age.ms", 300).subscribe(kept, gone);
        Member.settle(stage, "two", Map.of(a, 2));
        stage.kafka().deleteTopic(gone);
        Member.settle(stage, "one", Map.of(a, 1));
    }

    @Test
    @DisplayName("Members share only the topics that both want: eager")
    void differentTopicsRange() {
        play(stage -> differentTopics(stage, Protocol.RANGE), """
                one
                a: assigned [one-0, one-1]
                two
                a: revoked [one-0, one-1], assigned [one-0, one-1]
                b: assigned [two-0, two-1]
                both two
                a: revoked [one-0, one-1], assigned [two-0]
                b: revoked [two-0, two-1], assigned [two-1]
                subscription: [two]
                both and more
                a: revoked [two-0], assigned [two-0]
                b: revoked [two-1], assigned [one-0, one-1, two-1]
                """);
    }

    @Test
    @DisplayName("Members share only the topics that both want: cooperative")
    void differentTopicsCooperative() {
        play(stage -> differentTopics(stage, Protocol.COOPERATIVE), """
                one
                a: assigned [one-0, one-1]
                two
                a: assigned []
                b: assigned [two-0, two-1]
                both two
                a: revoked [one-0, one-1], assigned [two-1]
                b: revoked [two-1], assigned []
                subscription: [two]
                both and more
                a: assigned [two-0]
                b: revoked [two-0], assigned [one-0, one-1]
                """);
    }

    @Test
    @DisplayName("Members share only the topics that both want: of the newer protocol")
    void differentTopicsConsumer() {
        play(stage -> differentTopics(stage, Protocol.CONSUMER), """
                one
                a: assigned [one-0, one-1]
                two
                a:
                b: assigned [two-0, two-1]
                both two
                a: revoked [one-0, one-1], assigned [two-1]
                b: revoked [two-1], assigned []
                subscription: [two]
                both and more
                a: assigned [two-0]
                b: revoked [two-0], assigned [one-0, one-1]
                """);
    }

    private static void differentTopics(Stage stage, Protocol protocol) {
        String one = stage.topic("one", 2);
        String two = stage.topic("two", 2);
        Member a = Member.of(stage, protocol, "g", "a").subscribe(one);
        Member.settle(stage, "one", Map.of(a, 2));
        Member b = Member.of(stage, protocol, "g", "b").subscribe(two);
        Member.settle(stage, "two", Map.of(a, 2, b, 2));
        a.subscribe(two);
        Member.settle(stage, "both two", Map.of(a, 1, b, 1));
        stage.note("subscription", a.consumer().subscription());
        b.subscribe(one, two);
        Member.settle(
                stage,
                "both and more",
                () -> a.assignment().size() + b.assignment().size() == 4,
                a,
                b);
    }

    @Test
    @DisplayName("What a callback throws comes out of poll: eager")
    void callbacksThrowRange() {
        play(stage -> callbacksThrow(stage, Protocol.RANGE), """
                poll throws: KafkaException by IllegalStateException
                after
                a: assigned [thrown-0, thrown-1], assigned []
                close throws: KafkaException by IllegalStateException
                a: revoked [thrown-0, thrown-1]
                """);
    }

    @Test
    @DisplayName("What a callback throws comes out of poll: cooperative")
    void callbacksThrowCooperative() {
        play(stage -> callbacksThrow(stage, Protocol.COOPERATIVE), """
                poll throws: KafkaException by IllegalStateException
                after
                a: assigned [thrown-0, thrown-1]
                close throws: KafkaException by IllegalStateException
                a: revoked [thrown-0, thrown-1]
                """);
    }

    @Test
    @DisplayName("What a callback throws comes out of poll: of the newer protocol")
    void callbacksThrowConsumer() {
        play(stage -> callbacksThrow(stage, Protocol.CONSUMER), """
                poll throws: KafkaException by IllegalStateException
                after
                a: assigned [thrown-0, thrown-1]
                close throws: KafkaException by IllegalStateException
                a: revoked [thrown-0, thrown-1]
                """);
    }

    private static void callbacksThrow(Stage stage, Protocol protocol) {
        String topic = stage.topic("thrown", 2);
        boolean[] once = {true};
        Member a = Member.of(stage, protocol, "g", "a")
                .on("assigned", partitions -> {
                    if (once[0]) {
                        once[0] = false;
                        throw new IllegalStateException("thrown by the test");
                    }
                })
                .subscribe(topic);
        Throwable[] thrown = {null};
        Stage.eventually("poll throws", () -> {
            try {
                a.poll();
            } catch (RuntimeException e) {
                thrown[0] = e;
            }
            return thrown[0] != null;
        });
        stage.note("poll throws", thrown[0]);
        Member.settle(stage, "after", Map.of(a, 2));
        a.on("revoked", partitions -> {
            throw new IllegalStateException("thrown by the test");
        });
        stage.run("close", a.consumer()::close);
        a.report();
    }

    @Test
    @DisplayName("Callbacks may seek, look and commit: eager")
    void insideCallbacksRange() {
        play(stage -> insideCallbacks(stage, Protocol.RANGE), """
                read: [b, c]
                a: assigned [inside-0], assignment [inside-0], position 0, committed {inside-0=null}, revoked [inside-0], assignment [inside-0], position 3, closed
                committed: {inside-0=3 '' epoch 0}
                """);
    }

    @Test
    @DisplayName("Callbacks may seek, look and commit: cooperative")
    void insideCallbacksCooperative() {
        play(stage -> insideCallbacks(stage, Protocol.COOPERATIVE), """
                read: [b, c]
                a: assigned [inside-0], assignment [inside-0], position 0, committed {inside-0=null}, revoked [inside-0], assignment [inside-0], position 3, closed
                committed: {inside-0=3 '' epoch 0}
                """);
    }

    @Test
    @DisplayName("Callbacks may seek, look and commit: of the newer protocol")
    void insideCallbacksConsumer() {
        play(stage -> insideCallbacks(stage, Protocol.CONSUMER), """
                read: [b, c]
                a: assigned [inside-0], assignment [inside-0], position 0, committed {inside-0=null}, revoked [inside-0], assignment [inside-0], position 3, closed
                committed: {inside-0=3 '' epoch 0}
                """);
    }

    private static void insideCallbacks(Stage stage, Protocol protocol) {
        String topic = stage.topic("inside", 1);
        TopicPartition first = partition(topic, 0);
        stage.write(topic, 0, "a", "b", "c");
        Member a = Member.of(stage, protocol, "g", "a");
        a.on("assigned", partitions -> {
                    a.note("assignment", a.consumer().assignment());
                    a.note("position", a.consumer().position(first));
                    a.note("committed", a.consumer().committed(Set.of(first)));
                    a.consumer().seek(first, 1);
                })
                .on("revoked", partitions -> {
                    a.note("assignment", a.consumer().assignment());
                    a.note("position", a.consumer().position(first));
                    a.consumer().commitSync();
                })
                .subscribe(topic);
        stage.note("read", stage.values(a.consumer(), 2));
        a.close();
        stage.note("committed", stage.kafka().committed(stage.name("g")));
    }

    @Test
    @DisplayName("A subscription is changed: eager")
    void subscriptionChangesRange() {
        play(stage -> subscriptionChanges(stage, Protocol.RANGE), """
                one
                a: assigned [one-0]
                at once: [one-0]
                both
                a: revoked [one-0], assigned [one-0, two-0]
                paused: []
                at once: [one-0, two-0]
                two
                a: revoked [one-0, two-0], assigned [two-0]
                a: revoked [two-0], unsubscribed
                at once: []
                one again
                a: assigned [one-0]
                """);
    }

    @Test
    @DisplayName("A subscription is changed: cooperative")
    void subscriptionChangesCooperative() {
        play(stage -> subscriptionChanges(stage, Protocol.COOPERATIVE), """
                one
                a: assigned [one-0]
                at once: [one-0]
                both
                a: assigned [two-0]
                paused: [one-0]
                at once: [one-0, two-0]
                two
                a: revoked [one-0], assigned []
                a: revoked [two-0], unsubscribed
                at once: []
                one again
                a: assigned [one-0]
                """);
    }

    @Test
    @DisplayName("A subscription is changed: of the newer protocol")
    void subscriptionChangesConsumer() {
        play(stage -> subscriptionChanges(stage, Protocol.CONSUMER), """
                one
                a: assigned [one-0]
                at once: [one-0]
                both
                a: assigned [two-0]
                paused: [one-0]
                at once: [one-0, two-0]
                two
                a: revoked [one-0], assigned []
                a: revoked [two-0], unsubscribed
                at once: []
                one again
                a: assigned [one-0]
                """);
    }

    private static void subscriptionChanges(Stage stage, Protocol protocol) {
        String one = stage.topic("one", 1);
        String two = stage.topic("two", 1);
        Member a = Member.of(stage, protocol, "g", "a").subscribe(one);
        Member.settle(stage, "one", Map.of(a, 1));
        a.consumer().pause(List.of(partition(one, 0)));
        a.subscribe(one, two);
        stage.note("at once", a.assignment());
        Member.settle(stage, "both", Map.of(a, 2));
        stage.note("paused", a.consumer().paused());
        a.subscribe(two);
        stage.note("at once", a.assignment());
        Member.settle(stage, "two", Map.of(a, 1));
        a.unsubscribe();
        stage.note("at once", a.assignment());
        a.subscribe(one);
        Member.settle(stage, "one again", Map.of(a, 1));
    }
}
