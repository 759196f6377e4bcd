package io.settlestream.testing.internal.kafka;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * A producer's configuration, read by Kafka's own {@link ProducerConfig}, as far as it shows. Connections, security,
 * compression and metrics do not; their settings are checked and have no effect.
 */
record ProducerOptions(
        ProducerConfig config,
        String clientId,
        int acks,
        boolean idempotent,
        @Nullable String transactionalId,
        int transactionTimeoutMs,
        int maxRequestSize,
        long bufferMemory,
        int batchSize,
        long lingerNanos,
        long deliveryTimeoutMs,
        int retries,
        long retryBackoffMs,
        long retryBackoffMaxMs,
        int requestTimeoutMs,
        long maxBlockMs,
        long metadataMaxAgeMs,
        boolean ignoresKeys) {

    /**
     * Reads the configuration, with serializers for bytes and an address if it has none.
     *
     * @param number for the name of a producer without {@code client.id}; Kafka's own count is the JVM's and never begins
     *     again, so that no two runs would be the same
     * @throws ConfigException as {@code KafkaProducer} throws it
     */
    static ProducerConfig read(Map<String, Object> configs, long number) {
        Map<String, Object> complete = new HashMap<>(configs);
        if (!configs.containsKey(ProducerConfig.TRANSACTIONAL_ID_CONFIG)) {
            complete.putIfAbsent(ProducerConfig.CLIENT_ID_CONFIG, "producer-" + number);
        }
        complete.putIfAbsent(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
        complete.putIfAbsent(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
        complete.putIfAbsent(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, "in-process:9092");
        return new ProducerConfig(complete);
    }

    static ProducerOptions of(ProducerConfig config) {
        requireBytes(config, ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG);
        requireBytes(config, ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG);
        long lingerMs = Math.min(config.getLong(ProducerConfig.LINGER_MS_CONFIG), Integer.MAX_VALUE);
        return new ProducerOptions(
                config,
                config.getString(ProducerConfig.CLIENT_ID_CONFIG),
                Integer.parseInt(config.getString(ProducerConfig.ACKS_CONFIG)),
                config.getBoolean(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG),
                config.getString(ProducerConfig.TRANSACTIONAL_ID_CONFIG),
                config.getInt(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG),
                config.getInt(ProducerConfig.MAX_REQUEST_SIZE_CONFIG),
                config.getLong(ProducerConfig.BUFFER_MEMORY_CONFIG),
                Math.max(1, config.getInt(ProducerConfig.BATCH_SIZE_CONFIG)),
                TimeUnit.MILLISECONDS.toNanos(lingerMs),
                deliveryTimeoutMs(config, lingerMs),
                config.getInt(ProducerConfig.RETRIES_CONFIG),
                config.getLong(ProducerConfig.RETRY_BACKOFF_MS_CONFIG),
                config.getLong(ProducerConfig.RETRY_BACKOFF_MAX_MS_CONFIG),
                config.getInt(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG),
                config.getLong(ProducerConfig.MAX_BLOCK_MS_CONFIG),
                config.getLong(ProducerConfig.METADATA_MAX_AGE_CONFIG),
                config.getBoolean(ProducerConfig.PARTITIONER_IGNORE_KEYS_CONFIG));
    }

    String requireTransactionalId() {
        if (transactionalId == null) {
            throw new IllegalStateException("The producer has no transactional.id");
        }
        return transactionalId;
    }

    /** How long to wait before a request is sent again that was sent so many times. */
    long backoffNanos(int attempts) {
        double grown = (double) retryBackoffMs * Math.pow(2, attempts - 1.0);
        return TimeUnit.MILLISECONDS.toNanos(
                (long) Math.min(grown, (double) Math.max(retryBackoffMs, retryBackoffMaxMs)));
    }

    private static long deliveryTimeoutMs(ProducerConfig config, long lingerMs) {
        long set = config.getInt(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG);
        long least = Math.min(Integer.MAX_VALUE, lingerMs + config.getInt(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG));
        if (set >= least) {
            return set;
        }
        if (config.originals().containsKey(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG)) {
            throw new ConfigException(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG + " should be equal to or larger than "
                    + ProducerConfig.LINGER_MS_CONFIG + " + " + ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG);
        }
        return least;
    }

    private static void requireBytes(ProducerConfig config, String name) {
        Class<?> serializer = config.getClass(name);
        if (serializer != ByteArraySerializer.class) {
            throw new UnsupportedOperationException(
                    "The in-process Kafka takes bytes, and " + name + " is " + serializer.getName() + ": leave it out");
        }
    }
}
