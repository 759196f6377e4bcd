package io.settlestream.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.settlestream.embedded.Launcher.Ending;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class AsProcessIT {
    @TempDir
    Path temp;

    @Test
    @DisplayName("A node that is killed hard comes back on its port with all that it acknowledged")
    void killHard() throws Exception {
        Path directory;
        try (var kafka = EmbeddedKafka.builder().asProcess().start()) {
            KafkaNode node = kafka.node(0);
            String address = node.address();
            directory = node.logDirectory();
            kafka.createTopic("orders", 1);
            String[] values =
                    IntStream.range(0, 100).mapToObj(Integer::toString).toArray(String[]::new);
            Clients.send(kafka, "orders", values);
            assertThat(Clients.consume(kafka, "orders", "payouts", 100)).containsExactly(values);

            node.kill();
            assertThat(node.running()).isFalse();
            node.start();

            assertThat(node.address()).isEqualTo(address);
            Clients.send(kafka, "orders", "100");
            assertThat(Clients.consume(kafka, "orders", "payouts", 1)).containsExactly("100");
            assertThat(Clients.consume(kafka, "orders", "others", 101)).startsWith(values);

            node.stop();
            assertThat(node.running()).isFalse();
            node.start();
            assertThat(Clients.consume(kafka, "orders", "third", 101)).startsWith(values);
        }
        assertThat(directory.getParent().getParent()).doesNotExist();
        assertThat(ProcessHandle.current().descendants()).isEmpty();
    }

    @Test
    @DisplayName("Three nodes take writes to all copies while one is dead, and it catches up when it is back")
    void loseOneOfThree() throws Exception {
        try (var kafka = EmbeddedKafka.builder().nodes(3).asProcess().start();
                var admin = Admin.create(Map.of("bootstrap.servers", kafka.bootstrapServers()))) {
            assertThat(kafka.nodes()).extracting(KafkaNode::running).containsExactly(true, true, true);
            kafka.createTopic("orders", 1);
            TopicPartitionInfo before = partition(admin);
            assertThat(before.replicas()).hasSize(3);
            KafkaNode leader = kafka.node(before.leader().id());
            Clients.send(kafka, "orders", "before");

            leader.kill();
            Clients.send(kafka, "orders", "during");
            assertThat(partition(admin).leader().id()).isNotEqualTo(leader.id());
            assertThat(Clients.consume(kafka, "orders", "payouts", 2)).containsExactly("before", "during");

            leader.start();
            Deadline.in(Clients.PATIENCE)
                    .await(
                            leader + " did not catch up",
                            () -> partition(admin).isr().stream().map(Node::id).anyMatch(id -> id == leader.id())
                                    ? null
                                    : "not in sync");
            Clients.send(kafka, "orders", "after");
        }
        assertThat(ProcessHandle.current().descendants()).isEmpty();
    }

    private static TopicPartitionInfo partition(Admin admin)
            throws java.util.concurrent.ExecutionException, InterruptedException {
        return admin.describeTopics(List.of("orders"))
                .allTopicNames()
                .get()
                .get("orders")
                .partitions()
                .getFirst();
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    @DisplayName("A paused node lets requests time out, and answers after it is resumed")
    void pause() throws Exception {
        try (var kafka = EmbeddedKafka.builder().asProcess().start();
                var admin = Admin.create(Map.of(
                        "bootstrap.servers", kafka.bootstrapServers(),
                        "request.timeout.ms", "500",
                        "default.api.timeout.ms", "1000"))) {
            KafkaNode node = kafka.node(0);
            kafka.createTopic("orders", 1);
            assertThat(admin.listTopics().names().get()).contains("orders");

            node.pause();
            assertThat(node.running()).isFalse();
            assertThatThrownBy(() -> admin.listTopics().names().get()).hasCauseInstanceOf(TimeoutException.class);
            assertThatThrownBy(node::stop)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("resume()");
            assertThatThrownBy(node::pause).isInstanceOf(IllegalStateException.class);

            node.resume();
            assertThat(node.running()).isTrue();
            Clients.send(kafka, "orders", "a");
            assertThat(Clients.consume(kafka, "orders", "payouts", 1)).containsExactly("a");

            node.pause(); // closing ends a paused node too
        }
        assertThat(ProcessHandle.current().descendants()).isEmpty();
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    @DisplayName("Nodes, even a paused one, die with the JVM that started them when that is killed hard")
    void parentKilled() throws Exception {
        Process launcher = Launcher.launch(Ending.WAIT_WITH_PROCESSES, temp);
        var children = launcher.descendants().toList();
        assertThat(children).hasSizeGreaterThanOrEqualTo(3); // two nodes, and what paused one of them

        launcher.destroyForcibly();

        for (ProcessHandle child : children) {
            assertThat(child.onExit()).succeedsWithin(Clients.PATIENCE);
        }
    }

    @Test
    @DisplayName("A Kafka that nobody closes is closed when the JVM exits")
    void forgotten() throws Exception {
        Process launcher = Launcher.launch(Ending.EXIT, temp);
        var children = launcher.descendants().toList();
        assertThat(children).isNotEmpty();
        assertThat(temp).isNotEmptyDirectory();

        launcher.outputWriter().close();
        assertThat(launcher.waitFor(Clients.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                .isTrue();

        assertThat(launcher.exitValue()).isZero();
        for (ProcessHandle child : children) {
            assertThat(child.onExit()).succeedsWithin(Clients.PATIENCE);
        }
        assertThat(temp).isEmptyDirectory();
    }

    @Test
    @DisplayName("A Kafka without a shutdown hook is left to its owner when the JVM exits")
    void leftToItsOwner() throws Exception {
        Process launcher = Launcher.launch(Ending.EXIT_WITHOUT_HOOK, temp);

        launcher.outputWriter().close();
        assertThat(launcher.waitFor(Clients.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                .isTrue();

        assertThat(launcher.exitValue()).isZero();
        assertThat(temp).isNotEmptyDirectory();
    }

    @Test
    @DisplayName("A wrong broker setting is an error with the reason that the process gave")
    void failures() {
        assertThatThrownBy(EmbeddedKafka.builder().asProcess().brokerConfig("num.io.threads", "many")::start)
                .isInstanceOf(EmbeddedKafkaException.class)
                .hasMessageContaining("Kafka node 0")
                .hasMessageContaining("Invalid value many for configuration num.io.threads")
                .hasMessageContaining("standard error");
        assertThat(ProcessHandle.current().descendants()).isEmpty();
    }

    @Test
    @DisplayName("A kept directory is closed cleanly and opened again")
    void keptDirectory() throws Exception {
        try (var kafka = EmbeddedKafka.builder().asProcess().logDirectory(temp).start()) {
            kafka.createTopic("orders", 1);
            Clients.send(kafka, "orders", "a");
        }
        try (var kafka = EmbeddedKafka.builder().logDirectory(temp).start()) {
            assertThat(Clients.consume(kafka, "orders", "payouts", 1)).containsExactly("a");
        }
    }
}
