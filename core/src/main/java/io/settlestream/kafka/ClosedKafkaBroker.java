package io.settlestream.kafka;

import java.util.List;

/**
 * What was left when a broker's clients were closed.
 *
 * @param bootstrapServers the broker's nodes
 * @param unflushedRecords how many published records Kafka had neither accepted nor refused when
 *     {@link KafkaBroker#flushTimeout} ended; 0 after a clean stop
 * @since 0.1.0
 */
public record ClosedKafkaBroker(List<String> bootstrapServers, int unflushedRecords) {}
