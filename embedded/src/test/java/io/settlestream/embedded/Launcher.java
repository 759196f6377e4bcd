package io.settlestream.embedded;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** A JVM of its own that starts Kafka and does not close it. */
final class Launcher {
    static final String STARTED = "started";

    private Launcher() {}

    /** What the other JVM does once Kafka runs. */
    enum Ending {
        /** A node runs, another one is paused, and the JVM goes on until it is killed. */
        WAIT_WITH_PROCESSES,
        /** A node as a process and one in the JVM run when the JVM exits. */
        EXIT,
        /** As that, but the one in the JVM has no shutdown hook. */
        EXIT_WITHOUT_HOOK
    }

    /** Starts the other JVM and returns when its Kafka runs. */
    static Process launch(Ending ending, Path temporary) throws IOException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Djava.io.tmpdir=" + temporary,
                        "-cp",
                        System.getProperty("java.class.path"),
                        Launcher.class.getName(),
                        ending.name())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String line = process.inputReader(StandardCharsets.UTF_8).readLine();
        if (!STARTED.equals(line)) {
            process.destroyForcibly();
            throw new IllegalStateException("The launcher printed: " + line);
        }
        return process;
    }

    public static void main(String[] args) throws Exception {
        var processes = EmbeddedKafka.builder().asProcess().start();
        switch (Ending.valueOf(args[0])) {
            case WAIT_WITH_PROCESSES -> {
                EmbeddedKafka.builder().asProcess().start().node(0).pause();
                System.out.println(STARTED);
                System.in.read();
            }
            case EXIT, EXIT_WITHOUT_HOOK -> {
                var builder = EmbeddedKafka.builder();
                if (Ending.valueOf(args[0]) == Ending.EXIT_WITHOUT_HOOK) {
                    builder.withoutShutdownHook();
                }
                builder.start();
                System.out.println(STARTED);
                System.in.read();
                System.exit(0);
            }
        }
        throw new IllegalStateException(processes + " was to be left to the end of the JVM");
    }
}
