package io.settlestream.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** A node in a child JVM that runs {@link NodeMain}; the directory of the node has its files. */
final class ProcessNode implements NodeRunner {
    /** A child that was sent a signal which it cannot ignore is waited for so long. */
    private static final Duration DEATH_TIMEOUT = Duration.ofSeconds(10);

    private static final int TAIL_LINES = 25;
    private static final Path SHELL = Path.of("/bin/sh");

    private final NodeSpec spec;
    private volatile @Nullable Process process;
    private volatile @Nullable Process starting;
    private @Nullable Process pauseGuard;

    ProcessNode(NodeSpec spec) {
        this.spec = spec;
    }

    @Override
    public void start(Duration timeout) {
        Process child = launch();
        starting = child;
        boolean ready = false;
        try {
            String answer = answer(child).get(timeout.toMillis(), TimeUnit.MILLISECONDS);
            if (!NodeMain.READY.equals(answer)) {
                throw notStarted(whyDead(child, answer), null);
            }
            ready = true;
            process = child;
        } catch (TimeoutException e) {
            throw notStarted(NodeRunner.late(timeout), e);
        } catch (ExecutionException e) {
            throw notStarted("its answer cannot be read, " + EmbeddedKafkaException.rootMessage(e), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw notStarted("the thread that waited for it was interrupted", e);
        } finally {
            starting = null;
            if (!ready) {
                end(child);
            }
        }
    }

    private Process launch() {
        try {
            var builder = new ProcessBuilder(ChildCommand.of(spec))
                    .redirectError(Redirect.to(errorFile().toFile()));
            ChildCommand.clean(builder.environment());
            return builder.start();
        } catch (IOException e) {
            throw notStarted("its process cannot be launched, " + e, e);
        }
    }

    private Path errorFile() {
        return spec.directory().resolve("stderr.log");
    }

    /** The first line that the child prints, or null if it ends without one. */
    private CompletableFuture<@Nullable String> answer(Process child) {
        var answer = new CompletableFuture<@Nullable String>();
        Thread.ofPlatform()
                .daemon()
                .name("embedded-kafka-" + spec.id() + "-answer")
                .start(() -> {
                    try {
                        answer.complete(
                                child.inputReader(StandardCharsets.UTF_8).readLine());
                    } catch (IOException e) {
                        answer.completeExceptionally(e);
                    }
                });
        return answer;
    }

    private String whyDead(Process child, @Nullable String answer) {
        if (answer != null && answer.startsWith(NodeMain.FAILED)) {
            return answer.substring(NodeMain.FAILED.length());
        }
        awaitEnd(child, DEATH_TIMEOUT);
        return child.isAlive() ? "it said " + answer : "its process ended with code " + child.exitValue();
    }

    private EmbeddedKafkaException notStarted(String why, @Nullable Throwable cause) {
        return new EmbeddedKafkaException("%s did not start: %s.%s".formatted(spec, why, standardError()), cause);
    }

    private String standardError() {
        try {
            List<String> lines = Files.readAllLines(errorFile());
            if (lines.isEmpty()) {
                return "";
            }
            var tail = lines.subList(Math.max(0, lines.size() - TAIL_LINES), lines.size());
            return "\nThe end of its standard error:\n  " + String.join("\n  ", tail);
        } catch (IOException | UncheckedIOException e) {
            return ""; // there is none, or it is no text
        }
    }

    @Override
    public void abortStart() {
        Process child = starting;
        if (child != null) {
            child.destroyForcibly(); // start() sees its output end
        }
    }

    @Override
    public boolean alive() {
        Process child = process;
        return child != null && child.isAlive();
    }

    @Override
    public void stop(Duration timeout) {
        if (!tell(NodeMain.STOP, timeout)) {
            throw new EmbeddedKafkaException(
                    "%s did not stop cleanly within %s, and was killed.%s".formatted(spec, timeout, standardError()),
                    null);
        }
    }

    @Override
    public void leave() {
        // nobody sees its logs
    }

    @Override
    public void close(boolean cleanly) {
        if (!cleanly) {
            kill();
        } else if (!tell(NodeMain.CLOSE, CLOSE_TIMEOUT)) {
            throw new EmbeddedKafkaException(
                    "%s did not close cleanly within %s, and was killed. It recovers its records at the next start.%s"
                            .formatted(spec, CLOSE_TIMEOUT, standardError()),
                    null);
        }
    }

    /** Whether the child ended by itself after the command, instead of having to be killed. */
    private boolean tell(String command, Duration timeout) {
        Process child = process;
        if (child == null) {
            return true;
        }
        try {
            var out = child.outputWriter(StandardCharsets.UTF_8);
            out.write(command + "\n");
            out.flush();
        } catch (IOException e) {
            // it is dead already, which the next line sees
        }
        boolean ended = awaitEnd(child, timeout);
        end(child);
        process = null;
        return ended;
    }

    @Override
    public void kill() {
        Process child = process;
        if (child != null) {
            end(child);
            process = null;
        }
        Process guard = pauseGuard;
        if (guard != null) {
            end(guard);
            pauseGuard = null;
        }
    }

    private static void end(Process child) {
        child.destroyForcibly();
        awaitEnd(child, DEATH_TIMEOUT);
    }

    private static boolean awaitEnd(Process child, Duration timeout) {
        try {
            return child.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return !child.isAlive();
        }
    }

    /*
     * A frozen child cannot see that this JVM is gone. So a shell freezes it and waits for its own input to end, be it
     * by resume() or by the end of this JVM, and then lets it go on.
     */
    @Override
    public void pause() {
        Process child = process;
        if (!Files.isExecutable(SHELL) || child == null) {
            throw new UnsupportedOperationException(
                    "%s cannot be paused: that takes POSIX signals, and there is no %s here.".formatted(spec, SHELL));
        }
        // The signal is only queued when kill returns: a busy thread may still answer a request. Where /proc tells the
        // state of threads, it is waited for until all have stopped.
        String script = """
                stopped() { ! grep -L '^State:.T' /proc/$1/task/*/status 2>/dev/null | grep -q .; }
                kill -STOP $1 && until stopped $1; do sleep 0.01; done && echo paused && read end
                kill -CONT $1
                """;
        String answer;
        try {
            Process guard = new ProcessBuilder(SHELL.toString(), "-c", script, "pause", Long.toString(child.pid()))
                    .redirectErrorStream(true)
                    .start();
            pauseGuard = guard;
            answer = guard.inputReader().readLine();
        } catch (IOException e) {
            throw new EmbeddedKafkaException(spec + " was not paused: " + e, e);
        }
        if (!"paused".equals(answer)) {
            resume();
            throw new EmbeddedKafkaException(spec + " was not paused: " + answer, null);
        }
    }

    @Override
    public void resume() {
        Process guard = pauseGuard;
        pauseGuard = null;
        if (guard == null) {
            return;
        }
        try {
            guard.outputWriter().close();
        } catch (IOException e) {
            // it has ended, and has let the child go on before
        }
        if (!awaitEnd(guard, DEATH_TIMEOUT)) {
            throw new EmbeddedKafkaException(
                    "%s was not resumed within %s: its guard does not end. kill() it.".formatted(spec, DEATH_TIMEOUT),
                    null);
        }
    }
}
