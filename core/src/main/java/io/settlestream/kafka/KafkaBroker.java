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

    /** All settings, of which each method copies all but one. */
    private record Settings(
            List<String> bootstrapServers,
            @Nullable String defaultGroup,
            Commit commit,
            Duration flushTimeout,
            Duration assignmentTimeout,
            Map<String, Object> config,
            Map<String, Object> producerConfig,
            Map<String, Object> pluginConfig) {}

    private final Settings settings;

    private KafkaBroker(Settings settings) {
        this.settings = settings;
    }

    /**
     * A cluster by some of its nodes.
     *
     * @param bootstrapServers {@code host:port}, at least one
     */
    public static KafkaBroker of(String... bootstrapServers) {
        return new KafkaBroker(new Settings(
                List.of(bootstrapServers),
                null,
                Commit.auto(),
                FLUSH_TIMEOUT,
                ASSIGNMENT_TIMEOUT,
                Map.of(),
                Map.of(),
                Map.of()));
    }

    /** The same settings for another cluster. */
    public KafkaBroker bootstrapServers(String... bootstrapServers) {
        Settings s = settings;
        return new KafkaBroker(new Settings(
                List.of(bootstrapServers),
                s.defaultGroup,
                s.commit,
                s.flushTimeout,
                s.assignmentTimeout,
                s.config,
                s.producerConfig,
                s.pluginConfig));
    }

    /** The consumer group of subscriptions that name none. */
    public KafkaBroker defaultGroup(String group) {
        Settings s = settings;
        return new KafkaBroker(new Settings(
                s.bootstrapServers,
                Objects.requireNonNull(group, "group"),
                s.commit,
                s.flushTimeout,
                s.assignmentTimeout,
                s.config,
                s.producerConfig,
                s.pluginConfig));
    }

    /** The commit mode of subscriptions that name none; {@link Commit#auto()} by default. */
    public KafkaBroker commit(Commit commit) {
        Settings s = settings;
        return new KafkaBroker(new Settings(
                s.bootstrapServers,
                s.defaultGroup,
                Objects.requireNonNull(commit, "commit"),
                s.flushTimeout,
                s.assignmentTimeout,
                s.config,
                s.producerConfig,
                s.pluginConfig));
    }

    /** How long a stop waits for records that Kafka has not accepted yet; 30 s by default. */
    public KafkaBroker flushTimeout(Duration flushTimeout) {
        Settings s = settings;
        return new KafkaBroker(new Settings(
                s.bootstrapServers,
                s.defaultGroup,
                s.commit,
                notNegative("flushTimeout", flushTimeout),
                s.assignmentTimeout,
                s.config,
                s.producerConfig,
                s.pluginConfig));
    }

    /** How long a start waits until every subscription knows where its partitions start; 60 s by default. */
    public KafkaBroker assignmentTimeout(Duration assignmentTimeout) {
        Settings s = settings;
        return new KafkaBroker(new Settings(
                s.bootstrapServers,
                s.defaultGroup,
                s.commit,
                s.flushTimeout,
                notNegative("assignmentTimeout", assignmentTimeout),
                s.config,
                s.producerConfig,
                s.pluginConfig));
    }

    /**
     * Sets a property of Kafka's Java client on every client of this broker that knows it, such as
     * {@code security.protocol}. Unknown names and bad values are refused at startup.
     */
    public KafkaBroker config(String key, Object value) {
        Settings s = settings;
        return new KafkaBroker(new Settings(
                s.bootstrapServers,
                s.defaultGroup,
                s.commit,
                s.flushTimeout,
                s.assignmentTimeout,
                KafkaTopic.with(s.config, key, value),
                s.producerConfig,
                s.pluginConfig));
    }

    /** Sets a property of Kafka's Java producer. Unknown names and bad values are refused at startup. */
    public KafkaBroker producerConfig(String key, Object value) {
        Settings s = settings;
        return new KafkaBroker(new Settings(
                s.bootstrapServers,
                s.defaultGroup,
                s.commit,
                s.flushTimeout,
                s.assignmentTimeout,
                s.config,
                KafkaTopic.with(s.producerConfig, key, value),
                s.pluginConfig));
    }

    /** Sets a property for an interceptor, metrics reporter or other plug-in of every client; it is not checked. */
    public KafkaBroker pluginConfig(String key, Object value) {
        Settings s = settings;
        return new KafkaBroker(new Settings(
                s.bootstrapServers,
                s.defaultGroup,
                s.commit,
                s.flushTimeout,
                s.assignmentTimeout,
                s.config,
                s.producerConfig,
                KafkaTopic.with(s.pluginConfig, key, value)));
    }

    /** The nodes to ask first. */
    public List<String> bootstrapServers() {
        return settings.bootstrapServers;
    }

    /** The group of subscriptions that name none. */
    public Optional<String> defaultGroup() {
        return Optional.ofNullable(settings.defaultGroup);
    }

    /** The commit mode of subscriptions that name none. */
    public Commit commit() {
        return settings.commit;
    }

    /** How long a stop waits for unaccepted records. */
    public Duration flushTimeout() {
        return settings.flushTimeout;
    }

    /** How long a start waits for assignments. */
    public Duration assignmentTimeout() {
        return settings.assignmentTimeout;
    }

    /** The properties of every client. */
    public Map<String, Object> config() {
        return settings.config;
    }

    /** The producer's properties. */
    public Map<String, Object> producerConfig() {
        return settings.producerConfig;
    }

    /** The plug-in properties of every client. */
    public Map<String, Object> pluginConfig() {
        return settings.pluginConfig;
    }

    @Override
    public String toString() {
        return "KafkaBroker" + settings.bootstrapServers;
    }

    private static Duration notNegative(String name, Duration duration) {
        if (duration.isNegative()) {
            throw new IllegalArgumentException(name + " must not be negative, but is " + duration);
        }
        return duration;
    }
}
