package io.settlestream.internal.config;

import java.util.Collection;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The properties that one call such as {@code KafkaTopic.config} has set.
 *
 * @param where who a mistake is reported for
 * @param call the method that set them
 * @param clients which clients they are for
 * @param properties what was set
 */
record Passthrough(String where, String call, Set<Client> clients, Map<String, Object> properties) {

    /** Depends on the commit mode, which only a subscription knows. */
    private static final String ENABLE_AUTO_COMMIT = "enable.auto.commit";

    /** Names the providers that put values in the place of {@code ${provider:path:key}}. */
    static final String CONFIG_PROVIDERS = "config.providers";

    /**
     * Reports every mistake, for whichever client it is one, and returns what {@code client} takes.
     *
     * @param placeholders whether the client replaces {@code ${...}} as it is made: what stands there is not known here
     */
    Map<String, Object> check(Client client, boolean placeholders, Report report) {
        Map<String, Object> accepted = new LinkedHashMap<>();
        properties.forEach((property, value) -> {
            Optional<String> refusal = refusal(property, value);
            if (refusal.isPresent()) {
                report.add(where, call + " sets " + property + ". " + refusal.get());
            } else if (property.equals(ENABLE_AUTO_COMMIT)) {
                // Checked by the subscription, and never passed on: the framework commits.
            } else if (placeholders && isPlaceholder(value)) {
                if (client.knows(property)) {
                    accepted.put(property, value);
                }
            } else {
                checkValue(property, value, client, accepted, report);
            }
        });
        return accepted;
    }

    static boolean isPlaceholder(Object value) {
        return value instanceof String text && text.contains("${");
    }

    private void checkValue(String property, Object value, Client client, Map<String, Object> accepted, Report report) {
        Set<Client> knowing = EnumSet.copyOf(clients);
        knowing.retainAll(Client.knowing(property));
        for (Client each : knowing) {
            switch (PropertyValue.of(each.key(property), value)) {
                case PropertyValue.Bad bad -> {
                    report.add(
                            where,
                            call + " sets " + property + " to a value that the " + each.word() + " does not take: "
                                    + bad.why() + ". Correct it, or leave it out.");
                    return;
                }
                case PropertyValue.Good good -> {
                    if (each == client) {
                        accepted.put(property, good.value());
                    }
                }
            }
        }
    }

    private Optional<String> refusal(String property, Object value) {
        if (Client.knowing(property).isEmpty()) {
            return Optional.of(unknown(property));
        }
        Optional<String> owned = OwnedProperties.refusal(property, value);
        if (owned.isPresent()) {
            return owned;
        }
        Set<Client> knowing = Client.knowing(property);
        if (knowing.stream().noneMatch(clients::contains)) {
            return Optional.of("It is a property of the " + words(knowing) + ", not of the " + words(clients) + ": "
                    + home(knowing) + ".");
        }
        return Optional.empty();
    }

    private String unknown(String property) {
        Optional<String> librdkafka = LibrdkafkaNames.advice(property);
        if (librdkafka.isPresent()) {
            return "That is a property of librdkafka, which Kafka's Java client does not know. " + librdkafka.get();
        }
        String said = "Kafka's " + words(clients) + " does not know it";
        if (property.startsWith(CONFIG_PROVIDERS + ".")) {
            return said + ": what a config provider is told goes into pluginConfig.";
        }
        Set<String> candidates = clients.stream()
                .map(Client::names)
                .flatMap(Collection::stream)
                .collect(Collectors.toCollection(TreeSet::new));
        return NearestName.of(property, candidates)
                .map(nearest -> said + ". Did you mean " + nearest + "?"
                        + OwnedProperties.instead(nearest).map(" "::concat).orElse(""))
                .orElse(said + ": correct the name, or use pluginConfig if an interceptor, reporter or other plug-in"
                        + " reads it.");
    }

    /** Where a property of these clients is set. */
    private static String home(Set<Client> knowing) {
        if (knowing.contains(Client.CONSUMER)) {
            return "set it with KafkaTopic.config or KafkaBroker.config";
        }
        return knowing.contains(Client.PRODUCER)
                ? "set it with KafkaBroker.producerConfig"
                : "set it with KafkaBroker.config";
    }

    private static String words(Set<Client> clients) {
        return clients.stream().map(Client::word).collect(Collectors.joining(" or "));
    }
}
