package io.settlestream.internal.config;

import java.time.Duration;
import java.util.Map;

/**
 * A subscription's consumer: its properties, and those of them that the framework lives by.
 *
 * @param properties what the client is made with, values in the types that Kafka parses them to
 * @param autoCommitInterval how often positions are committed in the background; not negative, 0 is as often as possible
 * @param maxPollInterval how long the member may stay away from a poll
 * @param maxPollRecords how many records one poll returns at most
 */
public record ConsumerSettings(
        Map<String, Object> properties, Duration autoCommitInterval, Duration maxPollInterval, int maxPollRecords) {

    /** Names the properties only: their values may be secret. */
    @Override
    public String toString() {
        return "ConsumerSettings" + properties.keySet();
    }
}
