package io.settlestream.internal.config;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.ConfigKey;
import org.jspecify.annotations.Nullable;

/** Kafka's kinds of client, each with the properties that it knows. */
@SuppressWarnings("ImmutableEnumChecker") // definition and names are only read
enum Client {
    CONSUMER("consumer", ConsumerConfig.configDef()),
    PRODUCER("producer", ProducerConfig.configDef()),
    ADMIN("admin client", AdminClientConfig.configDef());

    private final String word;
    private final ConfigDef definition;
    private final Set<String> names;

    Client(String word, ConfigDef definition) {
        this.word = word;
        this.definition = definition;
        // Internal properties are no part of Kafka's API: they change without notice and are nobody's to set.
        this.names = definition.configKeys().values().stream()
                .filter(key -> !key.internalConfig)
                .map(key -> key.name)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    static Set<Client> knowing(String property) {
        EnumSet<Client> knowing = EnumSet.noneOf(Client.class);
        Arrays.stream(values()).filter(client -> client.knows(property)).forEach(knowing::add);
        return knowing;
    }

    String word() {
        return word;
    }

    Set<String> names() {
        return names;
    }

    boolean knows(String property) {
        return names.contains(property);
    }

    ConfigKey key(String property) {
        return Objects.requireNonNull(definition.configKeys().get(property), property);
    }

    /** What the client takes if the property is not set. */
    @Nullable
    Object defaultOf(String property) {
        return key(property).defaultValue;
    }
}
