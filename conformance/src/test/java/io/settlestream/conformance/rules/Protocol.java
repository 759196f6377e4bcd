package io.settlestream.conformance.rules;

import io.settlestream.kafka.KafkaSource;
import java.util.Map;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;

/** The ways in which the members of a group agree on who reads what. */
enum Protocol {
    /** Everybody gives up everything in each rebalance. */
    EAGER(classic(RangeAssignor.class)),
    /** Members give up what moves. */
    COOPERATIVE(classic(CooperativeStickyAssignor.class)),
    /** The broker says what moves. */
    CONSUMER(Map.of("group.protocol", "consumer"));

    @SuppressWarnings("ImmutableEnumChecker") // made by Map.of
    private final Map<String, String> properties;

    Protocol(Map<String, String> properties) {
        this.properties = properties;
    }

    private static Map<String, String> classic(Class<?> assignor) {
        return Map.of(
                "group.protocol",
                "classic",
                "heartbeat.interval.ms",
                "100",
                "partition.assignment.strategy",
                assignor.getName());
    }

    <S extends KafkaSource<S>> S apply(S source) {
        S result = source;
        for (Map.Entry<String, String> property : properties.entrySet()) {
            result = result.config(property.getKey(), property.getValue());
        }
        return result;
    }
}
