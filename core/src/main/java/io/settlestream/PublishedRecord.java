package io.settlestream;

/**
 * Where Kafka put a published record.
 *
 * @param topic the topic
 * @param partition the partition
 * @param offset the record's offset, or -1 if the producer's {@code acks} is 0
 * @since 0.1.0
 */
public record PublishedRecord(String topic, int partition, long offset) {}
