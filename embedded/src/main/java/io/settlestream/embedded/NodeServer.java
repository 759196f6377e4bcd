package io.settlestream.embedded;

import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import kafka.server.BrokerServer;
import kafka.server.ControllerServer;
import kafka.server.FaultHandlerFactory;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import kafka.server.Server;
import kafka.server.SharedServer;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.properties.MetaPropertiesEnsemble;
import org.apache.kafka.metadata.storage.Formatter;
import org.apache.kafka.raft.QuorumConfig;
import org.apache.kafka.server.ServerSocketFactory;
import org.apache.kafka.server.common.MetadataVersion;
import org.slf4j.LoggerFactory;

/**
 * Kafka's own server classes, put together as one combined broker and controller in this JVM.
 *
 * <p>{@code kafka.server.KafkaRaftServer} would do the same with less, but it answers a fatal fault, such as a port in
 * use, by ending the JVM. That JVM may be the user's, so the parts are put together here with a fault handler that
 * reports instead. All use of server classes is in this file.
 */
final class NodeServer {
    private final NodeSpec spec;
    private final BrokerServer broker;
    private final ControllerServer controller;

    /**
     * Formats the log directory if it is new, and loads it.
     *
     * @param onFatal told of a fault after which the server is of no use; called on a thread of the server
     */
    NodeServer(NodeSpec spec, Consumer<Throwable> onFatal) throws Exception {
        this.spec = spec;
        var properties = new Properties();
        properties.putAll(spec.brokerConfig());
        var config = KafkaConfig.fromProps(properties, false);
        format();
        var logDirs = KafkaRaftServer.initializeLogDirs(config, LoggerFactory.getLogger(NodeServer.class), "");
        MetaPropertiesEnsemble ensemble = logDirs._1();
        var quorum = config.quorumConfig();
        var shared = new SharedServer(
                config,
                ensemble,
                Time.SYSTEM,
                Server.initializeMetrics(config, Time.SYSTEM, spec.clusterId()),
                CompletableFuture.completedFuture(QuorumConfig.parseVoterConnections(quorum.voters())),
                QuorumConfig.parseBootstrapServers(quorum.bootstrapServers()),
                faultHandlers(onFatal),
                ServerSocketFactory.INSTANCE);
        broker = new BrokerServer(shared);
        controller = new ControllerServer(shared, KafkaRaftServer.configSchema(), logDirs._2());
    }

    private void format() throws Exception {
        Files.createDirectories(spec.logDirectory());
        new Formatter()
                .setPrintStream(new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8))
                .setIgnoreFormatted(true)
                .setNodeId(spec.id())
                .setClusterId(spec.clusterId())
                .setReleaseVersion(MetadataVersion.LATEST_PRODUCTION)
                .setControllerListenerName("CONTROLLER")
                .setDirectories(List.of(spec.logDirectory().toString()))
                .setMetadataLogDirectory(spec.logDirectory().toString())
                .run();
    }

    private static FaultHandlerFactory faultHandlers(Consumer<Throwable> onFatal) {
        return (name, fatal, action) -> (message, cause) -> {
            action.run();
            var fault = new IllegalStateException(name + ": " + message, cause);
            if (fatal) {
                onFatal.accept(fault);
            }
            return fault;
        };
    }

    /** Returns when the broker is registered and serves clients; throws what a server class threw. */
    void start() {
        controller.startup();
        broker.startup();
    }

    /** Hands over leadership while other nodes are there to take it, at most for the given time, and stops. */
    void stop(Duration timeout) {
        broker.shutdown(timeout);
        controller.shutdown();
    }
}
