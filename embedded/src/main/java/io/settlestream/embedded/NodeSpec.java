package io.settlestream.embedded;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * What one node needs to know to start, always the same over its restarts, and the broker configuration made from it.
 *
 * @param id the node's id, and its index in {@code addresses}
 * @param clusterId the id its log directory is formatted with
 * @param directory holds the log directory and, for a child process, its files
 * @param addresses the ports of all nodes of the cluster
 * @param asProcess whether the node runs in a process of its own, and so can be killed
 * @param overrides broker settings of the user, stronger than the defaults here
 */
record NodeSpec(
        int id,
        String clusterId,
        Path directory,
        List<Ports> addresses,
        boolean asProcess,
        Map<String, String> overrides) {

    /** The loopback address: nothing listens anywhere else. */
    static final String HOST = "127.0.0.1";

    /** Settings that make the node what it is; the user cannot set them. */
    static final Set<String> OWNED = Set.of(
            "node.id",
            "broker.id",
            "process.roles",
            "listeners",
            "advertised.listeners",
            "listener.security.protocol.map",
            "controller.listener.names",
            "inter.broker.listener.name",
            "security.inter.broker.protocol",
            "controller.quorum.voters",
            "controller.quorum.bootstrap.servers",
            "log.dir",
            "log.dirs",
            "metadata.log.dir");

    int port() {
        return addresses.get(id).client();
    }

    String address() {
        return HOST + ":" + port();
    }

    Path logDirectory() {
        return directory.resolve("data");
    }

    Map<String, String> brokerConfig() {
        var config = new TreeMap<String, String>();
        config.putAll(quickDefaults());
        if (addresses.size() > 1) {
            config.putAll(clusterDefaults());
            config.putAll(session("400", "2500"));
        } else {
            config.putAll(loneNodeDefaults());
            if (asProcess) {
                config.putAll(session("300", "1500"));
            }
        }
        config.putAll(overrides);
        config.put("node.id", Integer.toString(id));
        config.put("process.roles", "broker,controller");
        config.put(
                "listeners",
                "CLIENT://%s,CONTROLLER://%s:%d"
                        .formatted(address(), HOST, addresses.get(id).controller()));
        config.put("listener.security.protocol.map", "CLIENT:PLAINTEXT,CONTROLLER:PLAINTEXT");
        config.put("inter.broker.listener.name", "CLIENT");
        config.put("controller.listener.names", "CONTROLLER");
        config.put("controller.quorum.voters", voters());
        config.put("log.dirs", logDirectory().toString());
        return config;
    }

    private String voters() {
        return IntStream.range(0, addresses.size())
                .mapToObj(node ->
                        "%d@%s:%d".formatted(node, HOST, addresses.get(node).controller()))
                .collect(Collectors.joining(","));
    }

    /** Groups form without waiting, short sessions are allowed, and memory and threads fit a demo. */
    private static Map<String, String> quickDefaults() {
        return Map.ofEntries(
                Map.entry("auto.create.topics.enable", "false"),
                Map.entry("group.initial.rebalance.delay.ms", "0"),
                Map.entry("group.streams.initial.rebalance.delay.ms", "0"),
                Map.entry("group.min.session.timeout.ms", "1000"),
                Map.entry("group.consumer.min.session.timeout.ms", "1000"),
                Map.entry("group.consumer.min.heartbeat.interval.ms", "200"),
                Map.entry("group.consumer.heartbeat.interval.ms", "200"),
                Map.entry("group.consumer.assignment.interval.ms", "0"),
                Map.entry("group.share.min.session.timeout.ms", "1000"),
                Map.entry("group.share.min.heartbeat.interval.ms", "200"),
                Map.entry("group.share.heartbeat.interval.ms", "200"),
                Map.entry("group.share.assignment.interval.ms", "0"),
                Map.entry("group.coordinator.append.linger.ms", "0"),
                Map.entry("share.coordinator.append.linger.ms", "0"),
                Map.entry("transaction.abort.timed.out.transaction.cleanup.interval.ms", "1000"),
                Map.entry("log.cleaner.dedupe.buffer.size", Integer.toString(2 * 1024 * 1024)),
                Map.entry("offsets.topic.num.partitions", "1"),
                Map.entry("transaction.state.log.num.partitions", "1"),
                Map.entry("share.coordinator.state.topic.num.partitions", "1"),
                Map.entry("num.network.threads", "2"),
                Map.entry("num.io.threads", "4"),
                Map.entry("background.threads", "4"));
    }

    private static Map<String, String> loneNodeDefaults() {
        return Map.of(
                "offsets.topic.replication.factor", "1",
                "transaction.state.log.replication.factor", "1",
                "transaction.state.log.min.isr", "1",
                "share.coordinator.state.topic.replication.factor", "1",
                "share.coordinator.state.topic.min.isr", "1");
    }

    /**
     * The controller takes a node for alive until its session is over, and does not let it register anew before. Short
     * sessions make up for it with false alarms on a machine that stands still, so a lone node in this JVM, which is
     * never taken away hard, has the long session of Kafka's defaults.
     */
    private static Map<String, String> session(String heartbeatMillis, String timeoutMillis) {
        return Map.of("broker.heartbeat.interval.ms", heartbeatMillis, "broker.session.timeout.ms", timeoutMillis);
    }

    /** Three copies, two of them in sync, and a new leader of the metadata in one or two seconds. */
    private static Map<String, String> clusterDefaults() {
        return Map.ofEntries(
                Map.entry("default.replication.factor", "3"),
                Map.entry("min.insync.replicas", "2"),
                Map.entry("offsets.topic.replication.factor", "3"),
                Map.entry("transaction.state.log.replication.factor", "3"),
                Map.entry("transaction.state.log.min.isr", "2"),
                Map.entry("share.coordinator.state.topic.replication.factor", "3"),
                Map.entry("share.coordinator.state.topic.min.isr", "2"),
                Map.entry("controller.quorum.election.timeout.ms", "500"),
                Map.entry("controller.quorum.election.backoff.max.ms", "500"),
                Map.entry("controller.quorum.fetch.timeout.ms", "1500"),
                Map.entry("controller.quorum.request.timeout.ms", "1000"));
    }

    /** Such as {@code Kafka node 0 at 127.0.0.1:29092}, as messages name it. */
    @Override
    public String toString() {
        return "Kafka node %d at %s".formatted(id, address());
    }
}
