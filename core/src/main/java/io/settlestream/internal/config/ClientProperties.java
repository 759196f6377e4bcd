package io.settlestream.internal.config;

import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaPartitions;
import io.settlestream.kafka.KafkaSource;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.kafka.KafkaTopics;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Turns a broker and a source into the properties of Kafka's clients. Mistakes are added to a report, and the rest goes
 * on with defaults, so that one look finds them all; a caller with problems must not use the settings. Does no I/O.
 *
 * <p>From the weakest to the strongest: defaults of the framework, {@link KafkaBroker#config}, then
 * {@link KafkaSource#config} or {@link KafkaBroker#producerConfig}, then what the framework owns.
 */
public final class ClientProperties {

    /** Ours instead of the client's five minutes: a missing topic is joined this long after it appears at the latest. */
    private static final long METADATA_MAX_AGE_MS = 30_000;

    private static final Set<Client> ALL_CLIENTS = EnumSet.allOf(Client.class);

    /** What the framework itself goes by, so that a value must be known before the client is made. */
    private static final List<String> READ_BY_US = List.of(
            ConsumerConfig.AUTO_COMMIT_INTERVAL_MS_CONFIG,
            ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG,
            ConsumerConfig.MAX_POLL_RECORDS_CONFIG,
            ConsumerConfig.METADATA_MAX_AGE_CONFIG,
            ConsumerConfig.ISOLATION_LEVEL_CONFIG,
            ConsumerConfig.GROUP_PROTOCOL_CONFIG,
            ProducerConfig.ACKS_CONFIG,
            ProducerConfig.BUFFER_MEMORY_CONFIG,
            ProducerConfig.MAX_REQUEST_SIZE_CONFIG,
            ProducerConfig.MAX_BLOCK_MS_CONFIG);

    private ClientProperties() {}

    /**
     * The consumer of a subscription.
     *
     * @param commit the subscription's mode, by which {@code enable.auto.commit} is judged
     * @param group the subscription's own or the broker's default; none if it is in none
     * @param clientId what the client is called unless the user calls it something else
     * @param subscription the subscription's name, for the report
     * @param problems the report
     */
    public static ConsumerSettings consumer(
            KafkaBroker broker,
            KafkaSource<?> source,
            Commit commit,
            Optional<String> group,
            String clientId,
            String subscription,
            List<String> problems) {
        Report report = new Report(problems);
        String where = "subscription " + subscription;
        List<String> nodes = nodes(broker, report);
        source.topics()
                .forEach(topic -> KafkaNames.topicMistake(topic)
                        .ifPresent(mistake -> report.add(
                                where,
                                "the topic name '" + PropertyValue.oneLine(topic) + "' " + mistake
                                        + ". Name a topic that Kafka can have.")));
        group.ifPresent(name -> KafkaNames.groupMistake(name)
                .ifPresent(mistake -> report.add(
                        where,
                        "the group name '" + PropertyValue.oneLine(name) + "' " + mistake + ". Name one with "
                                + type(source) + ".group or KafkaBroker.defaultGroup.")));

        Passthrough brokerWide = brokerWide(broker);
        Passthrough own =
                new Passthrough(where, type(source) + ".config", EnumSet.of(Client.CONSUMER), source.config());
        boolean placeholders = placeholders(brokerWide, own);
        checkEnableAutoCommit(where, List.of(brokerWide, own), commit, report);

        Map<String, Object> properties = new LinkedHashMap<>();
        properties.put(ConsumerConfig.CLIENT_ID_CONFIG, clientId);
        properties.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        properties.put(ConsumerConfig.METADATA_MAX_AGE_CONFIG, METADATA_MAX_AGE_MS);
        properties.putAll(plugins(label(broker), "KafkaBroker.pluginConfig", broker.pluginConfig(), report));
        properties.putAll(plugins(where, type(source) + ".pluginConfig", source.pluginConfig(), report));
        properties.putAll(brokerWide.check(Client.CONSUMER, placeholders, report));
        properties.putAll(own.check(Client.CONSUMER, placeholders, report));
        properties.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, nodes);
        group.ifPresent(name -> properties.put(ConsumerConfig.GROUP_ID_CONFIG, name));
        properties.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
        properties.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
        properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
        // Where to start is worked out by us; a consumer with a policy of its own could jump over trimmed records.
        properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
        properties.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);

        checkLiterals(where, properties, report);
        GroupProtocolRules.check(where, properties, report);
        if (report.isClean() && !placeholders) {
            CrossChecks.consumer(properties).ifPresent(mistake -> report.add(where, misfit(mistake)));
        }
        return new ConsumerSettings(
                Collections.unmodifiableMap(properties),
                Duration.ofMillis(number(Client.CONSUMER, ConsumerConfig.AUTO_COMMIT_INTERVAL_MS_CONFIG, properties)),
                Duration.ofMillis(number(Client.CONSUMER, ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG, properties)),
                (int) number(Client.CONSUMER, ConsumerConfig.MAX_POLL_RECORDS_CONFIG, properties));
    }

    /**
     * The producer that all publishing sites of a broker share.
     *
     * @param clientId what the client is called unless the user calls it something else
     * @param problems the report
     */
    public static ProducerSettings producer(KafkaBroker broker, String clientId, List<String> problems) {
        Report report = new Report(problems);
        String where = label(broker);
        List<String> nodes = nodes(broker, report);

        Passthrough brokerWide = brokerWide(broker);
        Passthrough own = new Passthrough(
                where, "KafkaBroker.producerConfig", EnumSet.of(Client.PRODUCER), broker.producerConfig());
        boolean placeholders = placeholders(brokerWide, own);

        Map<String, Object> properties = new LinkedHashMap<>();
        properties.put(ProducerConfig.CLIENT_ID_CONFIG, clientId);
        properties.putAll(plugins(where, "KafkaBroker.pluginConfig", broker.pluginConfig(), report));
        properties.putAll(brokerWide.check(Client.PRODUCER, placeholders, report));
        properties.putAll(own.check(Client.PRODUCER, placeholders, report));
        properties.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, nodes);
        properties.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
        properties.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);

        checkLiterals(where, properties, report);
        if (report.isClean() && !placeholders) {
            CrossChecks.producer(properties).ifPresent(mistake -> report.add(where, misfit(mistake)));
            checkDeliveryTimeout(where, properties, report);
        }
        return new ProducerSettings(
                Collections.unmodifiableMap(properties),
                number(Client.PRODUCER, ProducerConfig.BUFFER_MEMORY_CONFIG, properties),
                (int) number(Client.PRODUCER, ProducerConfig.MAX_REQUEST_SIZE_CONFIG, properties),
                Duration.ofMillis(number(Client.PRODUCER, ProducerConfig.MAX_BLOCK_MS_CONFIG, properties)));
    }

    /** What a source is called where the user makes it. */
    public static String type(KafkaSource<?> source) {
        return switch (source) {
            case KafkaTopic topic -> "KafkaTopic";
            case KafkaTopics topics -> "KafkaTopics";
            case KafkaPartitions partitions -> "KafkaPartitions";
        };
    }

    private static Passthrough brokerWide(KafkaBroker broker) {
        return new Passthrough(label(broker), "KafkaBroker.config", ALL_CLIENTS, broker.config());
    }

    private static String label(KafkaBroker broker) {
        return "broker " + PropertyValue.oneLine(broker.bootstrapServers().toString());
    }

    /** The broker's nodes one by one, however they were listed. */
    public static List<String> nodes(KafkaBroker broker) {
        return BootstrapServers.split(broker.bootstrapServers());
    }

    private static List<String> nodes(KafkaBroker broker, Report report) {
        List<String> nodes = nodes(broker);
        BootstrapServers.mistake(nodes).ifPresent(mistake -> report.add(label(broker), mistake + "."));
        return nodes;
    }

    private static boolean placeholders(Passthrough brokerWide, Passthrough own) {
        return brokerWide.properties().containsKey(Passthrough.CONFIG_PROVIDERS)
                || own.properties().containsKey(Passthrough.CONFIG_PROVIDERS);
    }

    private static void checkEnableAutoCommit(
            String where, List<Passthrough> passthroughs, Commit commit, Report report) {
        for (Passthrough passthrough : passthroughs) {
            Optional.ofNullable(passthrough.properties().get(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG))
                    .flatMap(value -> OwnedProperties.commitRefusal(value, commit))
                    .ifPresent(refusal -> report.add(
                            where,
                            passthrough.call() + " sets " + ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG + ". " + refusal));
        }
    }

    /** Plug-ins' properties are not checked, but they are no back door to those that are. */
    private static Map<String, Object> plugins(
            String where, String call, Map<String, Object> properties, Report report) {
        properties.keySet().stream()
                .filter(property -> !Client.knowing(property).isEmpty())
                .forEach(property -> report.add(
                        where,
                        call + " sets " + property + ". Kafka's own clients know it: set it with "
                                + call.replace("pluginConfig", "config") + ", where it is checked."));
        return properties;
    }

    private static void checkLiterals(String where, Map<String, Object> properties, Report report) {
        for (String property : READ_BY_US) {
            if (Passthrough.isPlaceholder(properties.getOrDefault(property, ""))) {
                report.add(
                        where,
                        property
                                + " is left to a config provider. The framework goes by it too, and must know it before"
                                + " the client is made: give the value itself.");
            }
        }
    }

    /** Checked by Kafka no earlier than when a producer is made, and only if the user has set it. */
    private static void checkDeliveryTimeout(String where, Map<String, Object> properties, Report report) {
        String delivery = ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG;
        String linger = ProducerConfig.LINGER_MS_CONFIG;
        String request = ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG;
        long least = Math.min(
                number(Client.PRODUCER, linger, properties) + number(Client.PRODUCER, request, properties),
                Integer.MAX_VALUE);
        if (properties.containsKey(delivery) && number(Client.PRODUCER, delivery, properties) < least) {
            report.add(
                    where,
                    delivery + " is below " + linger + " + " + request + ", " + least
                            + ". Kafka's producer does not start so: raise it, or lower the others.");
        }
    }

    private static String misfit(String mistake) {
        return "properties that do not fit together: " + mistake + " Change one of them.";
    }

    /** A property's value, or the client's default where it is not set or not known yet. */
    static long number(Client client, String property, Map<String, Object> properties) {
        Object value = properties.get(property);
        Object number = value instanceof Number ? value : client.defaultOf(property);
        return number instanceof Number known ? known.longValue() : 0;
    }
}
