package io.settlestream.embedded;

import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Collectors;

/** How the child JVM of a node is launched: with the java and the class path of this one. */
final class ChildCommand {
    private static final int FIRST_TO_WARN_OF_UNSAFE = 23;

    private ChildCommand() {}

    /** Writes what the child reads into the node's directory, and gives the command that launches it. */
    static List<String> of(NodeSpec spec) throws IOException {
        Files.createDirectories(spec.directory());
        Path config = spec.directory().resolve("broker.properties");
        var properties = new Properties();
        properties.putAll(spec.brokerConfig());
        try (var out = Files.newBufferedWriter(config)) {
            properties.store(out, spec.toString());
        }
        // Class paths can be longer than a command line may be.
        Path arguments = spec.directory().resolve("java.args");
        Files.writeString(
                arguments,
                arguments(spec, config).stream().map(ChildCommand::quoted).collect(Collectors.joining("\n")),
                Charset.defaultCharset());
        return List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "@" + arguments);
    }

    private static List<String> arguments(NodeSpec spec, Path config) {
        var arguments = new ArrayList<>(List.of(
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-XX:-UsePerfData",
                "-Dslf4j.provider=" + NodeLog.class.getName(),
                "-Dslf4j.internal.verbosity=WARN",
                "-Dlog4j.provider=org.apache.logging.slf4j.SLF4JProvider"));
        if (Runtime.version().feature() >= FIRST_TO_WARN_OF_UNSAFE) {
            arguments.add("--sun-misc-unsafe-memory-access=allow");
            arguments.add("--enable-native-access=ALL-UNNAMED");
        }
        arguments.addAll(List.of(
                "-cp",
                System.getProperty("java.class.path"),
                NodeMain.class.getName(),
                config.toString(),
                spec.clusterId()));
        return arguments;
    }

    private static String quoted(String argument) {
        return '"' + argument.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    /** Takes out what would give the child a debugger, agents or options that were meant for this JVM. */
    static void clean(Map<String, String> environment) {
        environment.keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH"));
    }
}
