package io.settlestream.it;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.storage.Formatter;
import org.apache.kafka.server.common.MetadataVersion;

/**
 * A broker in this JVM with a plain listener for the test, one with SASL/PLAIN and one with TLS. Its authorizer lets
 * everybody do what no ACL denies.
 */
final class SecuredKafka implements AutoCloseable {

    static final String USER = "alice";
    static final String PASSWORD = "wonderland-7391";
    static final String STORE_PASSWORD = "looking-glass-2264";

    private final Path directory;
    private final List<Integer> ports;
    private final KafkaRaftServer server;
    private final Admin admin;

    SecuredKafka() throws Exception {
        directory = Files.createTempDirectory("secured-kafka");
        ports = freePorts(4);
        makeKeyStore();
        KafkaConfig config = KafkaConfig.fromProps(properties(), false);
        String log = directory.resolve("log").toString();
        Files.createDirectories(Path.of(log));
        new Formatter()
                .setPrintStream(new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8))
                .setNodeId(0)
                .setClusterId(Uuid.randomUuid().toString())
                .setReleaseVersion(MetadataVersion.LATEST_PRODUCTION)
                .setControllerListenerName("CONTROLLER")
                .setDirectories(List.of(log))
                .setMetadataLogDirectory(log)
                .run();
        server = new KafkaRaftServer(config, Time.SYSTEM);
        server.startup();
        admin = Admin.create(Map.of("bootstrap.servers", plain()));
    }

    String plain() {
        return "127.0.0.1:" + ports.get(0);
    }

    String sasl() {
        return "127.0.0.1:" + ports.get(1);
    }

    String tls() {
        return "127.0.0.1:" + ports.get(2);
    }

    /** Holds the broker's certificate, and so serves clients as a trust store. */
    Path keyStore() {
        return directory.resolve("store.p12");
    }

    Admin admin() {
        return admin;
    }

    private Properties properties() {
        Properties config = new Properties();
        config.putAll(Map.ofEntries(
                Map.entry("node.id", "0"),
                Map.entry("process.roles", "broker,controller"),
                Map.entry(
                        "listeners",
                        "PLAIN://%s,SASL://%s,TLS://%s,CONTROLLER://127.0.0.1:%d"
                                .formatted(plain(), sasl(), tls(), ports.get(3))),
                Map.entry(
                        "listener.security.protocol.map",
                        "PLAIN:PLAINTEXT,SASL:SASL_PLAINTEXT,TLS:SSL,CONTROLLER:PLAINTEXT"),
                Map.entry("inter.broker.listener.name", "PLAIN"),
                Map.entry("controller.listener.names", "CONTROLLER"),
                Map.entry("controller.quorum.voters", "0@127.0.0.1:" + ports.get(3)),
                Map.entry("log.dirs", directory.resolve("log").toString()),
                Map.entry("sasl.enabled.mechanisms", "PLAIN"),
                Map.entry(
                        "listener.name.sasl.plain.sasl.jaas.config",
                        "org.apache.kafka.common.security.plain.PlainLoginModule required user_%s=\"%s\";"
                                .formatted(USER, PASSWORD)),
                Map.entry("ssl.keystore.type", "PKCS12"),
                Map.entry("ssl.keystore.location", keyStore().toString()),
                Map.entry("ssl.keystore.password", STORE_PASSWORD),
                Map.entry("ssl.key.password", STORE_PASSWORD),
                Map.entry("authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer"),
                Map.entry("allow.everyone.if.no.acl.found", "true"),
                Map.entry("super.users", "User:ANONYMOUS"),
                Map.entry("auto.create.topics.enable", "true"),
                Map.entry("offsets.topic.num.partitions", "1"),
                Map.entry("offsets.topic.replication.factor", "1"),
                Map.entry("group.initial.rebalance.delay.ms", "0"),
                Map.entry("group.consumer.min.heartbeat.interval.ms", "200"),
                Map.entry("group.consumer.heartbeat.interval.ms", "200")));
        return config;
    }

    private void makeKeyStore() throws IOException, InterruptedException {
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        "broker",
                        "-keyalg",
                        "EC",
                        "-groupname",
                        "secp256r1",
                        "-dname",
                        "CN=127.0.0.1",
                        "-ext",
                        "SAN=IP:127.0.0.1",
                        "-validity",
                        "2",
                        "-storetype",
                        "PKCS12",
                        "-keystore",
                        keyStore().toString(),
                        "-storepass",
                        STORE_PASSWORD)
                .redirectErrorStream(true)
                .start();
        String said = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!keytool.waitFor(LiveKafka.PATIENCE.toSeconds(), TimeUnit.SECONDS) || keytool.exitValue() != 0) {
            throw new IllegalStateException("keytool made no key store: " + said);
        }
    }

    private static List<Integer> freePorts(int count) throws IOException {
        List<ServerSocket> held = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                held.add(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
            }
            return held.stream().map(ServerSocket::getLocalPort).toList();
        } finally {
            for (ServerSocket socket : held) {
                socket.close();
            }
        }
    }

    @Override
    public void close() throws IOException {
        admin.close();
        server.shutdown();
        server.awaitShutdown();
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
