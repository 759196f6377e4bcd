package io.settlestream.conformance.clients;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Plays a script on the real Kafka and on the one in this process, and compares what was seen. The literal expectation
 * is a fact about Kafka, so that a trace that lost its words cannot agree with another.
 */
final class BothKafkas {

    private static final AtomicInteger NAMES = new AtomicInteger();

    private BothKafkas() {}

    /** The Kafka of this process does not do as a broker does. */
    private static final class InProcessDiffers extends AssertionError {

        InProcessDiffers(String message, Throwable failure) {
            super(message, failure);
        }
    }

    /** What a script saw, and how it failed, if it did. */
    private record Seen(List<String> trace, Throwable failure) {

        String describe(String where) {
            return where + (failure == null ? "" : " (failed: " + failure + ")") + "\n  " + String.join("\n  ", trace);
        }
    }

    /** Plays a script whose consumers, if any, are of the classic protocol or say for themselves of which they are. */
    static void play(Script script, String expected) {
        play(script, Map.of(), expected);
    }

    /** Plays a script with consumers of the classic protocol, and again with consumers of the newer one. */
    static void playWithEachProtocol(Script script, String expected) {
        play(script, Map.of(), expected);
        play(script, Map.of("group.protocol", "consumer"), expected);
    }

    private static void play(Script script, Map<String, Object> consumers, String expected) {
        String prefix = "s%03d-".formatted(NAMES.incrementAndGet());
        Run real = Run.start("broker", script, new Stage(RealKafka.shared(), prefix, consumers));
        Run ours = Run.start("in-process", script, new Stage(new InProcess(), prefix, consumers));
        Seen onReal = real.seen();
        Seen onOurs = ours.seen();
        String both = "%s\n%s\n"
                .formatted(
                        onReal.describe("On a broker, with consumers " + consumers + ":"),
                        onOurs.describe("In process:"));
        assertThat(onReal.failure()).as(both).isNull();
        assertThat(String.join("\n", onReal.trace()).lines())
                .as("a fact about Kafka. " + both)
                .containsExactlyElementsOf(expected.lines().toList());
        if (onOurs.failure() != null || !onOurs.trace().equals(onReal.trace())) {
            throw new InProcessDiffers(both, onOurs.failure());
        }
    }

    /** A script under way on one of the two. */
    private record Run(Thread thread, Stage stage, CompletableFuture<Throwable> failure) {

        /** Longer than anything in a script waits for. */
        private static final long SECONDS = 60;

        static Run start(String where, Script script, Stage stage) {
            CompletableFuture<Throwable> failure = new CompletableFuture<>();
            Thread thread = Thread.ofPlatform().daemon().name("script-" + where).start(() -> {
                try (stage) {
                    script.run(stage);
                    failure.complete(null);
                } catch (Throwable e) {
                    failure.complete(e);
                }
            });
            return new Run(thread, stage, failure);
        }

        Seen seen() {
            Throwable failed;
            try {
                failed = failure.get(SECONDS, TimeUnit.SECONDS);
            } catch (TimeoutException | InterruptedException | ExecutionException e) {
                failed = new AssertionError("The script does not end", e);
                failed.setStackTrace(thread.getStackTrace());
            }
            return new Seen(stage.trace(), failed);
        }
    }
}
