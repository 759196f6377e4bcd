package io.settlestream.conformance.clients;

import static io.settlestream.conformance.clients.BothKafkas.play;
import static io.settlestream.conformance.clients.Stage.partitions;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Who gets what, in groups of several shapes. */
@Execution(ExecutionMode.CONCURRENT)
class AssignmentTest {

    @Test
    @DisplayName("Two topics of three partitions, two members: eager")
    void evenRange() {
        play(stage -> even(stage, Protocol.RANGE), """
                a [one-0, one-1, two-0, two-1]
                b [one-2, two-2]
                """);
    }

    @Test
    @DisplayName("Two topics of three partitions, two members: in turn")
    void evenRoundRobin() {
        play(stage -> even(stage, Protocol.ROUND_ROBIN), """
                a [one-0, one-2, two-1]
                b [one-1, two-0, two-2]
                """);
    }

    @Test
    @DisplayName("Two topics of three partitions, two members: cooperative")
    void evenCooperative() {
        play(stage -> even(stage, Protocol.COOPERATIVE), """
                a [one-0, one-1, two-0]
                b [one-2, two-1, two-2]
                """);
    }

    @Test
    @DisplayName("Two topics of three partitions, two members: of the newer protocol")
    void evenConsumer() {
        play(stage -> even(stage, Protocol.CONSUMER), """
                sizes: [3, 3]
                """);
    }

    @Test
    @DisplayName("Two topics of three partitions, two members: by range at the coordinator")
    void evenConsumerRange() {
        play(stage -> even(stage, Protocol.CONSUMER_RANGE), """
                a [one-0, one-1, two-0, two-1]
                b [one-2, two-2]
                """);
    }

    private static void even(Stage stage, Protocol protocol) {
        new Shape(stage, protocol)
                .topic("one", 3)
                .topic("two", 3)
                .member("a", "one", "two")
                .member("b", "one", "two")
                .play();
    }

    @Test
    @DisplayName("Seven partitions, three members: eager")
    void unevenRange() {
        play(stage -> uneven(stage, Protocol.RANGE), """
                a [one-0, one-1, one-2]
                b [one-3, one-4]
                c [one-5, one-6]
                """);
    }

    @Test
    @DisplayName("Seven partitions, three members: in turn")
    void unevenRoundRobin() {
        play(stage -> uneven(stage, Protocol.ROUND_ROBIN), """
                a [one-0, one-3, one-6]
                b [one-1, one-4]
                c [one-2, one-5]
                """);
    }

    @Test
    @DisplayName("Seven partitions, three members: cooperative")
    void unevenCooperative() {
        play(stage -> uneven(stage, Protocol.COOPERATIVE), """
                sizes: [2, 2, 3]
                """);
    }

    @Test
    @DisplayName("Seven partitions, three members: of the newer protocol")
    void unevenConsumer() {
        play(stage -> uneven(stage, Protocol.CONSUMER), """
                sizes: [2, 2, 3]
                """);
    }

    @Test
    @DisplayName("Seven partitions, three members: by range at the coordinator")
    void unevenConsumerRange() {
        play(stage -> uneven(stage, Protocol.CONSUMER_RANGE), """
                a [one-0, one-1, one-2]
                b [one-3, one-4]
                c [one-5, one-6]
                """);
    }

    private static void uneven(Stage stage, Protocol protocol) {
        new Shape(stage, protocol)
                .topic("one", 7)
                .member("a", "one")
                .member("b", "one")
                .member("c", "one")
                .play();
    }

    @Test
    @DisplayName("Members of different topics: eager")
    void differentRange() {
        play(stage -> different(stage, Protocol.RANGE), """
                a [one-0, one-1, two-0, two-1, two-2]
                b [three-0, two-3, two-4]
                """);
    }

    @Test
    @DisplayName("Members of different topics: in turn")
    void differentRoundRobin() {
        play(stage -> different(stage, Protocol.ROUND_ROBIN), """
                a [one-0, one-1, two-0, two-2, two-4]
                b [three-0, two-1, two-3]
                """);
    }

    @Test
    @DisplayName("Members of different topics: cooperative")
    void differentCooperative() {
        play(stage -> different(stage, Protocol.COOPERATIVE), """
                a [one-0, one-1, two-3, two-4]
                b [three-0, two-0, two-1, two-2]
                """);
    }

    @Test
    @DisplayName("Members of different topics: by range at the coordinator")
    void differentConsumerRange() {
        play(stage -> different(stage, Protocol.CONSUMER_RANGE), """
                a [one-0, one-1, two-0, two-1, two-2]
                b [three-0, two-3, two-4]
                """);
    }

    private static void different(Stage stage, Protocol protocol) {
        new Shape(stage, protocol)
                .topic("one", 2)
                .topic("two", 5)
                .topic("three", 1)
                .member("a", "one", "two")
                .member("b", "two", "three")
                .play();
    }

    @Test
    @DisplayName("More members than partitions: eager")
    void crowdedRange() {
        play(stage -> crowded(stage, Protocol.RANGE), """
                a [one-0, two-0]
                b [one-1]
                c []
                d []
                """);
    }

    @Test
    @DisplayName("More members than partitions: in turn")
    void crowdedRoundRobin() {
        play(stage -> crowded(stage, Protocol.ROUND_ROBIN), """
                a [one-0]
                b [one-1]
                c [two-0]
                d []
                """);
    }

    @Test
    @DisplayName("More members than partitions: cooperative")
    void crowdedCooperative() {
        play(stage -> crowded(stage, Protocol.COOPERATIVE), """
                a [one-0]
                b [one-1]
                c [two-0]
                d []
                """);
    }

    @Test
    @DisplayName("More members than partitions: of the newer protocol")
    void crowdedConsumer() {
        play(stage -> crowded(stage, Protocol.CONSUMER), """
                sizes: [0, 1, 1, 1]
                """);
    }

    @Test
    @DisplayName("More members than partitions: by range at the coordinator")
    void crowdedConsumerRange() {
        play(stage -> crowded(stage, Protocol.CONSUMER_RANGE), """
                a [one-0, two-0]
                b [one-1]
                c []
                d []
                """);
    }

    private static void crowded(Stage stage, Protocol protocol) {
        new Shape(stage, protocol)
                .topic("one", 2)
                .topic("two", 1)
                .member("a", "one", "two")
                .member("b", "one", "two")
                .member("c", "one", "two")
                .member("d", "one", "two")
                .play();
    }

    @Test
    @DisplayName("Static members are in the order of their instance ids: eager")
    void fixedRange() {
        play(stage -> fixed(stage, Protocol.RANGE), """
                a [one-4]
                b [one-2, one-3]
                c [one-0, one-1]
                """);
    }

    @Test
    @DisplayName("Static members are in the order of their instance ids: in turn")
    void fixedRoundRobin() {
        play(stage -> fixed(stage, Protocol.ROUND_ROBIN), """
                a [one-2]
                b [one-1, one-4]
                c [one-0, one-3]
                """);
    }

    @Test
    @DisplayName("Static members are in the order of their instance ids: cooperative")
    void fixedCooperative() {
        play(stage -> fixed(stage, Protocol.COOPERATIVE), """
                sizes: [1, 2, 2]
                """);
    }

    @Test
    @DisplayName("Static members are in the order of their instance ids: by range at the coordinator")
    void fixedConsumerRange() {
        play(stage -> fixed(stage, Protocol.CONSUMER_RANGE), """
                a [one-4]
                b [one-2, one-3]
                c [one-0, one-1]
                """);
    }

    private static void fixed(Stage stage, Protocol protocol) {
        new Shape(stage, protocol)
                .topic("one", 5)
                .fixedMember("a", "z", "one")
                .fixedMember("b", "y", "one")
                .fixedMember("c", "x", "one")
                .play();
    }

    /** Members that join one after another. */
    private static final class Shape {

        private final Stage stage;
        private final Protocol protocol;
        private final List<Member> members = new ArrayList<>();
        private int partitions;

        Shape(Stage stage, Protocol protocol) {
            this.stage = stage;
            this.protocol = protocol;
        }

        Shape topic(String name, int count) {
            stage.topic(name, count);
            partitions += count;
            return this;
        }

        Shape member(String name, String... topics) {
            // By range, the coordinator goes by instance ids, or else by ids that are drawn by lot.
            return fixedMember(name, protocol == Protocol.CONSUMER_RANGE ? name : "", topics);
        }

        Shape fixedMember(String name, String instance, String... topics) {
            Member member = Member.of(stage, protocol, "g", name, "group.instance.id", instance)
                    .subscribe(Arrays.stream(topics).map(stage::name).toArray(String[]::new));
            members.add(member);
            Member[] all = members.toArray(Member[]::new);
            Member.pollUntil(name + " is a member", () -> member.hasHeard("assigned"), all);
            Member.quiet(all);
            return this;
        }

        void play() {
            Member[] all = members.toArray(Member[]::new);
            Member.pollUntil(
                    "all partitions have an owner",
                    () -> members.stream()
                                    .mapToInt(member -> member.assignment().size())
                                    .sum()
                            == partitions,
                    all);
            // The coordinator goes by ids that members draw by lot; and which of several shares of different sizes a
            // sticky assignor leaves to whom, depends on the steps in which the group came to be.
            boolean even = partitions % members.size() == 0 || partitions < members.size();
            if (protocol == Protocol.CONSUMER || (protocol == Protocol.COOPERATIVE && !even)) {
                stage.note(
                        "sizes",
                        members.stream()
                                .map(member -> member.assignment().size())
                                .sorted()
                                .toList());
                return;
            }
            members.forEach(member -> stage.note(member + " " + Words.partitions(member.assignment())));
        }
    }
}
