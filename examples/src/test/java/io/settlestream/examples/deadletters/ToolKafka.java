package io.settlestream.examples.deadletters;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.embedded.EmbeddedKafka;
import io.settlestream.kafka.RecordCopy;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Reader;
import java.io.StringReader;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import picocli.CommandLine;

/** A Kafka with dead letters, and the tool that works on it in this JVM. */
final class ToolKafka implements AutoCloseable {

    private static final Duration READ_TIMEOUT = Duration.ofSeconds(30);

    private final EmbeddedKafka kafka = EmbeddedKafka.start();
    /**
     * One request at a time: a partition that has just been created may refuse the first batch and take the second, and
     * then never takes the first, as its sequence is too low.
     */
    private final Producer<byte[], byte[]> producer = new KafkaProducer<>(
            Map.of("bootstrap.servers", kafka.bootstrapServers(), "max.in.flight.requests.per.connection", 1),
            new ByteArraySerializer(),
            new ByteArraySerializer());

    private final AtomicInteger names = new AtomicInteger();

    /** What the tool said and how it ended. */
    record Told(int exit, String out, String err) {

        List<String> lines() {
            return out.lines().toList();
        }

        String summary() {
            return lines().get(lines().size() - 1);
        }
    }

    String bootstrap() {
        return kafka.bootstrapServers();
    }

    /** A topic that no other test has. */
    String topic(String name, int partitions) {
        return topic(name, partitions, Map.of());
    }

    String topic(String name, int partitions, Map<String, String> config) {
        String topic = name + "-" + names.incrementAndGet();
        kafka.createTopic(topic, partitions, config);
        return topic;
    }

    /** A topic of one partition with exactly this name. */
    void create(String topic, Map<String, String> config) {
        kafka.createTopic(topic, 1, config);
    }

    void createAgain(String topic, int partitions) {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap()))) {
            admin.deleteTopics(List.of(topic)).all().get();
        } catch (InterruptedException | ExecutionException e) {
            throw new AssertionError(e);
        }
        kafka.createTopic(topic, partitions);
    }

    Set<String> topics() {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap()))) {
            return admin.listTopics().names().get();
        } catch (InterruptedException | ExecutionException e) {
            throw new AssertionError(e);
        }
    }

    /** A dead letter as the framework writes it, to which a test can add. */
    static ProducerRecord<byte[], byte[]> letter(String topic, String origin, int partition, long offset) {
        ProducerRecord<byte[], byte[]> letter =
                new ProducerRecord<>(topic, 0, bytes("key-" + offset), bytes("value-" + offset));
        header(letter, RecordCopy.ORIGIN_TOPIC, origin);
        header(letter, RecordCopy.ORIGIN_PARTITION, Integer.toString(partition));
        header(letter, RecordCopy.ORIGIN_OFFSET, Long.toString(offset));
        header(letter, RecordCopy.ORIGIN_TIMESTAMP, "1790000000000");
        header(letter, RecordCopy.GROUP, "payments");
        header(letter, RecordCopy.ATTEMPTS, "5");
        header(letter, RecordCopy.FAILURE, "java.io.IOException");
        header(letter, RecordCopy.REASON, "gateway down");
        header(letter, RecordCopy.COPIED_AT, Long.toString(1_790_000_100_000L + offset * 1000));
        return letter;
    }

    /** Sets a header, in place of one that is there. */
    static ProducerRecord<byte[], byte[]> header(ProducerRecord<byte[], byte[]> letter, String name, String value) {
        letter.headers().remove(name).add(name, bytes(value));
        return letter;
    }

    void send(ProducerRecord<byte[], byte[]> record) {
        await(producer.send(record));
    }

    private static void await(Future<RecordMetadata> report) {
        try {
            assertThat(report.get().hasOffset()).isTrue();
        } catch (InterruptedException | ExecutionException e) {
            throw new AssertionError(e);
        }
    }

    /** Sends letters that differ in their offset, 0 to n - 1, of one origin partition. */
    void sendLetters(String topic, String origin, int n) {
        sendLetters(topic, 1, origin, n);
    }

    /** The same, to several partitions in turn. */
    void sendLetters(String topic, int partitions, String origin, int n) {
        List<Future<RecordMetadata>> reports = new ArrayList<>();
        for (int offset = 0; offset < n; offset++) {
            ProducerRecord<byte[], byte[]> letter = letter(topic, origin, 0, offset);
            reports.add(producer.send(
                    new ProducerRecord<>(topic, offset % partitions, letter.key(), letter.value(), letter.headers())));
        }
        reports.forEach(ToolKafka::await);
    }

    /** Everything that is on a topic, without what was aborted. */
    List<ConsumerRecord<byte[], byte[]>> records(String topic) {
        Map<String, Object> config = Map.of("bootstrap.servers", bootstrap(), "isolation.level", "read_committed");
        List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
        try (var consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = consumer.partitionsFor(topic).stream()
                    .map(info -> new TopicPartition(info.topic(), info.partition()))
                    .toList();
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            long deadline = System.nanoTime() + READ_TIMEOUT.toNanos();
            while (partitions.stream().anyMatch(p -> consumer.position(p) < ends.get(p))) {
                assertThat(System.nanoTime() - deadline).as("%s is read", topic).isNegative();
                consumer.poll(Duration.ofMillis(200)).forEach(records::add);
            }
        }
        return records;
    }

    /** The end of a topic's log, with what is not committed. */
    long end(String topic) {
        TopicPartition partition = new TopicPartition(topic, 0);
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap()))) {
            return admin.listOffsets(Map.of(partition, OffsetSpec.latest()))
                    .partitionResult(partition)
                    .get()
                    .offset();
        } catch (InterruptedException | ExecutionException e) {
            throw new AssertionError(e);
        }
    }

    List<String> values(String topic) {
        return records(topic).stream().map(record -> text(record.value())).toList();
    }

    /** Calls the tool, with nobody to answer. */
    Told tool(String command, String topic, String... arguments) {
        return tool(Reader.nullReader(), false, command, topic, arguments);
    }

    /** Calls the tool at a terminal at which somebody types this. */
    Told toolAnswered(String answer, String command, String topic, String... arguments) {
        return tool(new StringReader(answer), true, command, topic, arguments);
    }

    /** Calls the tool at a terminal at which somebody does something else, and then types a yes. */
    Told toolAgreedAfter(Runnable something, String command, String topic, String... arguments) {
        Reader answer = new StringReader("y\n") {
            @Override
            public int read(char[] buffer, int from, int length) throws IOException {
                something.run();
                return super.read(buffer, from, length);
            }
        };
        return tool(answer, true, command, topic, arguments);
    }

    private Told tool(Reader answer, boolean asks, String command, String topic, String... arguments) {
        List<String> all = new ArrayList<>();
        if (asks) {
            all.add("--asks");
        }
        all.addAll(List.of(command, "--bootstrap=" + bootstrap(), "--topic=" + topic));
        all.addAll(Arrays.asList(arguments));
        return call(answer, all.toArray(String[]::new));
    }

    /** Calls the tool with these arguments alone. */
    static Told call(String... arguments) {
        return call(Reader.nullReader(), arguments);
    }

    private static Told call(Reader answer, String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine line =
                DeadLettersMain.commandLine(answer).setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
        int exit = line.execute(arguments);
        return new Told(exit, out.toString(), err.toString());
    }

    static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    static String text(byte[] bytes) {
        return bytes == null ? null : new String(bytes, UTF_8);
    }

    @Override
    public void close() {
        producer.close();
        kafka.close();
    }
}
