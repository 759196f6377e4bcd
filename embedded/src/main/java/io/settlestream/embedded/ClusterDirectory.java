package io.settlestream.embedded;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Properties;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where the nodes of a cluster keep their files.
 *
 * @param path holds a directory per node and, if kept, {@code cluster.properties}
 * @param kept whether it outlives the cluster
 */
record ClusterDirectory(Path path, String clusterId, boolean kept) {
    private static final Logger log = LoggerFactory.getLogger(ClusterDirectory.class);
    private static final String CLUSTER_ID = "cluster.id";
    private static final String NODES = "nodes";

    static ClusterDirectory temporary() {
        try {
            return new ClusterDirectory(
                    Files.createTempDirectory(
                            "settlestream-kafka-" + ProcessHandle.current().pid() + "-"),
                    Uuid.randomUuid().toString(),
                    false);
        } catch (IOException e) {
            throw new EmbeddedKafkaException(
                    "No temporary directory for Kafka in %s: %s. Set -Djava.io.tmpdir, or use logDirectory(...)."
                            .formatted(System.getProperty("java.io.tmpdir"), e),
                    e);
        }
    }

    /** A directory that was begun with as many nodes, or a new one. */
    static ClusterDirectory kept(Path path, int nodes) {
        Path file = path.resolve("cluster.properties");
        try {
            var properties = new Properties();
            if (Files.exists(file)) {
                try (var in = Files.newBufferedReader(file)) {
                    properties.load(in);
                }
            } else {
                Files.createDirectories(path);
                properties.setProperty(CLUSTER_ID, Uuid.randomUuid().toString());
                properties.setProperty(NODES, Integer.toString(nodes));
                try (var out = Files.newBufferedWriter(file)) {
                    properties.store(out, "An embedded Kafka keeps its records here.");
                }
            }
            String clusterId = properties.getProperty(CLUSTER_ID);
            String begunWith = properties.getProperty(NODES);
            if (clusterId == null || begunWith == null) {
                throw new EmbeddedKafkaException(
                        "%s lacks %s or %s: it is not, or no longer, what an embedded Kafka wrote. Use another log directory, or delete this one."
                                .formatted(file, CLUSTER_ID, NODES),
                        null);
            }
            if (!begunWith.equals(Integer.toString(nodes))) {
                throw new EmbeddedKafkaException(
                        "Log directory %s belongs to a cluster of nodes(%s), and nodes(%d) were asked for. Use another log directory, or delete this one."
                                .formatted(path, begunWith, nodes),
                        null);
            }
            return new ClusterDirectory(path, clusterId, true);
        } catch (IOException e) {
            throw new EmbeddedKafkaException(
                    "Log directory %s cannot be used: %s. It must be, or become, a directory that this user can write to."
                            .formatted(path, e),
                    e);
        }
    }

    Path ofNode(int id) {
        return path.resolve("node-" + id);
    }

    /** Deletes a temporary directory, as far as that can be done. */
    void close() {
        if (kept) {
            return;
        }
        try {
            Files.walkFileTree(path, new Deletion());
        } catch (IOException e) {
            log.atWarn().addKeyValue("directory", path).setCause(e).log("Temporary directory of Kafka was not deleted");
        }
    }

    /** Goes on past files that a server's last threads delete at the same time. */
    private static final class Deletion extends SimpleFileVisitor<Path> {
        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
            Files.deleteIfExists(file);
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFileFailed(Path file, IOException e) {
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException e) throws IOException {
            Files.deleteIfExists(directory);
            return FileVisitResult.CONTINUE;
        }
    }
}
