package io.settlestream.conformance.clients;

import java.util.Map;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;

/** How the members of a group share partitions. */
enum Protocol {
    RANGE(classic(RangeAssignor.class)),
    ROUND_ROBIN(classic(RoundRobinAssignor.class)),
    COOPERATIVE(classic(CooperativeStickyAssignor.class)),
    /** The members leave it to the coordinator. */
    CONSUMER(Map.of("group.protocol", "consumer")),
    CONSUMER_RANGE(Map.of("group.protocol", "consumer", "group.remote.assignor", "range"));

    private final Map<String, Object> config;

    Protocol(Map<String, Object> config) {
        this.config = config;
    }

    Map<String, Object> config() {
        return config;
    }

    /** Whether members keep what stays theirs while the rest changes hands. */
    boolean stepwise() {
        return this != RANGE && this != ROUND_ROBIN;
    }

    private static Map<String, Object> classic(Class<?> assignor) {
        return Map.of(
                "group.protocol",
                "classic",
                "partition.assignment.strategy",
                assignor.getName(),
                "heartbeat.interval.ms",
                100,
                "session.timeout.ms",
                10_000);
    }
}
