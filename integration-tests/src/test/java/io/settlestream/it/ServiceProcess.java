package io.settlestream.it;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.settlestream.HandlerOutcome;
import io.settlestream.RunningApp;
import io.settlestream.SettleStream;
import io.settlestream.Subscriber;
import io.settlestream.kafka.Commit;
import io.settlestream.kafka.KafkaBroker;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.kafka.StartOffset;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.common.config.ConfigResource;

/**
 * A service in a process of its own, to be frozen and thawed. It holds its first record until it is told
 * {@code release}, acks all others at once, and says what it is given and how many partitions it owns.
 */
final class ServiceProcess implements AutoCloseable {

    private static final String SESSION_MILLIS = "1000";

    private final Process process;
    private final List<String> lines = new CopyOnWriteArrayList<>();

    private ServiceProcess(Process process) {
        this.process = process;
        Thread.ofVirtual().start(() -> {
            try (BufferedReader out = new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8))) {
                out.lines().forEach(lines::add);
            } catch (IOException | UncheckedIOException e) {
                lines.add(e.toString());
            }
        });
    }

    /** Lets a group of the consumer protocol notice a dead member as soon as the cluster allows. */
    static void shortSession(LiveKafka kafka, String group) {
        ConfigEntry session = new ConfigEntry("consumer.session.timeout.ms", SESSION_MILLIS);
        LiveKafka.get(kafka.admin()
                .incrementalAlterConfigs(Map.of(
                        new ConfigResource(ConfigResource.Type.GROUP, group),
                        List.of(new AlterConfigOp(session, AlterConfigOp.OpType.SET))))
                .all());
    }

    static ServiceProcess start(LiveKafka kafka, String topic, String group, GroupProtocol protocol)
            throws IOException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        "-XX:TieredStopAtLevel=1",
                        ServiceProcess.class.getName(),
                        kafka.bootstrap(),
                        topic,
                        group,
                        protocol.name())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        return new ServiceProcess(process);
    }

    List<String> lines() {
        return List.copyOf(lines);
    }

    /** Waits until the process has said this, after all it had said before. */
    void awaitLine(String line) {
        LiveKafka.eventually("the process says " + line, () -> lines.contains(line));
    }

    void send(String command) throws IOException {
        process.getOutputStream().write((command + "\n").getBytes(UTF_8));
        process.getOutputStream().flush();
    }

    void freeze() throws IOException, InterruptedException {
        signal("-STOP");
    }

    void thaw() throws IOException, InterruptedException {
        signal("-CONT");
    }

    private void signal(String name) throws IOException, InterruptedException {
        new ProcessBuilder("kill", name, Long.toString(process.pid())).start().waitFor();
    }

    int exit() throws InterruptedException {
        if (!process.waitFor(LiveKafka.PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
            throw new AssertionError("the process does not end");
        }
        return process.exitValue();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }

    /** The process itself. */
    public static void main(String[] arguments) throws Exception {
        GroupProtocol protocol = GroupProtocol.valueOf(arguments[3]);
        KafkaTopic topic = protocol.apply(KafkaTopic.of(arguments[1])
                .commit(Commit.tracked())
                .startOffset(StartOffset.EARLIEST)
                .config("auto.commit.interval.ms", 50)
                .config("max.poll.records", 1));
        if (protocol != GroupProtocol.CONSUMER) {
            topic = topic.config("session.timeout.ms", SESSION_MILLIS);
        }
        CountDownLatch release = new CountDownLatch(1);
        Subscriber<String, Object> subscriber = Subscriber.on(topic, String.class)
                .handle((value, context) -> {
                    say("begun " + context.offset());
                    while (release.getCount() > 0) {
                        try {
                            release.await();
                        } catch (InterruptedException e) {
                            // A handler that does not listen.
                        }
                    }
                    return HandlerOutcome.ack();
                });
        RunningApp app = SettleStream.app("service", "1")
                .withBroker(
                        KafkaBroker.of(arguments[0]).defaultGroup(arguments[2]),
                        scope -> scope.include(subscriber).inFlightLimit(1, 1 << 20))
                .start();
        Thread.ofVirtual().start(() -> sayWhatIsOwned(app));
        try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8))) {
            for (String command = in.readLine(); command != null && !command.equals("stop"); command = in.readLine()) {
                if (command.equals("release")) {
                    release.countDown();
                }
            }
        }
        System.exit(LiveKafka.get(app.shutdown()).clean() ? 0 : 1);
    }

    private static void sayWhatIsOwned(RunningApp app) {
        int before = -1;
        while (true) {
            int owned = app.health().subscriptions().get(0).partitions().size();
            if (owned != before) {
                say("owned " + owned);
                before = owned;
            }
            LockSupport.parkNanos(5_000_000);
        }
    }

    private static void say(String what) {
        System.out.println(what);
    }
}
