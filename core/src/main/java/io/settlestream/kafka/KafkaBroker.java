package io.settlestream.kafka;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A Kafka cluster that an application's subscriptions read from and its publishing sites write to. Immutable: every
 * method that sets something returns a new value. Building one does no I/O.
 *
 * @since 0.1.0
 */
public final class KafkaBroker {

    private static final Duration FLUSH_TIMEOUT = Duration.ofSeconds(30);
    private static final Duration ASSIGNMENT_TIMEOUT = Duration.ofSeconds(60);

    private final List<String> bootstrapServers;
    private final @Nullable String defaultGroup;
    private final Commit commit;
    private final Duration flushTimeout;
    private final Duration assignmentTimeout;
    private final Properties properties;

    /** What is passed on to Kafka's clients. */
    private record Properties(Map<String, Object> all, Map<String, Object> producer, Map<String, Object> plugin) {}

    private KafkaBroker(
            List<String> bootstrapServers,
            @Nullable String defaultGroup,
            Commit commit,
            Duration flushTimeout,
            Duration assignmentTimeout,
            Properties properties) {
        this.bootstrapServers = bootstrapServers;
        this.defaultGroup = defaultGroup;
        this.commit = commit;
        this.flushTimeout = flushTimeout;
        this.assignmentTimeout = assignmentTimeout;
        this.properties = properties;
    }

    /**
     * A cluster by some of its nodes.
     *
     * @param bootstrapServers {@code host:port}, at least one
     */
    public static KafkaBroker of(String... bootstrapServers) {
        return new KafkaBroker(
                List.of(bootstrapServers),
                null,
                Commit.auto(),
                FLUSH_TIMEOUT,
                ASSIGNMENT_TIMEOUT,
                new Properties(Map.of(), Map.of(), Map.of()));
    }

    /** The same settings for another cluster. */
    public KafkaBroker bootstrapServers(String... bootstrapServers) {
        List<String> nodes = List.of(bootstrapServers);
        return new KafkaBroker(nodes, defaultGroup, commit, flushTimeout, assignmentTimeout, properties);
    }

    /** The consumer group of subscriptions that name none. */
    public KafkaBroker defaultGroup(String group) {
        Objects.requireNonNull(group, "group");
        return new KafkaBroker(bootstrapServers, group, commit, flushTimeout, assignmentTimeout, properties);
    }

    /** The commit mode of subscriptions that name none; {@link Commit#auto()} by default. */
    public KafkaBroker commit(Commit commit) {
        Objects.requireNonNull(commit, "commit");
        return new KafkaBroker(bootstrapServers, defaultGroup, commit, flushTimeout, assignmentTimeout, properties);
    }

    /** How long a stop waits for records that Kafka has not accepted yet; 30 s by default. */
    public KafkaBroker flushTimeout(Duration flushTimeout) {
        notNegative("flushTimeout", flushTimeout);
        return new KafkaBroker(bootstrapServers, defaultGroup, commit, flushTimeout, assignmentTimeout, properties);
    }

    /** How long a start waits until every subscription knows where its partitions start; 60 s by default. */
    public KafkaBroker assignmentTimeout(Duration assignmentTimeout) {
        notNegative("assignmentTimeout", assignmentTimeout);
        return new KafkaBroker(bootstrapServers, defaultGroup, commit, flushTimeout, assignmentTimeout, properties);
    }

    /**
     * Sets a property of Kafka's Java client on every client of this broker that knows it, such as
     * {@code security.protocol}. Unknown names and bad values are refused at startup.
     */
    public KafkaBroker config(String key, Object value) {
        Properties p = properties;
        return with(new Properties(SourceOptions.with(p.all, key, value), p.producer, p.plugin));
    }

    /** Sets a property of Kafka's Java producer. Unknown names and bad values are refused at startup. */
    public KafkaBroker producerConfig(String key, Object value) {
        Properties p = properties;
        return with(new Properties(p.all, SourceOptions.with(p.producer, key, value), p.plugin));
    }

    /** Sets a property for an interceptor, metrics reporter or other plug-in of every client; it is not checked. */
    public KafkaBroker pluginConfig(String key, Object value) {
        Properties p = properties;
        return with(new Properties(p.all, p.producer, SourceOptions.with(p.plugin, key, value)));
    }

    private KafkaBroker with(Properties other) {
        return new KafkaBroker(bootstrapServers, defaultGroup, commit, flushTimeout, assignmentTimeout, other);
    }

    /** The nodes to ask first. */
    public List<String> bootstrapServers() {
        return bootstrapServers;
    }

    /** The group of subscriptions that name none. */
    public Optional<String> defaultGroup() {
        return Optional.ofNullable(defaultGroup);
    }

    /** The commit mode of subscriptions that name none. */
    public Commit commit() {
        return commit;
    }

    /** How long a stop waits for unaccepted records. */
    public Duration flushTimeout() {
        return flushTimeout;
    }

    /** How long a start waits for assignments. */
    public Duration assignmentTimeout() {
        return assignmentTimeout;
    }

    /** The properties of every client. */
    public Map<String, Object> config() {
        return properties.all;
    }

    /** The producer's properties. */
    public Map<String, Object> producerConfig() {
        return properties.producer;
    }

    /** The plug-in properties of every client. */
    public Map<String, Object> pluginConfig() {
        return properties.plugin;
    }

    @Override
    public String toString() {
        return "KafkaBroker" + bootstrapServers;
    }

    private static void notNegative(String name, Duration duration) {
        if (duration.isNegative()) {
            throw new IllegalArgumentException(name + " must not be negative, but is " + duration);
        }
    }
}
