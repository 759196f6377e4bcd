package io.settlestream.testing.internal.kafka;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.GroupProtocol;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InvalidConfigurationException;
import org.apache.kafka.common.errors.InvalidGroupIdException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/**
 * What a consumer goes by, of its configuration.
 *
 * @param groupId null for a consumer that has none
 * @param autoCreateTopics only if it was asked for: tests should notice a topic that is missing
 */
record ConsumerSettings(
        String clientId,
        @Nullable String groupId,
        Optional<String> instanceId,
        GroupProtocol protocol,
        List<ConsumerPartitionAssignor> assignors,
        String remoteAssignor,
        Optional<String> rack,
        Duration sessionTimeout,
        Duration maxPollInterval,
        boolean autoCommit,
        Duration autoCommitInterval,
        boolean readCommitted,
        int maxPollRecords,
        int maxPartitionFetchBytes,
        int fetchMaxBytes,
        Reset reset,
        Duration apiTimeout,
        Duration retryBackoff,
        Duration metadataMaxAge,
        boolean autoCreateTopics) {

    /** Under {@code group.protocol=consumer} the coordinator has the say; this is its default. */
    private static final Duration GROUP_SESSION_TIMEOUT = Duration.ofSeconds(45);

    private static final String FAILED = "Failed to construct kafka consumer";

    /**
     * Reads a configuration.
     *
     * @param number for the name of a consumer without {@code client.id}; Kafka's own count is the JVM's and never begins
     *     anew, so that no run would be like the one before
     * @throws org.apache.kafka.common.config.ConfigException if Kafka's consumer would not start with it
     */
    static ConsumerSettings of(Map<String, ?> properties, long number) {
        Map<String, Object> all = new HashMap<>(properties);
        Object group = all.get(ConsumerConfig.GROUP_ID_CONFIG);
        all.putIfAbsent(
                ConsumerConfig.CLIENT_ID_CONFIG, (group == null ? "consumer-" : "consumer-" + group + "-") + number);
        all.putIfAbsent(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
        all.putIfAbsent(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
        ConsumerConfig config = new ConsumerConfig(all);
        if (!config.getList(ConsumerConfig.INTERCEPTOR_CLASSES_CONFIG).isEmpty()) {
            throw new UnsupportedOperationException(
                    ConsumerConfig.INTERCEPTOR_CLASSES_CONFIG + " of consumers are not part of the in-process Kafka");
        }
        String groupId = config.getString(ConsumerConfig.GROUP_ID_CONFIG);
        GroupProtocol protocol = GroupProtocol.of(config.getString(ConsumerConfig.GROUP_PROTOCOL_CONFIG));
        boolean classic = protocol == GroupProtocol.CLASSIC;
        check(config, groupId, classic);
        String remoteAssignor = config.getString(ConsumerConfig.GROUP_REMOTE_ASSIGNOR_CONFIG);
        return new ConsumerSettings(
                config.getString(ConsumerConfig.CLIENT_ID_CONFIG),
                groupId,
                Optional.ofNullable(config.getString(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG)),
                protocol,
                classic && groupId != null
                        ? ConsumerPartitionAssignor.getAssignorInstances(
                                config.getList(ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG),
                                config.originals(Map.of(
                                        ConsumerConfig.CLIENT_ID_CONFIG,
                                        config.getString(ConsumerConfig.CLIENT_ID_CONFIG))))
                        : List.of(),
                remoteAssignor == null ? "" : remoteAssignor,
                Optional.ofNullable(config.getString(ConsumerConfig.CLIENT_RACK_CONFIG))
                        .filter(rack -> !rack.isEmpty()),
                classic ? millis(config.getInt(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG)) : GROUP_SESSION_TIMEOUT,
                millis(config.getInt(ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG)),
                autoCommit(config, groupId),
                millis(config.getInt(ConsumerConfig.AUTO_COMMIT_INTERVAL_MS_CONFIG)),
                config.getString(ConsumerConfig.ISOLATION_LEVEL_CONFIG)
                        .toLowerCase(Locale.ROOT)
                        .equals("read_committed"),
                config.getInt(ConsumerConfig.MAX_POLL_RECORDS_CONFIG),
                config.getInt(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG),
                config.getInt(ConsumerConfig.FETCH_MAX_BYTES_CONFIG),
                Reset.of(config.getString(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG)),
                millis(config.getInt(ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG)),
                millis(config.getLong(ConsumerConfig.RETRY_BACKOFF_MS_CONFIG)),
                millis(config.getLong(ConsumerConfig.METADATA_MAX_AGE_CONFIG)),
                config.originals().containsKey(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG)
                        && config.getBoolean(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG));
    }

    /** What Kafka's consumer finds wrong only when it is made. */
    private static void check(ConsumerConfig config, @Nullable String groupId, boolean classic) {
        if (groupId != null && groupId.isBlank()) {
            throw new KafkaException(
                    FAILED,
                    new InvalidGroupIdException(
                            "The configured group.id should not be an empty string or whitespace."));
        }
        if (classic
                && groupId != null
                && config.getInt(ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG)
                        >= config.getInt(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG)) {
            throw new KafkaException(
                    FAILED, new IllegalArgumentException("Heartbeat must be set lower than the session timeout"));
        }
    }

    private static boolean autoCommit(ConsumerConfig config, @Nullable String groupId) {
        boolean wanted = config.getBoolean(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG);
        if (groupId != null || !wanted) {
            return wanted;
        }
        if (config.originals().containsKey(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG)) {
            throw new InvalidConfigurationException(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG
                    + " cannot be set to true when default group id (null) is used.");
        }
        return false;
    }

    private static Duration millis(long millis) {
        return Duration.ofMillis(millis);
    }
}
