package io.settlestream.testing.internal.kafka;

import static io.settlestream.testing.internal.kafka.TestConsumers.LONG;
import static io.settlestream.testing.internal.kafka.TestConsumers.member;
import static io.settlestream.testing.internal.kafka.TestConsumers.offset;
import static io.settlestream.testing.internal.kafka.TestConsumers.partition;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.CloseOptions.GroupMembershipOperation;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.FencedInstanceIdException;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.UnreleasedInstanceIdException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(30)
class MembershipTest {

    private static final Map<String, Object> EAGER = member("classic");
    private static final Map<String, Object> COOPERATIVE =
            member("classic", "partition.assignment.strategy", CooperativeStickyAssignor.class.getName());
    private static final Map<String, Object> CONSUMER = member("consumer");

    private final TestConsumers test = new TestConsumers();
    private final GroupControl group = test.kafka.group("g");

    @BeforeEach
    void createTopic() {
        test.kafka.createTopic("topic", 4, Map.of());
    }

    @AfterEach
    void close() {
        test.close();
    }

    @Test
    @DisplayName("an eager member gives everything back before it joins the next round")
    void eager() {
        Consumer<byte[], byte[]> a = test.subscribed("a", EAGER);
        test.settle(a);
        Consumer<byte[], byte[]> b = test.subscribed("b", EAGER);
        test.settle(a, b);

        assertThat(test.takeHeard())
                .containsExactly(
                        "a assigned [topic-0, topic-1, topic-2, topic-3]",
                        "a revoked [topic-0, topic-1, topic-2, topic-3]",
                        "a assigned [topic-0, topic-1]",
                        "b assigned [topic-2, topic-3]");

        b.close();
        test.settle(a);

        assertThat(test.takeHeard())
                .containsExactly(
                        "b revoked [topic-2, topic-3]",
                        "a revoked [topic-0, topic-1]",
                        "a assigned [topic-0, topic-1, topic-2, topic-3]");
        assertThat(a.groupMetadata().generationId()).isEqualTo(3);
    }

    @Test
    @DisplayName("a cooperative member gives back only what leaves, and joins again for that")
    void cooperative() {
        Consumer<byte[], byte[]> a = test.subscribed("a", COOPERATIVE);
        test.settle(a);
        Consumer<byte[], byte[]> b = test.subscribed("b", COOPERATIVE);
        test.settle(a, b);

        assertThat(test.takeHeard())
                .containsExactly(
                        "a assigned [topic-0, topic-1, topic-2, topic-3]",
                        "a revoked [topic-2, topic-3]",
                        "a assigned []",
                        "b assigned []",
                        "a assigned []",
                        "b assigned [topic-2, topic-3]");
    }

    @Test
    @DisplayName("a member of the consumer protocol gives back what leaves, and the other gets it then")
    void consumerProtocol() {
        Consumer<byte[], byte[]> a = test.subscribed("a", CONSUMER);
        test.settle(a);
        Consumer<byte[], byte[]> b = test.subscribed("b", CONSUMER);
        List<String> unused = test.poll(b, Duration.ZERO);

        assertThat(test.takeHeard())
                .containsExactly("a assigned [topic-0, topic-1, topic-2, topic-3]", "b assigned []");
        assertThat(group.state()).isEqualTo("Reconciling");

        test.settle(a, b);

        assertThat(test.takeHeard())
                .containsExactly("a revoked [topic-2, topic-3]", "a assigned []", "b assigned [topic-2, topic-3]");
        assertThat(group.state()).isEqualTo("Stable");
        assertThat(group.members()).extracting(GroupMember::epoch).containsExactly(2, 2);
    }

    @Test
    @DisplayName("a sticky member that forgets its generation, and one that does not, share what there is")
    void sticky() {
        Map<String, Object> configs =
                member("classic", "partition.assignment.strategy", StickyAssignor.class.getName());
        Consumer<byte[], byte[]> a = test.subscribed("a", configs);
        Consumer<byte[], byte[]> b = test.subscribed("b", configs);
        Consumer<byte[], byte[]> c = test.subscribed("c", configs);
        test.settle(a, b, c);
        Set<TopicPartition> before = a.assignment();

        c.close();
        test.settle(a, b);

        assertThat(a.assignment()).containsAll(before).hasSize(2);
        assertThat(b.assignment()).hasSize(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("a member that does not poll in time is out, has lost its partitions when it polls, and comes back")
    void pollsTooRarely(String protocol) {
        Map<String, Object> configs = member(protocol, "max.poll.interval.ms", 20_000);
        Consumer<byte[], byte[]> a = test.subscribed("a", configs);
        test.settle(a);

        test.pass(Duration.ofSeconds(19));
        assertThat(group.members()).hasSize(1);
        test.pass(Duration.ofSeconds(2));
        assertThat(group.members()).isEmpty();
        assertThatThrownBy(() -> a.commitSync(Map.of(partition(0), offset(1))))
                .isInstanceOf(CommitFailedException.class);
        test.settle(a);

        assertThat(test.takeHeard())
                .containsExactly(
                        "a assigned [topic-0, topic-1, topic-2, topic-3]",
                        "a lost [topic-0, topic-1, topic-2, topic-3]",
                        "a assigned [topic-0, topic-1, topic-2, topic-3]");
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("a poll that waits is no sign of a member that is stuck")
    void waitsLong(String protocol) {
        Consumer<byte[], byte[]> a = test.subscribed("a", member(protocol, "max.poll.interval.ms", 20_000));

        List<String> unused = test.poll(a, Duration.ofMinutes(5));

        assertThat(group.members()).hasSize(1);
        assertThat(test.takeHeard()).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("the partitions of a member that crashed go to others when its session ends")
    void crash(String protocol) {
        Consumer<byte[], byte[]> a = test.subscribed("a", member(protocol));
        Consumer<byte[], byte[]> b = test.subscribed("b", member(protocol));
        test.settle(a, b);

        test.kafka.crash(a, false);

        assertThatThrownBy(a::commitSync).isInstanceOf(ClientCrashed.class);
        test.pass(Duration.ofSeconds(44));
        test.settle(b);
        assertThat(b.assignment()).hasSize(2);
        test.pass(Duration.ofSeconds(2));
        test.settle(b);
        assertThat(b.assignment()).hasSize(4);
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("a member that was taken for dead has lost its partitions, and comes back")
    void expired(String protocol) {
        Consumer<byte[], byte[]> a = test.subscribed("a", member(protocol));
        test.settle(a);

        group.expire(group.members().getFirst().memberId());
        test.settle(a);

        assertThat(test.takeHeard())
                .containsExactly(
                        "a assigned [topic-0, topic-1, topic-2, topic-3]",
                        "a lost [topic-0, topic-1, topic-2, topic-3]",
                        "a assigned [topic-0, topic-1, topic-2, topic-3]");
    }

    @Test
    @DisplayName("a commit in the middle of a round is refused, and one in its callbacks is not")
    void commitsAndRounds() {
        Consumer<byte[], byte[]> a = test.consumer(EAGER);
        a.subscribe(List.of("topic"), new ConsumerRebalanceListener() {
            @Override
            public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
                a.commitSync(Map.of(partition(0), offset(7)));
            }

            @Override
            public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
                a.commitSync(Map.of(partition(1), offset(8)));
            }
        });
        test.settle(a);
        Consumer<byte[], byte[]> b = test.subscribed("b", EAGER);
        test.settle(a, b);
        assertThat(group.committed()).containsOnlyKeys(partition(0), partition(1));

        Consumer<byte[], byte[]> c = test.subscribed("c", EAGER);
        List<String> unused = test.poll(c, Duration.ZERO);
        a.commitSync(Map.of(partition(2), offset(9)));
        unused = test.poll(a, Duration.ZERO);

        assertThatThrownBy(() -> a.commitSync(Map.of(partition(2), offset(10))))
                .isInstanceOf(RebalanceInProgressException.class);
        assertThat(group.committed()).containsEntry(partition(2), offset(9));
    }

    @Test
    @DisplayName("who does not join in time is out of the round")
    void roundTimesOut() {
        Map<String, Object> configs = member("classic", "max.poll.interval.ms", 20_000);
        Consumer<byte[], byte[]> a = test.subscribed("a", configs);
        test.settle(a);
        Consumer<byte[], byte[]> b = test.subscribed("b", configs);

        List<String> unused = test.poll(b, Duration.ofSeconds(30));

        assertThat(b.assignment()).hasSize(4);
        assertThatThrownBy(a::commitSync).isInstanceOf(CommitFailedException.class);
    }

    @Test
    @DisplayName("a static member of a classic group comes back without a rebalance, and who held its name is fenced")
    void classicStatic() {
        Map<String, Object> named = member("classic", "group.instance.id", "one");
        Consumer<byte[], byte[]> a = test.subscribed("a", named);
        Consumer<byte[], byte[]> b = test.subscribed("b", member("classic", "group.instance.id", "two"));
        test.settle(a, b);
        int generation = b.groupMetadata().generationId();
        test.takeHeard();

        Consumer<byte[], byte[]> again = test.subscribed("again", named);
        test.settle(again, b);

        assertThat(test.takeHeard()).containsExactly("again assigned [topic-0, topic-1]");
        assertThat(b.groupMetadata().generationId()).isEqualTo(generation);
        assertThatThrownBy(() -> a.commitSync(Map.of(partition(0), offset(1))))
                .isInstanceOf(FencedInstanceIdException.class);
        assertThatThrownBy(() -> a.poll(Duration.ZERO)).isInstanceOf(FencedInstanceIdException.class);
    }

    @Test
    @DisplayName(
            "a static member of the consumer protocol keeps its name until it has closed, and its partitions for longer")
    void consumerStatic() {
        Map<String, Object> named = member("consumer", "group.instance.id", "one");
        Consumer<byte[], byte[]> a = test.subscribed("a", named);
        Consumer<byte[], byte[]> b = test.subscribed("b", CONSUMER);
        test.settle(a, b);
        Consumer<byte[], byte[]> early = test.subscribed("early", named);
        assertThatThrownBy(() -> early.poll(Duration.ZERO)).isInstanceOf(UnreleasedInstanceIdException.class);
        Set<TopicPartition> before = a.assignment();
        a.close();
        test.settle(b);
        assertThat(b.assignment()).hasSize(2);

        Consumer<byte[], byte[]> again = test.subscribed("again", named);
        test.settle(again, b);
        assertThat(again.assignment()).isEqualTo(before);

        again.close(CloseOptions.groupMembershipOperation(GroupMembershipOperation.LEAVE_GROUP));
        test.settle(b);
        assertThat(b.assignment()).hasSize(4);
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("a member that remains when it closes keeps its partitions until its session ends")
    void remains(String protocol) {
        Consumer<byte[], byte[]> a = test.subscribed("a", member(protocol));
        Consumer<byte[], byte[]> b = test.subscribed("b", member(protocol));
        test.settle(a, b);

        a.close(CloseOptions.groupMembershipOperation(GroupMembershipOperation.REMAIN_IN_GROUP));

        test.settle(b);
        assertThat(b.assignment()).hasSize(2);
        test.pass(Duration.ofSeconds(46));
        test.settle(b);
        assertThat(b.assignment()).hasSize(4);
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("a topic that appears and one that grows are assigned")
    void topics(String protocol) {
        Consumer<byte[], byte[]> a = test.consumer(member(protocol));
        a.subscribe(List.of("later"), test.listener("a"));
        test.settle(a);
        test.kafka.createTopic("later", 1, Map.of());
        test.settle(a);
        assertThat(a.assignment()).hasSize(1);

        test.kafka.addPartitions("later", 2);
        List<String> unused = test.poll(a, Duration.ofMinutes(6));

        assertThat(a.assignment()).hasSize(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("a pattern takes in the topics that come to match it")
    void pattern(String protocol) {
        Consumer<byte[], byte[]> a = test.consumer(member(protocol));
        a.subscribe(Pattern.compile("to.*"), test.listener("a"));
        test.settle(a);
        assertThat(a.subscription()).containsExactly("topic");
        test.kafka.createTopic("tomorrow", 1, Map.of());
        test.kafka.createTopic("never", 1, Map.of());

        List<String> unused = test.poll(a, Duration.ofMinutes(6));

        assertThat(a.subscription()).containsExactlyInAnyOrder("topic", "tomorrow");
        assertThat(a.assignment()).hasSize(5);
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("members with different subscriptions get what they asked for")
    void mixed(String protocol) {
        test.kafka.createTopic("other", 2, Map.of());
        Consumer<byte[], byte[]> a = test.subscribed("a", member(protocol));
        Consumer<byte[], byte[]> b = test.consumer(member(protocol));
        b.subscribe(List.of("topic", "other"));
        test.settle(a, b);

        assertThat(a.assignment()).allMatch(partition -> partition.topic().equals("topic"));
        assertThat(b.assignment()).contains(new TopicPartition("other", 0), new TopicPartition("other", 1));
        assertThat(a.assignment().size() + b.assignment().size()).isEqualTo(6);
    }

    @ParameterizedTest
    @ValueSource(strings = {"eager", "cooperative", "consumer"})
    @DisplayName("an operator moves partitions, and adds a member that does nothing")
    void operator(String kind) {
        Map<String, Object> configs = configs(kind);
        Consumer<byte[], byte[]> a = test.subscribed("a", configs);
        Consumer<byte[], byte[]> b = test.subscribed("b", configs);
        test.settle(a, b);
        String idOfB = b.groupMetadata().memberId();

        group.move(Set.of(partition(0), partition(1), partition(2), partition(3)), idOfB);
        test.settle(a, b);
        assertThat(b.assignment()).hasSize(4);

        String bare = group.addBareMember(Set.of(partition(3)));
        test.settle(a, b);
        assertThat(b.assignment()).doesNotContain(partition(3)).hasSize(3);
        assertThat(a.assignment()).isEmpty();

        group.expire(bare);
        test.settle(a, b);
        assertThat(a.assignment().size() + b.assignment().size()).isEqualTo(4);
    }

    private static Map<String, Object> configs(String kind) {
        return switch (kind) {
            case "eager" -> EAGER;
            case "cooperative" -> COOPERATIVE;
            default -> CONSUMER;
        };
    }

    @Test
    @DisplayName("a partition that is given and taken away again before its member hears of it leaves the group stable")
    void givenAndTakenUnheard() {
        Consumer<byte[], byte[]> a = test.subscribed("a", CONSUMER);
        Consumer<byte[], byte[]> b = test.subscribed("b", CONSUMER);
        test.settle(a, b);
        test.takeHeard();

        group.move(Set.of(partition(2)), a.groupMetadata().memberId());
        test.settle(b);
        group.move(Set.of(partition(2)), b.groupMetadata().memberId());
        test.settle(a, b);

        assertThat(group.state()).isEqualTo("Stable");
        assertThat(test.takeHeard()).containsExactly("b revoked [topic-2]", "b assigned []", "b assigned [topic-2]");
    }

    @ParameterizedTest
    @ValueSource(strings = {"eager", "cooperative", "consumer"})
    @DisplayName("a member that was thrown out and does not know it yet is given no partition")
    void movedToNobody(String kind) {
        Map<String, Object> configs = configs(kind);
        Consumer<byte[], byte[]> a = test.subscribed("a", configs);
        Consumer<byte[], byte[]> b = test.subscribed("b", configs);
        test.settle(a, b);
        String gone = a.groupMetadata().memberId();
        group.expire(gone);

        assertThatThrownBy(() -> group.move(Set.of(partition(0)), gone))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("group g has no member " + gone);

        test.settle(b);
        assertThat(b.assignment()).hasSize(4);
    }

    @Test
    @DisplayName("a partition that the leader of a cooperative group has not heard of is moved once it has")
    void movedBeforeTheLeaderKnows() {
        Map<String, Object> configs = new HashMap<>(COOPERATIVE);
        configs.put("metadata.max.age.ms", 60_000);
        Consumer<byte[], byte[]> leader = test.subscribed("leader", configs);
        test.settle(leader);
        Consumer<byte[], byte[]> b = test.subscribed("b", configs);
        test.settle(leader, b);
        test.kafka.addPartitions("topic", 5);

        group.move(
                Set.of(partition(0), partition(1), partition(2), partition(3)),
                leader.groupMetadata().memberId());
        group.move(Set.of(partition(4)), b.groupMetadata().memberId());
        test.settle(leader, b);
        group.rebalance();
        test.settle(leader, b);

        assertThat(leader.assignment()).hasSize(4);
        assertThat(b.assignment()).isEmpty();

        test.pass(Duration.ofSeconds(61));
        test.settle(leader, b);

        assertThat(leader.assignment()).hasSize(4);
        assertThat(b.assignment()).containsExactly(partition(4));
    }

    @ParameterizedTest
    @ValueSource(strings = {"eager", "cooperative"})
    @DisplayName("a round that is asked for changes nothing and gives a new generation")
    void forced(String kind) {
        Consumer<byte[], byte[]> a = test.subscribed("a", configs(kind));
        test.settle(a);
        group.rebalance();
        test.settle(a);
        a.enforceRebalance();
        test.settle(a);

        assertThat(a.groupMetadata().generationId()).isEqualTo(3);
        assertThat(a.assignment()).hasSize(4);
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("a listener's failure comes out of the poll, and the member goes on with the next")
    void listenerFails(String protocol) {
        Consumer<byte[], byte[]> a = test.consumer(member(protocol));
        boolean[] failed = {false};
        a.subscribe(List.of("topic"), new ConsumerRebalanceListener() {
            @Override
            public void onPartitionsRevoked(Collection<TopicPartition> partitions) {}

            @Override
            public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
                if (!failed[0]) {
                    failed[0] = true;
                    throw new IllegalStateException("not yet");
                }
            }
        });

        assertThatThrownBy(() -> a.poll(Duration.ZERO))
                .isInstanceOf(KafkaException.class)
                .hasMessage("User rebalance callback throws an error")
                .hasRootCauseMessage("not yet");
        test.publish(0, "x");
        assertThat(test.poll(a, LONG)).containsExactly("x");
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("unsubscribing gives everything back and leaves the group")
    void unsubscribe(String protocol) {
        Consumer<byte[], byte[]> a = test.subscribed("a", member(protocol));
        test.settle(a);

        a.unsubscribe();

        assertThat(test.takeHeard()).last().isEqualTo("a revoked [topic-0, topic-1, topic-2, topic-3]");
        assertThat(group.members()).isEmpty();
        assertThat(group.state()).isEqualTo("Empty");
        assertThatThrownBy(() -> a.poll(Duration.ZERO)).isInstanceOf(IllegalStateException.class);
        group.commit(Map.of(partition(0), offset(5)));
        assertThat(a.committed(Set.of(partition(0)))).containsEntry(partition(0), offset(5));
    }
}
