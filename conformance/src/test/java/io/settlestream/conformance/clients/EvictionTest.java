package io.settlestream.conformance.clients;

import static io.settlestream.conformance.clients.BothKafkas.play;
import static io.settlestream.conformance.clients.Stage.partition;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Members that are thrown out, or come back, and what becomes of their commits. */
@Execution(ExecutionMode.CONCURRENT)
class EvictionTest {

    @Test
    @DisplayName("Who does not poll loses its partitions, and learns it at the next poll: eager")
    void pollIntervalRange() {
        play(stage -> pollInterval(stage, Protocol.RANGE), """
                one
                a: assigned [idle-0, idle-1]
                two
                a: revoked [idle-0, idle-1], assigned [idle-0]
                b: assigned [idle-1]
                without a
                b: revoked [idle-1], assigned [idle-0, idle-1]
                what a believes: 1
                two again
                a: lost [idle-0], assigned [idle-0]
                b: revoked [idle-0, idle-1], assigned [idle-1]
                """);
    }

    @Test
    @DisplayName("Who does not poll loses its partitions, and learns it at the next poll: cooperative")
    void pollIntervalCooperative() {
        play(stage -> pollInterval(stage, Protocol.COOPERATIVE), """
                one
                a: assigned [idle-0, idle-1]
                two
                a: revoked [idle-1], assigned []
                b: assigned [idle-1]
                without a
                b: assigned [idle-0]
                what a believes: 1
                two again
                a: lost [idle-0], assigned [idle-1]
                b: revoked [idle-1], assigned []
                """);
    }

    @Test
    @DisplayName("Who does not poll loses its partitions, and learns it at the next poll: of the newer protocol")
    void pollIntervalConsumer() {
        play(stage -> pollInterval(stage, Protocol.CONSUMER), """
                one
                a: assigned [idle-0, idle-1]
                two
                a: revoked [idle-1], assigned []
                b: assigned [idle-1]
                without a
                b: assigned [idle-0]
                what a believes: 1
                two again
                a: lost [idle-0], assigned [idle-1]
                b: revoked [idle-1], assigned []
                """);
    }

    private static void pollInterval(Stage stage, Protocol protocol) {
        String topic = stage.topic("idle", 2);
        Member a = Member.of(stage, protocol, "g", "a", "max.poll.interval.ms", 1000)
                .subscribe(topic);
        Member.settle(stage, "one", Map.of(a, 2));
        Member b = Member.of(stage, protocol, "g", "b").subscribe(topic);
        Member.settle(stage, "two", Map.of(a, 1, b, 1));
        Member.settle(stage, "without a", Map.of(b, 2));
        stage.note("what a believes", a.assignment().size());
        Member.settle(
                stage,
                "two again",
                () -> a.assignment().size() == 1 && b.assignment().size() == 1 && a.hasHeard("lost"),
                a,
                b);
    }

    @Test
    @DisplayName("Who was thrown out cannot commit: eager")
    void commitAfterEvictionRange() {
        play(stage -> commitAfterEviction(stage, Protocol.RANGE), """
                one
                a: assigned [idle-0]
                commit throws: CommitFailedException
                commit positions throws: CommitFailedException
                in the background: [CommitFailedException]
                committed: {}
                one again
                a: lost [idle-0], assigned [idle-0]
                b: assigned [idle-0], revoked [idle-0], assigned []
                """);
    }

    @Test
    @DisplayName("Who was thrown out cannot commit: cooperative")
    void commitAfterEvictionCooperative() {
        play(stage -> commitAfterEviction(stage, Protocol.COOPERATIVE), """
                one
                a: assigned [idle-0]
                commit throws: CommitFailedException
                commit positions throws: CommitFailedException
                in the background: [CommitFailedException]
                committed: {}
                one again
                a: lost [idle-0], assigned []
                b: assigned [idle-0]
                """);
    }

    @Test
    @DisplayName("Who was thrown out cannot commit: of the newer protocol")
    void commitAfterEvictionConsumer() {
        play(stage -> commitAfterEviction(stage, Protocol.CONSUMER), """
                one
                a: assigned [idle-0]
                commit throws: CommitFailedException
                commit positions throws: CommitFailedException
                in the background: [CommitFailedException]
                committed: {}
                one again
                a: lost [idle-0], assigned []
                b: assigned [idle-0]
                """);
    }

    private static void commitAfterEviction(Stage stage, Protocol protocol) {
        String topic = stage.topic("idle", 1);
        TopicPartition first = partition(topic, 0);
        Member a = Member.of(stage, protocol, "g", "a", "max.poll.interval.ms", 1000)
                .subscribe(topic);
        Member.settle(stage, "one", Map.of(a, 1));
        Member b = Member.of(stage, protocol, "g", "b").subscribe(topic);
        Member.pollUntil("b has it", Member.have(Map.of(b, 1)), b);
        stage.run("commit", () -> a.consumer().commitSync(Map.of(first, new OffsetAndMetadata(1))));
        stage.run("commit positions", a.consumer()::commitSync);
        List<String> heard = new ArrayList<>();
        a.consumer()
                .commitAsync(
                        Map.of(first, new OffsetAndMetadata(1)), (offsets, failure) -> heard.add(Words.of(failure)));
        Member.pollUntil("callback", () -> !heard.isEmpty(), a);
        stage.note("in the background", heard);
        stage.note("committed", stage.kafka().committed(stage.name("g")));
        Member.settle(
                stage,
                "one again",
                () -> a.hasHeard("assigned")
                        && a.assignment().size() + b.assignment().size() == 1,
                a,
                b);
    }

    @Test
    @DisplayName("A commit of a member that others wait for: eager")
    void commitBesideRebalanceRange() {
        play(stage -> commitBesideRebalance(stage, Protocol.RANGE), """
                one
                a: assigned [busy-0, busy-1]
                commit: done
                committed: {busy-0=1 '' epoch none}
                two
                a: revoked [busy-0, busy-1], assigned [busy-0]
                b: assigned [busy-1]
                commit of what is another's: done
                committed: {busy-0=2 '' epoch none, busy-1=2 '' epoch none}
                """);
    }

    @Test
    @DisplayName("A commit of a member that others wait for: cooperative")
    void commitBesideRebalanceCooperative() {
        play(stage -> commitBesideRebalance(stage, Protocol.COOPERATIVE), """
                one
                a: assigned [busy-0, busy-1]
                commit: done
                committed: {busy-0=1 '' epoch none}
                two
                a: revoked [busy-1], assigned []
                b: assigned [busy-1]
                commit of what is another's: done
                committed: {busy-0=2 '' epoch none, busy-1=2 '' epoch none}
                """);
    }

    @Test
    @DisplayName("A commit of a member that others wait for: of the newer protocol")
    void commitBesideRebalanceConsumer() {
        play(stage -> commitBesideRebalance(stage, Protocol.CONSUMER), """
                one
                a: assigned [busy-0, busy-1]
                commit: done
                committed: {busy-0=1 '' epoch none}
                two
                a: revoked [busy-1], assigned []
                b: assigned [busy-1]
                commit of what is another's: done
                committed: {busy-0=2 '' epoch none, busy-1=2 '' epoch none}
                """);
    }

    private static void commitBesideRebalance(Stage stage, Protocol protocol) {
        String topic = stage.topic("busy", 2);
        TopicPartition first = partition(topic, 0);
        Member a = Member.of(stage, protocol, "g", "a").subscribe(topic);
        Member.settle(stage, "one", Map.of(a, 2));
        Member b = Member.of(stage, protocol, "g", "b").subscribe(topic);
        for (int i = 0; i < 20; i++) {
            b.poll();
        }
        stage.run("commit", () -> a.consumer().commitSync(Map.of(first, new OffsetAndMetadata(1))));
        stage.note("committed", stage.kafka().committed(stage.name("g")));
        Member.settle(stage, "two", Map.of(a, 1, b, 1));
        stage.run(
                "commit of what is another's",
                () -> a.consumer()
                        .commitSync(Map.of(
                                first, new OffsetAndMetadata(2), partition(topic, 1), new OffsetAndMetadata(2))));
        stage.note("committed", stage.kafka().committed(stage.name("g")));
    }

    @Test
    @DisplayName("A static member comes back to what it had, and nobody else is told: eager")
    void staticReturnsRange() {
        play(stage -> staticReturns(stage, Protocol.RANGE), """
                one
                a: assigned [kept-0, kept-1]
                two
                a: revoked [kept-0, kept-1], assigned [kept-0]
                b: assigned [kept-1]
                b: revoked [kept-1], closed
                without b
                a:
                with b
                a:
                b2: assigned [kept-1]
                the same: true
                b has left for good
                a: revoked [kept-0], assigned [kept-0, kept-1]
                """);
    }

    @Test
    @DisplayName("A static member comes back to what it had, and nobody else is told: cooperative")
    void staticReturnsCooperative() {
        play(stage -> staticReturns(stage, Protocol.COOPERATIVE), """
                one
                a: assigned [kept-0, kept-1]
                two
                a: revoked [kept-1], assigned []
                b: assigned [kept-1]
                b: revoked [kept-1], closed
                without b
                a:
                with b
                a:
                b2: assigned [kept-1]
                the same: true
                b has left for good
                a: assigned [kept-1]
                """);
    }

    @Test
    @DisplayName("A static member comes back to what it had, and nobody else is told: of the newer protocol")
    void staticReturnsConsumer() {
        play(stage -> staticReturns(stage, Protocol.CONSUMER), """
                one
                a: assigned [kept-0, kept-1]
                two
                a: revoked [kept-1], assigned []
                b: assigned [kept-1]
                b: revoked [kept-1], closed
                without b
                a:
                with b
                a:
                b2: assigned [kept-1]
                the same: true
                b has left for good
                a: assigned [kept-1]
                """);
    }

    private static void staticReturns(Stage stage, Protocol protocol) {
        String topic = stage.topic("kept", 2);
        Member a =
                Member.of(stage, protocol, "g", "a", "group.instance.id", "a").subscribe(topic);
        Member.settle(stage, "one", Map.of(a, 2));
        Member b =
                Member.of(stage, protocol, "g", "b", "group.instance.id", "b").subscribe(topic);
        Member.settle(stage, "two", Map.of(a, 1, b, 1));
        Set<TopicPartition> had = Set.copyOf(b.assignment());
        b.close();
        Member.settle(stage, "without b", Map.of(a, 1));
        Member again =
                Member.of(stage, protocol, "g", "b2", "group.instance.id", "b").subscribe(topic);
        Member.settle(stage, "with b", Map.of(a, 1, again, 1));
        stage.note("the same", had.equals(again.assignment()));
        again.consumer()
                .close(CloseOptions.groupMembershipOperation(CloseOptions.GroupMembershipOperation.LEAVE_GROUP));
        Member.settle(stage, "b has left for good", Map.of(a, 2));
    }

    @Test
    @DisplayName("A second static member of the same id fences the first: eager")
    void twinsRange() {
        play(stage -> twins(stage, Protocol.RANGE), """
                first
                a: assigned [one-0]
                second
                b: assigned [one-0]
                first polls: FencedInstanceIdException
                first commits throws: CommitFailedException
                a:
                """);
    }

    @Test
    @DisplayName("A second static member of the same id fences the first: cooperative")
    void twinsCooperative() {
        play(stage -> twins(stage, Protocol.COOPERATIVE), """
                first
                a: assigned [one-0]
                second
                b: assigned [one-0]
                first polls: FencedInstanceIdException
                first commits throws: CommitFailedException
                a:
                """);
    }

    private static void twins(Stage stage, Protocol protocol) {
        String topic = stage.topic("one", 1);
        Member a =
                Member.of(stage, protocol, "g", "a", "group.instance.id", "i").subscribe(topic);
        Member.settle(stage, "first", Map.of(a, 1));
        Member b =
                Member.of(stage, protocol, "g", "b", "group.instance.id", "i").subscribe(topic);
        Member.settle(stage, "second", Map.of(b, 1));
        stage.note("first polls", thrownBy(a));
        stage.run(
                "first commits", () -> a.consumer().commitSync(Map.of(partition(topic, 0), new OffsetAndMetadata(1))));
        a.report();
    }

    @Test
    @DisplayName("A second static member of the same id is refused: of the newer protocol")
    void unreleasedConsumer() {
        play(stage -> unreleased(stage, Protocol.CONSUMER), """
                first
                a: assigned [one-0]
                second polls: UnreleasedInstanceIdException
                b:
                first goes on
                a:
                """);
    }

    private static void unreleased(Stage stage, Protocol protocol) {
        String topic = stage.topic("one", 1);
        Member a =
                Member.of(stage, protocol, "g", "a", "group.instance.id", "i").subscribe(topic);
        Member.settle(stage, "first", Map.of(a, 1));
        Member b =
                Member.of(stage, protocol, "g", "b", "group.instance.id", "i").subscribe(topic);
        stage.note("second polls", thrownBy(b));
        b.report();
        Member.settle(stage, "first goes on", Map.of(a, 1));
    }

    @Test
    @DisplayName("Who leaves without a word keeps its partitions until its session is over: eager")
    void sessionRange() {
        play(stage -> session(stage, Protocol.RANGE), """
                one
                a: assigned [quiet-0, quiet-1]
                two
                a: revoked [quiet-0, quiet-1], assigned [quiet-0]
                b: assigned [quiet-1]
                b: revoked [quiet-1]
                one
                a: revoked [quiet-0], assigned [quiet-0, quiet-1]
                """);
    }

    @Test
    @DisplayName("Who leaves without a word keeps its partitions until its session is over: cooperative")
    void sessionCooperative() {
        play(stage -> session(stage, Protocol.COOPERATIVE), """
                one
                a: assigned [quiet-0, quiet-1]
                two
                a: revoked [quiet-1], assigned []
                b: assigned [quiet-1]
                b: revoked [quiet-1]
                one
                a: assigned [quiet-1]
                """);
    }

    private static void session(Stage stage, Protocol protocol) {
        String topic = stage.topic("quiet", 2);
        Member a =
                Member.of(stage, protocol, "g", "a", "session.timeout.ms", 1500).subscribe(topic);
        Member.settle(stage, "one", Map.of(a, 2));
        Member b =
                Member.of(stage, protocol, "g", "b", "session.timeout.ms", 1500).subscribe(topic);
        Member.settle(stage, "two", Map.of(a, 1, b, 1));
        b.consumer()
                .close(CloseOptions.groupMembershipOperation(CloseOptions.GroupMembershipOperation.REMAIN_IN_GROUP));
        b.report();
        Member.settle(stage, "one", Map.of(a, 2));
    }

    @Test
    @DisplayName("A group of classic members refuses one of another strategy: eager")
    void mixedProtocolsRange() {
        play(stage -> mixedProtocols(stage, Protocol.RANGE), """
                one
                a: assigned [mixed-0]
                other strategy: InconsistentGroupProtocolException
                """);
    }

    private static void mixedProtocols(Stage stage, Protocol protocol) {
        String topic = stage.topic("mixed", 1);
        Member a = Member.of(stage, protocol, "g", "a").subscribe(topic);
        Member.settle(stage, "one", Map.of(a, 1));
        Member b = Member.of(stage, Protocol.ROUND_ROBIN, "g", "b").subscribe(topic);
        stage.note("other strategy", thrownBy(b));
    }

    /** What poll throws sooner or later. */
    private static Throwable thrownBy(Member member) {
        Throwable[] thrown = {null};
        Stage.eventually("poll throws", () -> {
            try {
                member.poll();
            } catch (RuntimeException e) {
                thrown[0] = e;
            }
            return thrown[0] != null;
        });
        return thrown[0];
    }
}
