package io.settlestream.it;

import io.settlestream.kafka.KafkaTopic;
import java.util.Map;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;

/** The ways in which members of a group agree on who reads what. */
enum GroupProtocol {
    /** Everybody gives up everything in each rebalance. */
    CLASSIC_EAGER(Map.of(
            "group.protocol",
            "classic",
            "heartbeat.interval.ms",
            "100",
            "partition.assignment.strategy",
            RangeAssignor.class.getName())),
    /** Members give up what moves. */
    CLASSIC_COOPERATIVE(Map.of(
            "group.protocol",
            "classic",
            "heartbeat.interval.ms",
            "100",
            "partition.assignment.strategy",
            CooperativeStickyAssignor.class.getName())),
    /** The broker says what moves. */
    CONSUMER(Map.of("group.protocol", "consumer"));

    private final Map<String, String> properties;

    GroupProtocol(Map<String, String> properties) {
        this.properties = properties;
    }

    KafkaTopic apply(KafkaTopic topic) {
        KafkaTopic result = topic;
        for (var property : properties.entrySet()) {
            result = result.config(property.getKey(), property.getValue());
        }
        return result;
    }

    boolean movesAll() {
        return this == CLASSIC_EAGER;
    }
}
