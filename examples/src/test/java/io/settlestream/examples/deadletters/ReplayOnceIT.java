package io.settlestream.examples.deadletters;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.examples.deadletters.ToolKafka.Told;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("Each dead letter is replayed once")
@Timeout(180)
class ReplayOnceIT {

    private static final int LETTERS = 250;

    /** Within the second transaction, as each has a hundred letters, and a record and a marker for each. */
    private static final int IN_THE_MIDDLE = 300;

    private static ToolKafka kafka;

    private String origin;
    private String dead;

    @BeforeAll
    static void start() {
        kafka = new ToolKafka();
    }

    @AfterAll
    static void stop() {
        kafka.close();
    }

    @BeforeEach
    void letters() {
        origin = kafka.topic("charges", 1);
        dead = kafka.topic("dead", 1);
        kafka.sendLetters(dead, origin, LETTERS);
    }

    @Test
    @DisplayName("when a run is killed after Kafka took a letter and before it is committed")
    void killed(@TempDir Path folder) throws Exception {
        Process run = start(folder, true);
        String said = new String(run.getInputStream().readAllBytes(), UTF_8);
        assertThat(run.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(run.exitValue()).as(said).isEqualTo(Accident.KILLED_EXIT);
        assertThat(said.lines()).as("told before it was killed").hasSize(100);
        assertThat(kafka.end(origin)).as("the log has more than is committed").isGreaterThan(101);

        Told rest = kafka.tool("replay", dead, "--all", "--yes");

        assertThat(rest.exit()).as(rest.err()).isZero();
        assertThat(rest.summary()).isEqualTo("Replayed 150 of 250 dead letters (before: 100, impossible: 0).");
        assertEachOnce();
    }

    @Test
    @DisplayName("when another run begins in the middle: that one goes on, and the first stops and says so")
    void takenOver(@TempDir Path folder) throws Exception {
        Process first = start(folder, false);
        Told second;
        String said;
        try (BufferedReader out = first.inputReader(UTF_8)) {
            while (!Accident.STANDS_STILL.equals(out.readLine())) {
                assertThat(first.isAlive()).isTrue();
            }
            second = kafka.tool("replay", dead, "--all", "--yes");
            first.outputWriter(UTF_8).append('\n').flush();
            said = out.lines().collect(Collectors.joining("\n"));
        }

        assertThat(second.exit()).as(second.err()).isZero();
        assertThat(second.summary()).isEqualTo("Replayed 150 of 250 dead letters (before: 100, impossible: 0).");
        assertThat(first.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(first.exitValue()).as(said).isEqualTo(1);
        assertThat(said).contains("Another run has begun on the same dead letters", "run the tool again");
        assertThat(said).contains("Replayed 100 of 250 dead letters");
        assertEachOnce();
    }

    @Test
    @DisplayName("when another run replays some while somebody thinks about whether to")
    void whileItAsks() {
        Told told = kafka.toolAgreedAfter(
                () -> assertThat(kafka.tool("replay", dead, "--limit=7", "--all", "--yes")
                                .exit())
                        .isZero(),
                "replay",
                dead,
                "--all");

        assertThat(told.exit()).as(told.err()).isZero();
        assertThat(told.err()).contains("250 dead letters");
        assertThat(told.summary()).isEqualTo("Replayed 243 of 250 dead letters (before: 7, impossible: 0).");
        assertEachOnce();
    }

    @Test
    @DisplayName("when three runs begin at the same time")
    void atTheSameTime() {
        List<CompletableFuture<Told>> runs = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            runs.add(CompletableFuture.supplyAsync(
                    () -> kafka.tool("replay", dead, "--all", "--yes"), task -> new Thread(task, "run").start()));
        }
        List<Told> told = runs.stream().map(CompletableFuture::join).toList();

        assertThat(told).as("the one that began last ends well").anyMatch(run -> run.exit() == 0);
        assertThat(told).allMatch(run -> run.exit() == 0 || run.err().contains("Another run has begun"));
        assertEachOnce();
    }

    private void assertEachOnce() {
        assertThat(kafka.values(origin))
                .containsExactlyInAnyOrderElementsOf(
                        IntStream.range(0, LETTERS).mapToObj(i -> "value-" + i).toList());
        assertThat(kafka.tool("list", dead, "--not-replayed").out()).isEmpty();
    }

    /** Starts a run in a process of its own, to which something happens in the middle. */
    private Process start(Path folder, boolean killed) throws IOException {
        Path config = Files.writeString(folder.resolve("client.properties"), """
                interceptor.classes=%s
                %s=%d
                %s=%s
                """.formatted(
                        Accident.class.getName(), Accident.AFTER, IN_THE_MIDDLE, Accident.KILLED, killed));
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx256m",
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        DeadLettersMain.class.getName(),
                        "replay",
                        "--bootstrap=" + kafka.bootstrap(),
                        "--topic=" + dead,
                        "--all",
                        "--yes",
                        "--command-config=" + config)
                .redirectErrorStream(true)
                .start();
    }
}
