package io.settlestream.examples.payouts.demo;

import io.settlestream.embedded.EmbeddedKafka;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.jspecify.annotations.Nullable;

/** The Kafka under the demo, seen through Kafka's own admin client. */
final class Cluster implements AutoCloseable {

    /** What the service writes its confirmations to. */
    static final String CONFIRMATIONS = "payouts.done";

    private static final List<String> TOPICS = List.of("payouts", CONFIRMATIONS, "page-views", "statements");

    private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(30);

    private final @Nullable EmbeddedKafka embedded;
    private final String bootstrap;
    private final Admin admin;

    /** Where each topic ended when the run began. */
    private final Map<TopicPartition, Long> starts = new HashMap<>();

    private Cluster(@Nullable EmbeddedKafka embedded, String bootstrap) {
        this.embedded = embedded;
        this.bootstrap = bootstrap;
        this.admin = Admin.create(Map.of(
                "bootstrap.servers",
                bootstrap,
                "client.id",
                "demo-admin",
                "default.api.timeout.ms",
                Long.toString(ANSWER_TIMEOUT.toMillis())));
    }

    static Cluster embedded() {
        EmbeddedKafka kafka = EmbeddedKafka.start();
        return new Cluster(kafka, kafka.bootstrapServers());
    }

    static Cluster existing(String bootstrap) {
        return new Cluster(null, bootstrap);
    }

    String bootstrap() {
        return bootstrap;
    }

    /** Whether the cluster goes when the run ends. */
    boolean temporary() {
        return embedded != null;
    }

    /**
     * The shortest session a member may have here: the embedded Kafka allows less than Kafka's default for
     * {@code group.min.session.timeout.ms}.
     *
     * <p>A member that is killed holds its partitions until its session is over. A {@code group.instance.id} would hand
     * them to its successor at once, but would also leave them with members that leave for good. So the demo takes a
     * short session, long enough for a busy machine.
     */
    Duration sessionTimeout() {
        return temporary() ? Duration.ofSeconds(3) : Duration.ofSeconds(6);
    }

    /**
     * Creates the topics that are missing, and notes where the others end: a run begins there.
     *
     * @return the topics that were there
     */
    List<String> prepare(int partitions, Groups groups) {
        List<String> existing =
                TOPICS.stream().filter(topic -> !created(topic, partitions)).toList();
        for (String topic : TOPICS) {
            starts.putAll(ends(topic));
        }
        for (Groups.Reading reading : groups.tracked()) {
            beginAtStart(reading);
        }
        return existing;
    }

    private boolean created(String topic, int partitions) {
        try {
            admin.createTopics(List.of(new NewTopic(topic, Optional.of(partitions), Optional.empty())))
                    .all()
                    .get(ANSWER_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
            return true;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof TopicExistsException) {
                return false;
            }
            throw failed("create topic " + topic, e);
        } catch (InterruptedException | TimeoutException e) {
            throw failed("create topic " + topic, e);
        }
    }

    /** A new group reads a topic from its oldest record on; it must not find what earlier runs wrote. */
    private void beginAtStart(Groups.Reading reading) {
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        starts.forEach((partition, start) -> {
            if (partition.topic().equals(reading.topic()) && start > 0) {
                offsets.put(partition, new OffsetAndMetadata(start));
            }
        });
        if (!offsets.isEmpty()) {
            answer(
                    "commit where group " + reading.group() + " begins",
                    admin.alterConsumerGroupOffsets(reading.group(), offsets).all());
        }
    }

    /** Where the partitions of a topic ended when the run began. */
    Map<TopicPartition, Long> starts(String topic) {
        Map<TopicPartition, Long> of = new HashMap<>(starts);
        of.keySet().removeIf(partition -> !partition.topic().equals(topic));
        return of;
    }

    /** Where the partitions of a topic end. */
    Map<TopicPartition, Long> ends(String topic) {
        Map<TopicPartition, OffsetSpec> latest = new HashMap<>();
        for (int partition = 0; partition < partitionsOf(topic); partition++) {
            latest.put(new TopicPartition(topic, partition), OffsetSpec.latest());
        }
        Map<TopicPartition, Long> ends = new HashMap<>();
        answer("list the ends of topic " + topic, admin.listOffsets(latest).all())
                .forEach((partition, end) -> ends.put(partition, end.offset()));
        return ends;
    }

    private int partitionsOf(String topic) {
        int known = starts(topic).size();
        return known > 0 ? known : describedPartitionsOf(topic);
    }

    /** A topic that was just created may not be known to the node that is asked; it will be. */
    private int describedPartitionsOf(String topic) {
        long deadline = System.nanoTime() + ANSWER_TIMEOUT.toNanos();
        while (true) {
            try {
                return admin
                        .describeTopics(List.of(topic))
                        .allTopicNames()
                        .get(ANSWER_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)
                        .values()
                        .stream()
                        .mapToInt(description -> description.partitions().size())
                        .sum();
            } catch (ExecutionException e) {
                if (!(e.getCause() instanceof UnknownTopicOrPartitionException) || System.nanoTime() - deadline > 0) {
                    throw failed("describe topic " + topic, e);
                }
                Pause.of(Duration.ofMillis(50));
            } catch (InterruptedException | TimeoutException e) {
                throw failed("describe topic " + topic, e);
            }
        }
    }

    /** How far a group has come. */
    GroupPosition position(Groups.Reading reading) {
        // Ends after committed offsets: nothing can be committed past an end that is read later.
        Map<TopicPartition, OffsetAndMetadata> committed = answer(
                "list the committed offsets of group " + reading.group(),
                admin.listConsumerGroupOffsets(reading.group()).partitionsToOffsetAndMetadata());
        Map<Integer, GroupPosition.Partition> partitions = new HashMap<>();
        ends(reading.topic()).forEach((partition, end) -> {
            long start = starts.getOrDefault(partition, 0L);
            OffsetAndMetadata at = committed.get(partition);
            partitions.put(
                    partition.partition(), new GroupPosition.Partition(start, at == null ? start : at.offset(), end));
        });
        return new GroupPosition(reading, partitions);
    }

    private <T> T answer(String what, KafkaFuture<T> future) {
        try {
            return future.get(ANSWER_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException | InterruptedException | TimeoutException e) {
            throw failed(what, e);
        }
    }

    private DemoException failed(String what, Exception e) {
        if (e instanceof InterruptedException) {
            Thread.currentThread().interrupt();
        }
        Throwable cause = e instanceof ExecutionException && e.getCause() != null ? e.getCause() : e;
        return new DemoException("Kafka at %s did not %s: %s".formatted(bootstrap, what, cause), cause);
    }

    @Override
    public void close() {
        admin.close(Duration.ofSeconds(1));
        if (embedded != null) {
            embedded.close();
        }
    }
}
