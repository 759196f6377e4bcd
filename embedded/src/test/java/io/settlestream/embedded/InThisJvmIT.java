package io.settlestream.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class InThisJvmIT {
    @TempDir
    Path temp;

    @Test
    @DisplayName("Records and committed offsets in a kept directory outlive the cluster")
    void keptDirectory() throws Exception {
        // given a cluster whose group has read the first of three records
        try (var kafka = EmbeddedKafka.builder().logDirectory(temp).start()) {
            kafka.createTopic("orders", 1);
            Clients.send(kafka, "orders", "a");
            assertThat(Clients.consume(kafka, "orders", "payouts", 1)).containsExactly("a");
            Clients.send(kafka, "orders", "b", "c");
        }

        // when another one starts there, then the group goes on with the second
        try (var kafka = EmbeddedKafka.builder().logDirectory(temp).start()) {
            assertThat(Clients.consume(kafka, "orders", "payouts", 2)).containsExactly("b", "c");
            assertThat(Clients.consume(kafka, "orders", "others", 3)).containsExactly("a", "b", "c");
        }
        assertThat(temp).isNotEmptyDirectory();
    }

    @Test
    @DisplayName("A node that is stopped and started again has its port, its records and its transactions")
    void stopAndStart() throws Exception {
        try (var kafka = EmbeddedKafka.start()) {
            KafkaNode node = kafka.node(0);
            String address = node.address();
            kafka.createTopic("orders", 1);
            Clients.send(kafka, "orders", "a");

            node.stop();
            node.stop();
            assertThat(node.running()).isFalse();
            node.start();

            assertThat(node.running()).isTrue();
            assertThat(kafka.bootstrapServers()).isEqualTo(address);
            Clients.send(kafka, "orders", "b");
            assertThat(Clients.consume(kafka, "orders", "payouts", 2)).containsExactly("a", "b");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    @DisplayName("Offsets can be committed in a transaction, under both group protocols")
    void transaction(String protocol) {
        try (var kafka = EmbeddedKafka.start()) {
            kafka.createTopic("orders", 1);
            kafka.createTopic("invoices", 1);
            var consuming =
                    Map.of("group.id", "billing", "group.protocol", protocol, "isolation.level", "read_committed");
            try (var consumer = Clients.consumer(kafka.bootstrapServers(), consuming);
                    var producer =
                            Clients.producer(kafka.bootstrapServers(), Map.of("transactional.id", "billing-0"))) {
                producer.initTransactions();
                producer.beginTransaction();
                var unused = producer.send(new ProducerRecord<>("orders", "aborted"));
                producer.abortTransaction();
                producer.beginTransaction();
                unused = producer.send(new ProducerRecord<>("orders", "a"));
                producer.commitTransaction();

                consumer.subscribe(List.of("orders"));
                assertThat(Clients.poll(consumer, 1)).containsExactly("a");
                producer.beginTransaction();
                unused = producer.send(new ProducerRecord<>("invoices", "invoice of a"));
                producer.sendOffsetsToTransaction(
                        Map.of(new TopicPartition("orders", 0), new OffsetAndMetadata(3)), consumer.groupMetadata());
                producer.commitTransaction();

                assertThat(consumer.committed(Set.of(new TopicPartition("orders", 0)))
                                .values())
                        .extracting(OffsetAndMetadata::offset)
                        .containsExactly(3L);
            }
            assertThat(Clients.consume(kafka, "invoices", "readers", 1)).containsExactly("invoice of a");
        }
    }

    @Test
    @DisplayName("Closing deletes the temporary directory, ends the server's threads, and may be repeated")
    void close() throws Exception {
        var kafka = EmbeddedKafka.start();
        Path directory = kafka.node(0).logDirectory();
        assertThat(directory).isDirectory();

        kafka.close();
        kafka.close();

        assertThat(kafka.node(0).running()).isFalse();
        assertThatThrownBy(kafka.node(0)::start)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed");
        assertThatThrownBy(() -> kafka.createTopic("late", 1))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed");
        assertThat(directory.getParent().getParent()).doesNotExist();
        assertThat(Thread.getAllStackTraces().keySet())
                .filteredOn(thread -> !thread.isDaemon())
                .extracting(Thread::getName)
                .noneMatch(name -> name.contains("kafka"));
    }

    @Test
    @DisplayName("What only a process can do is refused with the way out")
    void killAndPause() {
        try (var kafka = EmbeddedKafka.start()) {
            KafkaNode node = kafka.node(0);
            assertThatThrownBy(node::kill)
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("asProcess()");
            assertThatThrownBy(node::pause)
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("asProcess()");
            assertThatThrownBy(node::resume).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(node::start)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("running already");
            assertThat(node.running()).isTrue();
            assertThatThrownBy(() -> kafka.node(1)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    @DisplayName("Topics get their settings, and a second one of the same name is refused")
    void topics() throws Exception {
        try (var kafka = EmbeddedKafka.start();
                var admin = Admin.create(Map.of("bootstrap.servers", kafka.bootstrapServers()))) {
            kafka.createTopic("balances", 2, Map.of("cleanup.policy", "compact"));

            var resource = new ConfigResource(ConfigResource.Type.TOPIC, "balances");
            var config = admin.describeConfigs(List.of(resource)).all().get().get(resource);
            assertThat(config.get("cleanup.policy").value()).isEqualTo("compact");
            assertThatThrownBy(() -> kafka.createTopic("balances", 1))
                    .isInstanceOf(EmbeddedKafkaException.class)
                    .hasMessageContaining("balances")
                    .hasMessageContaining("already exists");
        }
    }

    @Test
    @DisplayName("A port in use and a wrong broker setting are errors with the reason, and leave nothing behind")
    void failures() throws Exception {
        Set<Path> before = temporaryDirectories();
        try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            var builder = EmbeddedKafka.builder().port(taken.getLocalPort());
            assertThatThrownBy(builder::start)
                    .isInstanceOf(EmbeddedKafkaException.class)
                    .hasMessageContaining("127.0.0.1:" + taken.getLocalPort())
                    .hasMessageContaining("in use by another process");
        }
        int first = Ports.free(1, 0).getFirst().client();
        try (var taken = new ServerSocket(first + 1, 1, InetAddress.getLoopbackAddress())) {
            var builder = EmbeddedKafka.builder().nodes(3).port(first);
            assertThatThrownBy(builder::start)
                    .isInstanceOf(EmbeddedKafkaException.class)
                    .hasMessageContaining("Kafka node 1 at 127.0.0.1:" + taken.getLocalPort())
                    .hasMessageContaining("in use by another process");
        }
        assertThatThrownBy(EmbeddedKafka.builder().brokerConfig("num.io.threads", "many")::start)
                .isInstanceOf(EmbeddedKafkaException.class)
                .hasMessageContaining("num.io.threads")
                .hasMessageContaining("many");
        assertThat(temporaryDirectories()).isEqualTo(before);
    }

    private static Set<Path> temporaryDirectories() throws Exception {
        long pid = ProcessHandle.current().pid();
        try (var files = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
            return files.filter(file -> file.getFileName().toString().startsWith("settlestream-kafka-" + pid + "-"))
                    .collect(Collectors.toSet());
        }
    }

    @Test
    @DisplayName("A directory of another cluster size, and contradictory or meaningless settings, are refused")
    void refusals() throws Exception {
        Files.writeString(temp.resolve("cluster.properties"), "cluster.id=x\nnodes=3\n");
        assertThatThrownBy(EmbeddedKafka.builder().logDirectory(temp)::start)
                .isInstanceOf(EmbeddedKafkaException.class)
                .hasMessageContaining("nodes(3)");
        var builder = EmbeddedKafka.builder();
        assertThatThrownBy(() -> builder.nodes(2)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder.port(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder.brokerConfig("listeners", "PLAINTEXT://0.0.0.0:9092"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("port()");
    }

    @Test
    @DisplayName("Three nodes run in one JVM, and one can be stopped and started again")
    void threeNodes() throws Exception {
        try (var kafka = EmbeddedKafka.builder().nodes(3).start()) {
            kafka.createTopic("orders", 3);
            kafka.node(1).stop();
            Clients.send(kafka, "orders", "a", "b", "c", "d");
            kafka.node(1).start();
            assertThat(Clients.consume(kafka, "orders", "payouts", 4)).containsExactlyInAnyOrder("a", "b", "c", "d");
        }
    }
}
