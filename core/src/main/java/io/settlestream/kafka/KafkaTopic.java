package io.settlestream.kafka;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One topic to subscribe to, as a member of a consumer group. Immutable: every method that sets something returns a new
 * value.
 *
 * <pre>{@code
 * KafkaTopic.of("payouts").group("bank").commit(Commit.tracked()).startOffset(StartOffset.EARLIEST)
 * }</pre>
 *
 * @since 0.1.0
 */
public final class KafkaTopic {

    private final String name;
    private final @Nullable String group;
    private final @Nullable Commit commit;
    private final StartOffset startOffset;
    private final Map<String, Object> config;
    private final Map<String, Object> pluginConfig;

    private KafkaTopic(
            String name,
            @Nullable String group,
            @Nullable Commit commit,
            StartOffset startOffset,
            Map<String, Object> config,
            Map<String, Object> pluginConfig) {
        this.name = name;
        this.group = group;
        this.commit = commit;
        this.startOffset = startOffset;
        this.config = config;
        this.pluginConfig = pluginConfig;
    }

    /** A topic by its name. A topic that does not exist yet is joined when it appears; it is never created. */
    public static KafkaTopic of(String name) {
        return new KafkaTopic(Objects.requireNonNull(name, "name"), null, null, StartOffset.LATEST, Map.of(), Map.of());
    }

    /** The consumer group; by default the broker's {@link KafkaBroker#defaultGroup}. */
    public KafkaTopic group(String group) {
        return new KafkaTopic(name, Objects.requireNonNull(group, "group"), commit, startOffset, config, pluginConfig);
    }

    /** What is committed, and when; by default the broker's {@link KafkaBroker#commit}, else {@link Commit#auto()}. */
    public KafkaTopic commit(Commit commit) {
        return new KafkaTopic(name, group, Objects.requireNonNull(commit, "commit"), startOffset, config, pluginConfig);
    }

    /** Where a partition starts without a committed offset; {@link StartOffset#LATEST} by default. */
    public KafkaTopic startOffset(StartOffset startOffset) {
        return new KafkaTopic(
                name, group, commit, Objects.requireNonNull(startOffset, "startOffset"), config, pluginConfig);
    }

    /**
     * Sets a consumer property of Kafka's Java client. Unknown names, bad values and properties that the framework
     * owns are refused at startup.
     */
    public KafkaTopic config(String key, Object value) {
        return new KafkaTopic(name, group, commit, startOffset, with(config, key, value), pluginConfig);
    }

    /** Sets a property for an interceptor, metrics reporter or other plug-in of the consumer; it is not checked. */
    public KafkaTopic pluginConfig(String key, Object value) {
        return new KafkaTopic(name, group, commit, startOffset, config, with(pluginConfig, key, value));
    }

    /** The topic's name. */
    public String name() {
        return name;
    }

    /** The group, if this topic names one. */
    public Optional<String> group() {
        return Optional.ofNullable(group);
    }

    /** The commit mode, if this topic names one. */
    public Optional<Commit> commit() {
        return Optional.ofNullable(commit);
    }

    /** Where a partition starts without a committed offset. */
    public StartOffset startOffset() {
        return startOffset;
    }

    /** The consumer properties set here. */
    public Map<String, Object> config() {
        return config;
    }

    /** The plug-in properties set here. */
    public Map<String, Object> pluginConfig() {
        return pluginConfig;
    }

    @Override
    public String toString() {
        return "KafkaTopic[" + name + "]";
    }

    static Map<String, Object> with(Map<String, Object> properties, String key, Object value) {
        Map<String, Object> copy = new LinkedHashMap<>(properties);
        copy.put(Objects.requireNonNull(key, "key"), Objects.requireNonNull(value, "value"));
        return java.util.Collections.unmodifiableMap(copy);
    }
}
