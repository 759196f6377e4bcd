package io.settlestream.embedded;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.CreateTopicsOptions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.Node;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A real Apache Kafka of one or three nodes on this machine, started from its Maven artifacts: for demos, for
 * development and for tests that want the real thing. No Docker, no download, nothing listens outside 127.0.0.1.
 *
 * <pre>{@code
 * try (EmbeddedKafka kafka = EmbeddedKafka.start()) {
 *     kafka.createTopic("orders", 3);
 *     runMyService(kafka.bootstrapServers());
 * }
 * }</pre>
 *
 * <p>Each node is a broker and a controller (KRaft). It runs in this JVM by default; as a process of its own it can be
 * killed and frozen, see {@link KafkaNode}. Topics are not created by naming them. Groups form without the usual
 * delay, sessions may be as short as a second, and heartbeats of the newer group protocols come every 200 ms;
 * {@link Builder#brokerConfig} changes any of that.
 *
 * <p>Kafka logs a lot through SLF4J: 485 lines at INFO for a start and a stop. The loggers {@code org.apache.kafka},
 * {@code kafka}, {@code state.change.logger} and {@code com.yammer.metrics} at ERROR make it quiet; no logging
 * configuration is touched here. A node
 * in a process of its own writes its warnings and errors to {@code stderr.log} in its directory.
 *
 * <p>Any thread may use an instance. A node in this JVM keeps the JVM alive until {@link #close()} or
 * {@link System#exit}, which closes it in a shutdown hook unless {@link Builder#withoutShutdownHook()} says that somebody
 * else does. It also shares its fate: Kafka ends the JVM when it cannot
 * write to its directory any more, be it deleted or the disk full.
 *
 * @since 0.1.0
 */
public final class EmbeddedKafka implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(EmbeddedKafka.class);

    private static final Duration TOPIC_TIMEOUT = Duration.ofSeconds(30);

    private final ClusterDirectory directory;
    private final List<KafkaNode> nodes;
    private final Duration startTimeout;
    private @Nullable Admin admin;
    private final ReentrantLock closing = new ReentrantLock();
    private boolean closed;
    private final @Nullable Thread shutdownHook;

    private EmbeddedKafka(
            ClusterDirectory directory, List<KafkaNode> nodes, Duration startTimeout, boolean closesWithJvm) {
        this.directory = directory;
        this.nodes = nodes;
        this.startTimeout = startTimeout;
        if (closesWithJvm) {
            shutdownHook = new Thread(this::closeAll, "embedded-kafka-shutdown");
            Runtime.getRuntime().addShutdownHook(shutdownHook);
        } else {
            shutdownHook = null;
        }
    }

    /**
     * Starts one node in this JVM on a free port, with a temporary log directory.
     *
     * @return the running Kafka, to be closed by the caller
     * @throws EmbeddedKafkaException if it does not get ready, with the reason
     */
    public static EmbeddedKafka start() {
        return builder().start();
    }

    /**
     * Begins with the defaults of {@link #start()}.
     *
     * @return a builder, for use by one thread
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Where clients find the cluster, for {@code bootstrap.servers}. It stays the same until close.
     *
     * @return the addresses of all nodes, such as {@code 127.0.0.1:29092,127.0.0.1:24711,127.0.0.1:21007}
     */
    public String bootstrapServers() {
        return nodes.stream().map(KafkaNode::address).collect(Collectors.joining(","));
    }

    /**
     * The nodes by id, running or not.
     *
     * @return one or three nodes
     */
    public List<KafkaNode> nodes() {
        return nodes;
    }

    /**
     * One node.
     *
     * @param id the node's id, from 0
     * @return the node
     * @throws IllegalArgumentException if there is no such node
     */
    public KafkaNode node(int id) {
        if (id < 0 || id >= nodes.size()) {
            throw new IllegalArgumentException(
                    "There is no Kafka node %d: the ids are 0 to %d.".formatted(id, nodes.size() - 1));
        }
        return nodes.get(id);
    }

    /**
     * Starts all nodes that are not running, at the same time, and returns when every running node is known to the
     * cluster and a controller leads it. Nodes that are paused stay so and are not waited for.
     *
     * @throws EmbeddedKafkaException if they do not get ready within the start timeout; those that did go on running
     */
    public void startNodes() {
        Deadline deadline = Deadline.in(startTimeout);
        together(nodes.stream().filter(KafkaNode::startable).toList(), this::startOrAbortAll);
        awaitReady(deadline);
    }

    /** Without one node the others may wait for a quorum in vain. */
    private void startOrAbortAll(KafkaNode node) {
        try {
            node.start();
        } catch (RuntimeException e) {
            nodes.forEach(KafkaNode::abortStart);
            throw e;
        }
    }

    /**
     * Creates a topic with as many copies of each partition as there are nodes, and returns when all its partitions
     * have a leader, after at most 30 seconds.
     *
     * @param name the topic
     * @param partitions how many, at least 1
     * @throws EmbeddedKafkaException if Kafka refuses, for instance because the topic exists
     */
    public void createTopic(String name, int partitions) {
        createTopic(name, partitions, Map.of());
    }

    /**
     * Creates a topic with settings of its own, such as {@code cleanup.policy}, else like
     * {@link #createTopic(String, int)}.
     *
     * @param name the topic
     * @param partitions how many, at least 1
     * @param config Kafka's topic settings
     * @throws EmbeddedKafkaException if Kafka refuses, for instance because the topic exists
     */
    public void createTopic(String name, int partitions, Map<String, String> config) {
        Deadline deadline = Deadline.in(TOPIC_TIMEOUT);
        var topic = new NewTopic(name, Optional.of(partitions), Optional.empty()).configs(Map.copyOf(config));
        String what =
                "Topic %s with %d partitions was not created on %s".formatted(name, partitions, bootstrapServers());
        try {
            admin().createTopics(List.of(topic), new CreateTopicsOptions().timeoutMs((int) TOPIC_TIMEOUT.toMillis()))
                    .all()
                    .get();
        } catch (ExecutionException e) {
            throw new EmbeddedKafkaException(what + ": " + EmbeddedKafkaException.rootMessage(e), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new EmbeddedKafkaException(what + ": the thread that waited for it was interrupted.", e);
        }
        deadline.await(what, () -> leaderless(name));
    }

    /** What is still missing for the topic to be of use, or null. */
    private @Nullable String leaderless(String topic) throws ExecutionException, InterruptedException {
        for (var description :
                admin().describeTopics(List.of(topic)).allTopicNames().get().values()) {
            if (description.partitions().stream().anyMatch(partition -> partition.leader() == null)) {
                return "a partition has no leader";
            }
        }
        return null;
    }

    /** Made when nodes run, since it would complain of every attempt to connect before. */
    private Admin admin() {
        closing.lock();
        try {
            if (closed) {
                throw new IllegalStateException("Kafka at %s is closed.".formatted(bootstrapServers()));
            }
            if (admin == null) {
                admin = Admin.create(Map.of(
                        "bootstrap.servers", bootstrapServers(),
                        "client.id", "embedded-kafka",
                        "reconnect.backoff.max.ms", "200",
                        "default.api.timeout.ms", "5000",
                        "request.timeout.ms", "2000",
                        "metric.reporters", "",
                        "enable.metrics.push", "false"));
            }
            return admin;
        } finally {
            closing.unlock();
        }
    }

    private void awaitReady(Deadline deadline) {
        deadline.await("Kafka at %s did not get ready".formatted(bootstrapServers()), () -> {
            var running =
                    nodes.stream().filter(KafkaNode::running).map(KafkaNode::id).collect(Collectors.toSet());
            Set<Integer> seen = admin().describeCluster().nodes().get().stream()
                    .map(Node::id)
                    .collect(Collectors.toSet());
            if (!seen.containsAll(running)) {
                return "nodes " + running + " run, and clients see " + seen;
            }
            return admin().describeMetadataQuorum().quorumInfo().get().leaderId() < 0 ? "no controller leads" : null;
        });
    }

    /**
     * Ends all nodes, after at most some 30 seconds, and deletes a temporary log directory. A kept one is closed
     * cleanly. Never throws; what could not be ended or deleted is logged as a warning. Later calls do nothing.
     */
    @Override
    public void close() {
        closeAll();
        if (shutdownHook == null) {
            return;
        }
        try {
            Runtime.getRuntime().removeShutdownHook(shutdownHook);
        } catch (IllegalStateException e) {
            // the JVM is ending, and the hook finds nothing left to do
        }
    }

    private void closeAll() {
        closing.lock(); // whoever comes second, user or hook, returns when all is done
        try {
            if (closed) {
                return;
            }
            closed = true;
            together(nodes, node -> logged(node, node::leave));
            together(nodes, node -> logged(node, () -> node.close(directory.kept())));
            if (admin != null) {
                admin.close(Duration.ofSeconds(1));
            }
            directory.close();
        } finally {
            closing.unlock();
        }
    }

    private static void logged(KafkaNode node, Runnable step) {
        try {
            step.run();
        } catch (RuntimeException e) {
            log.atWarn().addKeyValue("node", node.id()).setCause(e).log("Embedded Kafka node did not close cleanly");
        }
    }

    /** Runs the action for all nodes at once and waits for all; then throws the failure that came first. */
    private static void together(List<KafkaNode> nodes, Consumer<KafkaNode> action) {
        var first = new AtomicReference<@Nullable RuntimeException>();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            nodes.forEach(node -> threads.execute(() -> {
                try {
                    action.accept(node);
                } catch (RuntimeException e) {
                    first.compareAndSet(null, e);
                }
            }));
        }
        RuntimeException failure = first.get();
        if (failure != null) {
            throw failure;
        }
    }

    /** Such as {@code Kafka at 127.0.0.1:29092}. */
    @Override
    public String toString() {
        return "Kafka at " + bootstrapServers();
    }

    /**
     * Says how the cluster is to be; {@link #start()} starts it. For one thread.
     *
     * @since 0.1.0
     */
    public static final class Builder {
        private int nodes = 1;
        private @Nullable Boolean inThisJvm;
        private @Nullable Path logDirectory;
        private int port;
        private Duration startTimeout = Duration.ofMinutes(1);
        private boolean closesWithJvm = true;
        private final Map<String, String> brokerConfig = new TreeMap<>();

        private Builder() {}

        /**
         * How many nodes the cluster has. Three keep three copies of each record and of Kafka's own topics, ask for two
         * in sync, and notice a dead node after 2.5 seconds.
         *
         * @param nodes 1 (the default) or 3
         * @return this builder
         */
        public Builder nodes(int nodes) {
            if (nodes != 1 && nodes != 3) {
                throw new IllegalArgumentException(
                        "A cluster of %d nodes is not offered: one is the quickest, three are the fewest that survive a loss."
                                .formatted(nodes));
            }
            this.nodes = nodes;
            return this;
        }

        /**
         * Runs the nodes in this JVM, which is the default: quick to start, but a node can neither be killed nor paused.
         *
         * @return this builder
         * @throws IllegalStateException after {@code asProcess()}
         */
        public Builder inThisJvm() {
            return place(true);
        }

        /**
         * Runs each node in a JVM of its own, with the java and the class path of this one and 256 MB of heap, so that
         * it can be killed and paused. The process ends with this JVM, however that ends.
         *
         * @return this builder
         * @throws IllegalStateException after {@code inThisJvm()}
         */
        public Builder asProcess() {
            return place(false);
        }

        private Builder place(boolean here) {
            if (inThisJvm != null && inThisJvm != here) {
                throw new IllegalStateException("Nodes run either inThisJvm() or asProcess(), and both were said.");
            }
            inThisJvm = here;
            return this;
        }

        /**
         * Keeps records, offsets and topics in this directory over restarts, also of this JVM. It is created if it does
         * not exist, and always has the number of nodes it began with. By default the directory is a temporary one,
         * deleted on close.
         *
         * @param directory used by one cluster at a time
         * @return this builder
         * @throws IllegalArgumentException if its path has a comma, which Kafka would take for the end of it
         */
        public Builder logDirectory(Path directory) {
            if (directory.toAbsolutePath().toString().contains(",")) {
                throw new IllegalArgumentException(
                        "Log directory %s has a comma in its path, and Kafka takes that for a list of directories."
                                .formatted(directory.toAbsolutePath()));
            }
            this.logDirectory = directory.toAbsolutePath();
            return this;
        }

        /**
         * Sets a broker setting, on all nodes, over the defaults of Kafka and of this class.
         *
         * @param key such as {@code message.max.bytes}
         * @param value as in a broker's properties file; a wrong one is reported by {@link #start()}
         * @return this builder
         * @throws IllegalArgumentException for settings that make the cluster what it is, such as {@code listeners}
         */
        public Builder brokerConfig(String key, String value) {
            if (NodeSpec.OWNED.contains(key)) {
                throw new IllegalArgumentException(
                        "Broker setting %s cannot be set to %s: an embedded Kafka chooses it. Ports are set with port(), directories with logDirectory()."
                                .formatted(key, value));
            }
            brokerConfig.put(key, value);
            return this;
        }

        /**
         * Listens on a known port of 127.0.0.1; three nodes take it and the two above. By default ports are free ones.
         * Either way a node that is started again has the port it had.
         *
         * @param port 1 to 65535
         * @return this builder
         */
        public Builder port(int port) {
            if (port < 1 || port > 65_535 - 2) {
                throw new IllegalArgumentException("Port %d is not one of 1 to 65533.".formatted(port));
            }
            this.port = port;
            return this;
        }

        /**
         * How long {@link #start()}, {@link EmbeddedKafka#startNodes()} and {@link KafkaNode#start()} may take.
         *
         * @param timeout more than zero; 1 minute by default
         * @return this builder
         */
        public Builder startTimeout(Duration timeout) {
            if (!timeout.isPositive()) {
                throw new IllegalArgumentException("A start timeout of %s is not above zero.".formatted(timeout));
            }
            this.startTimeout = timeout;
            return this;
        }

        /**
         * Leaves it to the caller alone to close it, also when the JVM is told to end. The JVM runs its shutdown hooks at
         * the same time, so Kafka's own would take it away from a service in this JVM that is stopping gracefully in
         * another one; let that close it instead when it is done:
         *
         * <pre>{@code
         * try (EmbeddedKafka kafka = EmbeddedKafka.builder().withoutShutdownHook().start()) {
         *     app(kafka.bootstrapServers()).afterShutdown(state -> kafka.close()).run();
         * }
         * }</pre>
         *
         * <p>If nobody closes it, nodes end with the JVM, in this one as if killed, and a temporary directory is left.
         *
         * @return this builder
         */
        public Builder withoutShutdownHook() {
            closesWithJvm = false;
            return this;
        }

        /**
         * Starts the nodes and returns when clients see all of them and a controller leads.
         *
         * @return the running Kafka, to be closed by the caller
         * @throws EmbeddedKafkaException if that fails, with the reason; nothing is left running then
         */
        public EmbeddedKafka start() {
            var directory =
                    logDirectory == null ? ClusterDirectory.temporary() : ClusterDirectory.kept(logDirectory, nodes);
            boolean asProcess = Boolean.FALSE.equals(inThisJvm);
            var ports = Ports.free(nodes, port);
            var members = new ArrayList<KafkaNode>();
            for (int id = 0; id < nodes; id++) {
                var spec = new NodeSpec(
                        id, directory.clusterId(), directory.ofNode(id), ports, asProcess, Map.copyOf(brokerConfig));
                members.add(new KafkaNode(spec, runner(spec), startTimeout));
            }
            var kafka = new EmbeddedKafka(directory, List.copyOf(members), startTimeout, closesWithJvm);
            try {
                kafka.startNodes();
                return kafka;
            } catch (RuntimeException e) {
                kafka.close();
                throw e;
            }
        }

        private NodeRunner runner(NodeSpec spec) {
            return spec.asProcess() ? new ProcessNode(spec) : new JvmNode(spec);
        }
    }
}
