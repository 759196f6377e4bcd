package io.settlestream.testing.internal.kafka;

import io.settlestream.internal.config.NearestName;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.InvalidConfigurationException;

/**
 * The configuration of a topic as far as clients see it. Names of other topic settings are taken and have no effect, as
 * they say how a broker stores the topic; a name that Kafka does not know is refused.
 *
 * @param maxMessageBytes the largest batch
 * @param compacted whether {@code cleanup.policy} has {@code compact}
 * @param logAppendTime whether the broker gives records their timestamp
 * @param timestampBeforeMaxMs how far in the past a producer's timestamp may be
 * @param timestampAfterMaxMs how far in the future
 * @param minCompactionLagMs how long a record is safe from compaction
 * @param deleteRetentionMs how long a tombstone outlives the first compaction that met it
 */
record TopicSettings(
        int maxMessageBytes,
        boolean compacted,
        boolean logAppendTime,
        long timestampBeforeMaxMs,
        long timestampAfterMaxMs,
        long minCompactionLagMs,
        long deleteRetentionMs) {

    /** Those that mean something here. */
    private static final String MAX_MESSAGE_BYTES = TopicConfig.MAX_MESSAGE_BYTES_CONFIG;

    private static final String TIMESTAMP_TYPE = TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG;
    private static final String TIMESTAMP_BEFORE = TopicConfig.MESSAGE_TIMESTAMP_BEFORE_MAX_MS_CONFIG;
    private static final String TIMESTAMP_AFTER = TopicConfig.MESSAGE_TIMESTAMP_AFTER_MAX_MS_CONFIG;

    /** All names of topic settings. {@link TopicConfig} holds them as constants and offers no list. */
    private static final Set<String> NAMES = Set.of(
            MAX_MESSAGE_BYTES,
            TIMESTAMP_TYPE,
            TIMESTAMP_BEFORE,
            TIMESTAMP_AFTER,
            TopicConfig.CLEANUP_POLICY_CONFIG,
            TopicConfig.MIN_COMPACTION_LAG_MS_CONFIG,
            TopicConfig.DELETE_RETENTION_MS_CONFIG,
            TopicConfig.SEGMENT_BYTES_CONFIG,
            TopicConfig.SEGMENT_MS_CONFIG,
            TopicConfig.SEGMENT_JITTER_MS_CONFIG,
            TopicConfig.SEGMENT_INDEX_BYTES_CONFIG,
            TopicConfig.FLUSH_MESSAGES_INTERVAL_CONFIG,
            TopicConfig.FLUSH_MS_CONFIG,
            TopicConfig.RETENTION_BYTES_CONFIG,
            TopicConfig.RETENTION_MS_CONFIG,
            TopicConfig.REMOTE_LOG_STORAGE_ENABLE_CONFIG,
            TopicConfig.LOCAL_LOG_RETENTION_MS_CONFIG,
            TopicConfig.LOCAL_LOG_RETENTION_BYTES_CONFIG,
            TopicConfig.REMOTE_LOG_COPY_DISABLE_CONFIG,
            TopicConfig.REMOTE_LOG_DELETE_ON_DISABLE_CONFIG,
            TopicConfig.INDEX_INTERVAL_BYTES_CONFIG,
            TopicConfig.FILE_DELETE_DELAY_MS_CONFIG,
            TopicConfig.MAX_COMPACTION_LAG_MS_CONFIG,
            TopicConfig.MIN_CLEANABLE_DIRTY_RATIO_CONFIG,
            TopicConfig.UNCLEAN_LEADER_ELECTION_ENABLE_CONFIG,
            TopicConfig.MIN_IN_SYNC_REPLICAS_CONFIG,
            TopicConfig.COMPRESSION_TYPE_CONFIG,
            TopicConfig.COMPRESSION_GZIP_LEVEL_CONFIG,
            TopicConfig.COMPRESSION_LZ4_LEVEL_CONFIG,
            TopicConfig.COMPRESSION_ZSTD_LEVEL_CONFIG,
            TopicConfig.PREALLOCATE_CONFIG);

    /**
     * Reads the settings of a new topic; what is not set has Kafka's default.
     *
     * @throws InvalidConfigurationException for a name that Kafka does not know, or a value it does not take
     */
    static TopicSettings of(String topic, Map<String, String> configs) {
        for (String name : configs.keySet()) {
            if (!NAMES.contains(name)) {
                throw new InvalidConfigurationException("Unknown topic config " + name + " for topic " + topic
                        + NearestName.of(name, NAMES)
                                .map(near -> ": did you mean " + near + "?")
                                .orElse("."));
            }
        }
        Reader values = new Reader(topic, configs);
        return new TopicSettings(
                (int) Math.min(Integer.MAX_VALUE, values.number(MAX_MESSAGE_BYTES, 1024 * 1024 + 12)),
                values.words(TopicConfig.CLEANUP_POLICY_CONFIG, "delete", "delete", "compact")
                        .contains("compact"),
                values.words(TIMESTAMP_TYPE, "CreateTime", "createtime", "logappendtime")
                        .contains("logappendtime"),
                values.number(TIMESTAMP_BEFORE, Long.MAX_VALUE),
                values.number(TIMESTAMP_AFTER, 3_600_000),
                values.number(TopicConfig.MIN_COMPACTION_LAG_MS_CONFIG, 0),
                values.number(TopicConfig.DELETE_RETENTION_MS_CONFIG, 86_400_000));
    }

    private record Reader(String topic, Map<String, String> configs) {

        long number(String name, long otherwise) {
            String value = configs.get(name);
            if (value == null) {
                return otherwise;
            }
            try {
                long number = Long.parseLong(value.strip());
                if (number < 0) {
                    throw invalid(name, value, "must be at least 0", null);
                }
                return number;
            } catch (NumberFormatException notANumber) {
                throw invalid(name, value, "is not a number", notANumber);
            }
        }

        List<String> words(String name, String otherwise, String... allowed) {
            String value = configs.getOrDefault(name, otherwise);
            List<String> words = Arrays.stream(value.toLowerCase(Locale.ROOT).split(",", -1))
                    .map(String::strip)
                    .toList();
            if (!Arrays.asList(allowed).containsAll(words)) {
                throw invalid(name, value, "must be of " + String.join(", ", allowed), null);
            }
            return words;
        }

        private InvalidConfigurationException invalid(
                String name, String value, String why, @org.jspecify.annotations.Nullable Throwable cause) {
            return new InvalidConfigurationException(
                    "Config " + name + "=" + value + " of topic " + topic + " " + why + ".", cause);
        }
    }
}
