package io.settlestream.examples.deadletters;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** Which Kafka and which topic; mixed into each command. */
final class ClusterOptions {

    @Option(names = "--bootstrap", paramLabel = "HOST:PORT", required = true, description = "The Kafka to use.")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String bootstrap;

    @Option(names = "--topic", paramLabel = "TOPIC", required = true, description = "The topic with dead letters.")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private String topic;

    @Option(
            names = "--command-config",
            paramLabel = "FILE",
            description = "Properties for Kafka's clients, such as those of TLS and SASL.")
    private @Nullable Path config;

    @Option(names = "--help", usageHelp = true, description = "Show this help.")
    @SuppressWarnings("UnusedVariable") // picocli looks at the annotation alone
    private boolean help;

    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli
    private DeadLettersMain main;

    String topic() {
        return topic;
    }

    Cluster cluster() {
        return new Cluster(bootstrap, config == null ? Map.of() : properties(main.file(config)));
    }

    private static Map<String, String> properties(Path file) {
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(file)) {
            properties.load(reader);
        } catch (IOException | IllegalArgumentException e) {
            throw new ToolException("File %s of --command-config cannot be read: %s".formatted(file, e), e);
        }
        return properties.stringPropertyNames().stream().collect(Collectors.toMap(n -> n, properties::getProperty));
    }
}
