package io.settlestream.examples.payouts.demo;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A member of the service's groups: one process at a time, started by this one with the same Java and class path. For
 * one thread, but for {@link #destroy}.
 */
final class Member {

    /** More than the service's own bounds on a graceful stop. */
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(60);

    private static final Duration DEATH_TIMEOUT = Duration.ofSeconds(10);
    private static final int FIRST_JAVA_TO_WARN = 23;

    private final String name;
    private final List<String> arguments;
    private final Consumer<String> errors;
    private Told before = Told.NOTHING;
    private volatile @Nullable Run run;

    /** One process from its start to its end. */
    private static final class Run {

        final Process process;
        volatile boolean started;
        volatile boolean stoppedCleanly;
        boolean mustStopCleanly;
        volatile Told told = Told.NOTHING;
        final Thread listener;

        Run(Process process) {
            this.process = process;
            this.listener = listen(process.inputReader(StandardCharsets.UTF_8), this::hear);
        }

        private void hear(String line) {
            if (line.equals(ServiceProcess.STARTED)) {
                started = true;
            } else if (line.startsWith(ServiceProcess.STOPPED)) {
                stoppedCleanly = line.endsWith("true");
            } else {
                Told.parse(line).ifPresent(now -> told = now);
            }
        }
    }

    /**
     * @param arguments of {@link ServiceProcess}
     * @param errors takes what the processes write to their standard error
     */
    Member(String name, List<String> arguments, Consumer<String> errors) {
        this.name = name;
        this.arguments = arguments;
        this.errors = errors;
    }

    String name() {
        return name;
    }

    /** Starts a process; returns before it is up. */
    void start() {
        try {
            ProcessBuilder builder = new ProcessBuilder(command());
            builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
            Process process = builder.start();
            listen(process.errorReader(StandardCharsets.UTF_8), line -> errors.accept(name + ": " + line));
            run = new Run(process);
        } catch (IOException e) {
            throw new DemoException("The process of " + name + " cannot be started: " + e.getMessage(), e);
        }
    }

    private List<String> command() {
        // Small and quick to start: several of these share a machine with Kafka.
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-XX:-UsePerfData"));
        if (Runtime.version().feature() >= FIRST_JAVA_TO_WARN) {
            command.add("--sun-misc-unsafe-memory-access=allow");
            command.add("--enable-native-access=ALL-UNNAMED");
        }
        command.add(ServiceProcess.class.getName());
        command.addAll(arguments);
        return command;
    }

    /** Whether the service is started in a process that lives. */
    boolean up() {
        Run now = run;
        return now != null && now.started && now.process.isAlive();
    }

    /** The exit code of a process that ended although nobody told it to. */
    Optional<Integer> endedByItself() {
        Run now = run;
        return now == null || now.process.isAlive() ? Optional.empty() : Optional.of(now.process.exitValue());
    }

    /** Ends the process with SIGKILL, and returns when it is dead. */
    void kill() {
        Run now = run;
        if (now != null) {
            // Through the handle: Process closes the streams, and what was told last could not be read any more.
            boolean unused = now.process.toHandle().destroyForcibly();
            end(now, DEATH_TIMEOUT);
        }
    }

    /** Whether a process lives in which the service is not started yet. */
    boolean starting() {
        Run now = run;
        return now != null && !now.started && now.process.isAlive();
    }

    /** Asks the process to stop, as an operator would with SIGTERM. */
    void askToStop() {
        Run now = run;
        if (now != null) {
            now.mustStopCleanly = now.started;
            boolean unused = now.process.toHandle().destroy();
        }
    }

    /**
     * Waits for a process that was asked to stop, and kills one that does not.
     *
     * @return whether it stopped by itself, and cleanly if the service had been started
     */
    boolean awaitStop() {
        Run now = run;
        if (now == null) {
            return true;
        }
        end(now, STOP_TIMEOUT);
        return now.stoppedCleanly || !now.mustStopCleanly;
    }

    private void end(Run ending, Duration timeout) {
        try {
            if (!ending.process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
                ending.process.destroyForcibly().waitFor();
            }
            ending.listener.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DemoException("The demo was interrupted.", e);
        } finally {
            before = before.plus(ending.told);
            run = null;
        }
    }

    /** Kills the process without waiting; from any thread. */
    void destroy() {
        Run now = run;
        if (now != null) {
            now.process.destroyForcibly();
        }
    }

    /** What all processes of this member have told. */
    Told told() {
        Run now = run;
        return now == null ? before : before.plus(now.told);
    }

    private static Thread listen(BufferedReader from, Consumer<String> to) {
        return Thread.ofPlatform().daemon().name("demo-listener").start(() -> {
            try (from) {
                from.lines().forEach(to);
            } catch (IOException | UncheckedIOException e) {
                // the process is dead, and with it its streams
            }
        });
    }
}
