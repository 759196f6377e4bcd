package io.settlestream.kafka;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What every source says beside what it reads; null where nothing was said. */
record SourceOptions(
        @Nullable String group,
        @Nullable Commit commit,
        @Nullable StartOffset startOffset,
        @Nullable KafkaPosition startAt,
        Map<String, Object> config,
        Map<String, Object> pluginConfig) {

    static final SourceOptions NONE = new SourceOptions(null, null, null, null, Map.of(), Map.of());

    SourceOptions withGroup(String group) {
        Objects.requireNonNull(group, "group");
        return new SourceOptions(group, commit, startOffset, startAt, config, pluginConfig);
    }

    SourceOptions withCommit(Commit commit) {
        Objects.requireNonNull(commit, "commit");
        return new SourceOptions(group, commit, startOffset, startAt, config, pluginConfig);
    }

    SourceOptions withStartOffset(StartOffset startOffset) {
        Objects.requireNonNull(startOffset, "startOffset");
        return new SourceOptions(group, commit, startOffset, startAt, config, pluginConfig);
    }

    SourceOptions withStartAt(KafkaPosition startAt) {
        Objects.requireNonNull(startAt, "position");
        return new SourceOptions(group, commit, startOffset, startAt, config, pluginConfig);
    }

    SourceOptions withConfig(String key, Object value) {
        return new SourceOptions(group, commit, startOffset, startAt, with(config, key, value), pluginConfig);
    }

    SourceOptions withPluginConfig(String key, Object value) {
        return new SourceOptions(group, commit, startOffset, startAt, config, with(pluginConfig, key, value));
    }

    /** The properties and one more, in the order in which they were set. */
    static Map<String, Object> with(Map<String, Object> properties, String key, Object value) {
        Map<String, Object> copy = new LinkedHashMap<>(properties);
        copy.put(Objects.requireNonNull(key, "key"), Objects.requireNonNull(value, "value"));
        return Collections.unmodifiableMap(copy);
    }
}
