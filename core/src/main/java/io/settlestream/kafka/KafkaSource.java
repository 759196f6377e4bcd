package io.settlestream.kafka;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a subscription reads, in which group, and where it starts: one topic ({@link KafkaTopic}), several
 * ({@link KafkaTopics}), or named partitions of one ({@link KafkaPartitions}). Immutable: every method that sets something
 * returns a new value. Mistakes are reported when the application starts.
 *
 * <p>A class and no interface, so that what the kinds have in common is documented once and stays closed to others.
 *
 * @param <S> the kind of source
 * @since 0.1.0
 */
public abstract sealed class KafkaSource<S extends KafkaSource<S>> permits KafkaTopic, KafkaTopics, KafkaPartitions {

    private final SourceOptions options;

    KafkaSource(SourceOptions options) {
        this.options = options;
    }

    /** The same, with other options. */
    abstract S with(SourceOptions options);

    /**
     * The consumer group; by default the broker's {@link KafkaBroker#defaultGroup}, except for {@link KafkaPartitions},
     * which are in no group unless they name one.
     */
    public final S group(String group) {
        return with(options.withGroup(group));
    }

    /** What is committed, and when; by default the broker's {@link KafkaBroker#commit}, else {@link Commit#auto()}. */
    public final S commit(Commit commit) {
        return with(options.withCommit(commit));
    }

    /** Where a partition starts without a committed offset; {@link StartOffset#LATEST} by default. */
    public final S startOffset(StartOffset startOffset) {
        return with(options.withStartOffset(startOffset));
    }

    /**
     * Where each partition starts when this process is assigned it for the first time, whatever the group has committed.
     * A partition that comes back later starts from what is committed, and so does everything after a restart without
     * this call; a restart with it starts here again. Under {@link KafkaPosition#latest()} a partition that did not exist
     * when the application started begins at its oldest record, as everything in it is newer than that.
     */
    public final S startAt(KafkaPosition position) {
        return with(options.withStartAt(position));
    }

    /**
     * Sets a consumer property of Kafka's Java client. Unknown names, bad values and properties that the framework
     * owns are refused at startup.
     */
    public final S config(String key, Object value) {
        return with(options.withConfig(key, value));
    }

    /** Sets a property for an interceptor, metrics reporter or other plug-in of the consumer; it is not checked. */
    public final S pluginConfig(String key, Object value) {
        return with(options.withPluginConfig(key, value));
    }

    /** The topics that it names; none for a pattern. */
    public abstract List<String> topics();

    /** Whether records of a topic can come from here. */
    public boolean reads(String topic) {
        return topics().contains(topic);
    }

    /** The group, if this source names one. */
    public final Optional<String> group() {
        return Optional.ofNullable(options.group());
    }

    /** The commit mode, if this source names one. */
    public final Optional<Commit> commit() {
        return Optional.ofNullable(options.commit());
    }

    /** Where a partition starts without a committed offset, if this source says so. */
    public final Optional<StartOffset> startOffset() {
        return Optional.ofNullable(options.startOffset());
    }

    /** Where a partition starts at its first assignment, if this source says so. */
    public final Optional<KafkaPosition> startAt() {
        return Optional.ofNullable(options.startAt());
    }

    /** The consumer properties set here. */
    public final Map<String, Object> config() {
        return options.config();
    }

    /** The plug-in properties set here. */
    public final Map<String, Object> pluginConfig() {
        return options.pluginConfig();
    }
}
