package io.settlestream.internal.config;

import java.time.Duration;
import java.util.Map;

/**
 * A broker's producer: its properties, and those of them that the framework lives by.
 *
 * @param properties what the client is made with, values in the types that Kafka parses them to
 * @param bufferMemory how many bytes of records wait in the client at most
 * @param maxRequestSize how many bytes one record may have at most
 * @param maxBlock how long a send waits for metadata and room at most
 */
public record ProducerSettings(
        Map<String, Object> properties, long bufferMemory, int maxRequestSize, Duration maxBlock) {

    /** Names the properties only: their values may be secret. */
    @Override
    public String toString() {
        return "ProducerSettings" + properties.keySet();
    }
}
