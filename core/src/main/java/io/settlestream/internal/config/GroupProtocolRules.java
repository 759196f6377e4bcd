package io.settlestream.internal.config;

import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.GroupProtocol;

/** What may be set under which group protocol: the client throws for a property of the other one. */
final class GroupProtocolRules {

    private static final Map<String, String> CLASSIC_ONLY = classicOnly();

    private GroupProtocolRules() {}

    static void check(String where, Map<String, Object> properties, Report report) {
        Object protocol = properties.getOrDefault(ConsumerConfig.GROUP_PROTOCOL_CONFIG, GroupProtocol.CLASSIC.name());
        if (protocol.toString().equalsIgnoreCase(GroupProtocol.CONSUMER.name())) {
            CLASSIC_ONLY.forEach((property, instead) -> {
                if (properties.containsKey(property)) {
                    report.add(
                            where,
                            property + " is set, which the client refuses under group.protocol=consumer: there "
                                    + instead + ". Leave it out, or use group.protocol=classic.");
                }
            });
        } else {
            checkClassic(where, properties, report);
        }
        checkInstanceId(where, properties, report);
    }

    private static void checkClassic(String where, Map<String, Object> properties, Report report) {
        if (properties.containsKey(ConsumerConfig.GROUP_REMOTE_ASSIGNOR_CONFIG)) {
            report.add(
                    where,
                    "group.remote.assignor is set, which the client refuses under group.protocol=classic. Leave it out"
                            + " for partition.assignment.strategy, or use group.protocol=consumer.");
        }
        long heartbeat =
                ClientProperties.number(Client.CONSUMER, ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG, properties);
        long session = ClientProperties.number(Client.CONSUMER, ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG, properties);
        if (heartbeat >= session) {
            report.add(
                    where,
                    "heartbeat.interval.ms, " + heartbeat + ", is not below session.timeout.ms, " + session
                            + ": the member would be taken for dead between two heartbeats. Lower it, to a third at"
                            + " most.");
        }
    }

    /** Kafka holds the name of a static member to the rules of a topic's. */
    private static void checkInstanceId(String where, Map<String, Object> properties, Report report) {
        if (properties.get(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG) instanceof String id
                && !Passthrough.isPlaceholder(id)) {
            KafkaNames.topicMistake(id)
                    .ifPresent(mistake -> report.add(
                            where, "group.instance.id " + mistake + ". Kafka takes the characters of a topic's name."));
        }
    }

    private static Map<String, String> classicOnly() {
        Map<String, String> instead = new LinkedHashMap<>();
        instead.put(
                ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG,
                "the cluster decides it for the group (group.consumer.session.timeout.ms)");
        instead.put(
                ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG,
                "the cluster decides it for the group (group.consumer.heartbeat.interval.ms)");
        instead.put(
                ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG,
                "the cluster assigns the partitions (group.remote.assignor chooses how)");
        return instead;
    }
}
