package io.settlestream.embedded;

import java.io.OutputStream;
import java.io.PrintStream;
import java.net.BindException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
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
    /** How long a broker may hand over leaderships before it closes. */
    static final Duration HANDOVER = Duration.ofSeconds(10);

    /** The same when there is nobody to take them: enough for a controller that is there to answer. */
    static final Duration NO_HANDOVER = Duration.ofSeconds(1);

    private final SharedServer shared;
    private final BrokerServer broker;
    private final ControllerServer controller;

    /**
     * Formats the log directory if it is new, and loads it.
     *
     * @param clusterId what a new directory is formatted with
     * @param onFatal told of a fault after which the server is of no use; called on a thread of the server
     */
    NodeServer(String clusterId, Map<String, String> brokerConfig, Consumer<Throwable> onFatal) throws Exception {
        var properties = new Properties();
        properties.putAll(brokerConfig);
        var config = KafkaConfig.fromProps(properties, false);
        format(config, clusterId);
        var logDirs = KafkaRaftServer.initializeLogDirs(config, LoggerFactory.getLogger(NodeServer.class), "");
        MetaPropertiesEnsemble ensemble = logDirs._1();
        var quorum = config.quorumConfig();
        shared = new SharedServer(
                config,
                ensemble,
                Time.SYSTEM,
                Server.initializeMetrics(config, Time.SYSTEM, clusterId),
                CompletableFuture.completedFuture(QuorumConfig.parseVoterConnections(quorum.voters())),
                QuorumConfig.parseBootstrapServers(quorum.bootstrapServers()),
                faultHandlers(onFatal),
                ServerSocketFactory.INSTANCE);
        broker = new BrokerServer(shared);
        controller = new ControllerServer(shared, KafkaRaftServer.configSchema(), logDirs._2());
    }

    private static void format(KafkaConfig config, String clusterId) throws Exception {
        String directory = config.metadataLogDir();
        Files.createDirectories(Path.of(directory));
        new Formatter()
                .setPrintStream(new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8))
                .setIgnoreFormatted(true)
                .setNodeId(config.nodeId())
                .setClusterId(clusterId)
                .setReleaseVersion(MetadataVersion.LATEST_PRODUCTION)
                .setControllerListenerName("CONTROLLER")
                .setDirectories(List.of(directory))
                .setMetadataLogDirectory(directory)
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

    /** Stops the broker, which hands leaderships over to other nodes for at most the given time; the controller stays. */
    void stopBroker(Duration handover) {
        broker.shutdown(handover);
    }

    /** Stops the controller, after the broker, while those of other nodes go on. */
    void stopController() {
        controller.shutdown();
    }

    /** Stops both, when there is no other node or all of them stop. */
    void end() {
        broker.shutdown(NO_HANDOVER);
        var raft = shared.raftManager();
        // The last leader of the metadata would wait 5 seconds for a successor that cannot come.
        var impatience = CompletableFuture.runAsync(
                () -> {
                    if (raft != null) {
                        raft.client().shutdown(1);
                    }
                },
                CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS));
        try {
            controller.shutdown();
        } finally {
            impatience.cancel(false);
        }
    }

    /** The reason of a failed start, in words for the user. */
    static String reason(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof BindException) {
                return "the port is in use by another process. Set another port, or none to get a free one";
            }
        }
        return EmbeddedKafkaException.rootMessage(failure);
    }
}
