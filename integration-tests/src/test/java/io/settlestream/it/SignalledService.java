package io.settlestream.it;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.settlestream.Reply;
import io.settlestream.SettleStream;
import io.settlestream.Subscriber;
import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaPublish;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.kafka.StartOffset;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A program whose main is {@code App.main}, in a process of its own, to be told by a signal to end. */
final class SignalledService implements AutoCloseable {

    private final Process process;
    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final Thread reader;

    SignalledService(String bootstrap, String in, String out, String group) throws IOException {
        process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        "-XX:TieredStopAtLevel=1",
                        SignalledService.class.getName(),
                        bootstrap,
                        in,
                        out,
                        group)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        reader = Thread.ofVirtual().start(() -> {
            try (BufferedReader said = new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8))) {
                said.lines().forEach(lines::add);
            } catch (IOException | UncheckedIOException e) {
                lines.add(e.toString());
            }
        });
    }

    List<String> lines() {
        return List.copyOf(lines);
    }

    void awaitLine(String line) {
        LiveKafka.eventually("the process says " + line, () -> lines.contains(line));
    }

    /** Sends SIGTERM. */
    void terminate() throws IOException, InterruptedException {
        int unused = new ProcessBuilder("kill", "-TERM", Long.toString(process.pid()))
                .start()
                .waitFor();
    }

    /** Waits for the end, and for all that was said. */
    int exitCode() throws InterruptedException {
        if (!process.waitFor(LiveKafka.PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
            throw new AssertionError("the process does not end, having said " + lines);
        }
        reader.join();
        return process.exitValue();
    }

    @Override
    public void close() {
        Process unused = process.destroyForcibly();
    }

    /** The program: replies to each record, to {@code "slow"} only once it is being stopped, and fails at {@code "bad"}. */
    public static void main(String[] arguments) {
        CountDownLatch stopping = new CountDownLatch(1);
        SettleStream.app("signalled", "1")
                .withBroker(
                        KafkaBroker.of(arguments[0])
                                .defaultGroup(arguments[3])
                                .commit(Commit.tracked())
                                .assignmentTimeout(Duration.ofDays(1))
                                .producerConfig("linger.ms", 200),
                        scope -> scope.include(Subscriber.on(
                                        KafkaTopic.of(arguments[1]).startOffset(StartOffset.EARLIEST), String.class)
                                .<String, Object>handleReply(String.class, (value, context) -> {
                                    System.out.println("handling " + value);
                                    if (value.equals("bad")) {
                                        throw new IllegalArgumentException("bad");
                                    }
                                    if (value.equals("slow")) {
                                        stopping.await();
                                    }
                                    return Reply.of("handled " + value);
                                })
                                .reply(KafkaPublish.to(arguments[2]))))
                .afterStartup(state -> System.out.println("started"))
                .onShutdown(state -> {
                    System.out.println("stopping");
                    stopping.countDown();
                })
                .afterShutdown(state -> System.out.println("closed"))
                .main(arguments);
    }
}
