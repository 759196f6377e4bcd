package io.settlestream.internal.config;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The nodes that a client asks first, checked by their spelling alone: whether they answer is seen at connect. */
final class BootstrapServers {

    /** As Kafka reads it: a listener's name is allowed in front, an IPv6 address stands in brackets. */
    private static final Pattern ADDRESS =
            Pattern.compile("(?:[0-9a-zA-Z%._-]+://)?(?:\\[[0-9a-fA-F:.%]+]|[0-9a-zA-Z%._-]+):([0-9]{1,5})");

    private static final int MAX_PORT = 65_535;

    private BootstrapServers() {}

    /** The nodes one by one: an entry may itself be a list, as it often is in an environment variable. */
    static List<String> split(List<String> servers) {
        List<String> nodes = new ArrayList<>();
        for (String entry : servers) {
            for (String node : entry.split(",", -1)) {
                nodes.add(node.trim());
            }
        }
        return List.copyOf(nodes);
    }

    static Optional<String> mistake(List<String> nodes) {
        if (nodes.isEmpty() || nodes.stream().allMatch(String::isEmpty)) {
            return Optional.of("no node is named. Name at least one host:port in KafkaBroker.of");
        }
        for (String node : nodes) {
            Matcher address = ADDRESS.matcher(node);
            if (!address.matches()) {
                return Optional.of("'" + node + "' is not host:port, such as kafka-1:9092 or [::1]:9092. "
                        + "Correct it in KafkaBroker.of");
            }
            int port = Integer.parseInt(address.group(1));
            if (port < 1 || port > MAX_PORT) {
                return Optional.of("the port of '" + node + "' is not between 1 and " + MAX_PORT
                        + ". Correct it in KafkaBroker.of");
            }
        }
        return Optional.empty();
    }
}
