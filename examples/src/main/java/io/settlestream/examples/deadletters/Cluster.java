package io.settlestream.examples.deadletters;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** The Kafka that the tool works on, through Kafka's own clients. For one thread. */
final class Cluster implements AutoCloseable {

    /** How long Kafka may take to answer, unless a property says otherwise: short, as somebody waits at a terminal. */
    private static final Map<String, String> TIMEOUTS =
            Map.of("default.api.timeout.ms", "15000", "request.timeout.ms", "10000");

    /** Longer than any of Kafka's answers is waited for; a client that keeps its promises never needs it. */
    private static final Duration LAST_RESORT = Duration.ofMinutes(5);

    /** For the producer: it may have to wait until the transaction of a killed run is aborted. */
    private static final int WRITE_TIMEOUT_MS = 30_000;

    private static final Duration CREATE_TIMEOUT = Duration.ofSeconds(30);
    private static final Duration CREATE_PAUSE = Duration.ofMillis(50);

    private final String bootstrap;
    private final Map<String, Object> properties;
    private final Admin admin;

    /**
     * Nothing is asked of Kafka yet.
     *
     * @param config properties for every client, such as those of TLS and SASL
     */
    Cluster(String bootstrap, Map<String, String> config) {
        this.bootstrap = bootstrap;
        properties = new HashMap<>(TIMEOUTS);
        properties.putAll(config);
        properties.put("bootstrap.servers", bootstrap);
        properties.put("client.id", "dead-letters");
        try {
            admin = Admin.create(properties);
        } catch (KafkaException e) {
            Throwable cause = e.getCause() instanceof ConfigException ? e.getCause() : e;
            throw new ToolException(
                    "Kafka at %s cannot be connected to: %s. See --bootstrap and --command-config."
                            .formatted(bootstrap, cause.getMessage()),
                    e);
        }
    }

    /**
     * A topic that has to be there.
     *
     * @throws ToolException if it is not, or Kafka does not say
     */
    TopicDescription topic(String name) {
        return find(name)
                .orElseThrow(() -> new ToolException(
                        "There is no topic %s at %s: nothing was dead-lettered there yet, or --topic is not its name."
                                .formatted(Printable.line(name, 249), bootstrap),
                        null));
    }

    /** A topic, if it exists. */
    Optional<TopicDescription> find(String name) {
        try {
            return Optional.ofNullable(answer(
                            "describe topic " + name,
                            admin.describeTopics(List.of(name)).allTopicNames())
                    .get(name));
        } catch (ToolException e) {
            if (e.getCause() instanceof UnknownTopicOrPartitionException
                    || e.getCause() instanceof InvalidTopicException) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /** Creates a topic of one partition that keeps the last record of each key; or it is there already. */
    TopicDescription createCompacted(String name) {
        NewTopic topic =
                new NewTopic(name, Optional.of(1), Optional.empty()).configs(Map.of("cleanup.policy", "compact"));
        try {
            answer("create topic " + name, admin.createTopics(List.of(topic)).all());
        } catch (ToolException e) {
            if (!(e.getCause() instanceof TopicExistsException)) {
                throw e;
            }
        }
        // The node that is asked may not know of it yet.
        long deadline = System.nanoTime() + CREATE_TIMEOUT.toNanos();
        Optional<TopicDescription> created = find(name);
        while (created.isEmpty() && System.nanoTime() - deadline < 0) {
            LockSupport.parkNanos(CREATE_PAUSE.toNanos());
            created = find(name);
        }
        return created.orElseThrow(() -> new ToolException(
                "Topic %s was created at %s and is not there after %d s; call again."
                        .formatted(name, bootstrap, CREATE_TIMEOUT.toSeconds()),
                null));
    }

    /** The value of one of a topic's settings. */
    String setting(String topic, String name) {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        Map<ConfigResource, Config> settings = answer(
                "describe the settings of topic " + topic,
                admin.describeConfigs(List.of(resource)).all());
        return Objects.requireNonNull(settings.get(resource), topic).get(name).value();
    }

    /** Reads records of committed transactions. To be closed by the caller. */
    LogReader reader() {
        return new LogReader(new KafkaConsumer<>(
                with(Map.of(
                        "enable.auto.commit",
                        false,
                        "isolation.level",
                        "read_committed",
                        "auto.offset.reset",
                        "earliest",
                        "allow.auto.create.topics",
                        false)),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer()));
    }

    /** Writes in transactions. To be closed by the caller. */
    Producer<byte[], byte[]> writer(String transactionalId) {
        return new KafkaProducer<>(
                with(Map.of(
                        "transactional.id",
                        transactionalId,
                        "enable.idempotence",
                        true,
                        "acks",
                        "all",
                        "max.block.ms",
                        WRITE_TIMEOUT_MS,
                        "delivery.timeout.ms",
                        WRITE_TIMEOUT_MS,
                        // How large a record may be is for the topic to say, not for this client.
                        "buffer.memory",
                        64L << 20,
                        "max.request.size",
                        64 << 20)),
                new ByteArraySerializer(),
                new ByteArraySerializer());
    }

    private Map<String, Object> with(Map<String, Object> more) {
        Map<String, Object> all = new HashMap<>(properties);
        all.putAll(more);
        return all;
    }

    private <T> T answer(String what, KafkaFuture<T> future) {
        try {
            return future.get(LAST_RESORT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ToolException("Interrupted while Kafka at %s was asked to %s.".formatted(bootstrap, what), e);
        } catch (TimeoutException e) {
            throw silent(e);
        } catch (ExecutionException e) {
            Throwable cause = e.getCause();
            if (cause instanceof org.apache.kafka.common.errors.TimeoutException) {
                throw silent(cause);
            }
            throw new ToolException(
                    "Kafka at %s did not %s: %s"
                            .formatted(bootstrap, what, cause instanceof ApiException ? cause.getMessage() : cause),
                    cause);
        }
    }

    private ToolException silent(Throwable cause) {
        return new ToolException(
                ("Kafka at %s does not answer within %s ms. Is it running, and is --bootstrap right? If it wants TLS or a"
                                + " password, name a file with the client's properties in --command-config.")
                        .formatted(bootstrap, properties.get("default.api.timeout.ms")),
                cause);
    }

    @Override
    public void close() {
        admin.close(Duration.ofSeconds(1));
    }
}
