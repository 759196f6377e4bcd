package io.settlestream.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.it.KillingService.Settings;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What becomes of records that end the process of their handler, and of those that are in hand when a process ends. */
class KillerIT {

    private static final int PARTITIONS = 2;

    /** Whatever kills has been found out by then: its place is halved with each life, and then its attempts are counted. */
    private static final int MOST_LIVES = 25;

    private final LiveKafka kafka = LiveKafka.shared();
    private final String group = LiveKafka.unique("group");
    private final String topic = kafka.topic("killing", PARTITIONS);
    private final String dead = kafka.topic("killers", 1);

    private final Set<String> written = new TreeSet<>();
    private final Set<String> handled = new TreeSet<>();

    /** How many lives have ended with a record in hand and nothing else. */
    private final Map<String, Integer> endsAlone = new HashMap<>();

    @ParameterizedTest(name = "{0}: cap {1}, {2} workers, batches of {3}, handlers of {4} ms, killers at {5} of {6}")
    @CsvSource({
        "classic,  3, 8, 1, 20, 0,     40",
        "consumer, 1, 4, 1, 2,  150,   300",
        "classic,  1, 2, 8, 1,  3;11,  30"
    })
    @DisplayName(
            "7.4 a record that ends the process is a dead letter after some lives, and not before its cap; no other record is,"
                    + " and all are handled")
    void isFoundOut(String protocol, int cap, int workers, int batch, int slowMillis, String killers, int count)
            throws Exception {
        write(count, killers.split(";"));
        if (protocol.equals("consumer")) {
            ServiceProcess.shortSession(kafka, group);
        }
        Settings settings =
                new Settings(kafka.bootstrap(), topic, dead, group, protocol, cap, workers, batch, slowMillis);

        int lives = 1;
        while (!live(settings, null)) {
            assertThat(lives).as("lives").isLessThan(MOST_LIVES);
            lives++;
        }

        System.out.println(protocol + ": " + lives + " lives, ends alone " + endsAlone);
        Set<String> kill = new TreeSet<>(written);
        kill.removeIf(value -> !value.startsWith("kill"));
        // A process that is ended between the write and the commit writes it once more.
        assertThat(new TreeSet<>(kafka.readValues(dead, 1))).isEqualTo(kill);
        assertThat(endsAlone)
                .allSatisfy((value, ends) -> assertThat(ends).as(value).isGreaterThanOrEqualTo(cap));
        Set<String> innocent = new TreeSet<>(written);
        innocent.removeAll(kill);
        assertThat(handled).isEqualTo(innocent);
    }

    @Test
    @DisplayName(
            "7.4 a process that is killed from outside makes no dead letters, but of a record that alone was in hand as"
                    + " often as its cap")
    void killedFromOutside() throws Exception {
        long seed = new Random().nextLong();
        System.out.println("killedFromOutside seed " + seed);
        Random random = new Random(seed);
        int cap = 2;
        write(150);
        Settings settings = new Settings(kafka.bootstrap(), topic, dead, group, "classic", cap, 8, 1, 50);

        for (int kill = 0; kill < 10; kill++) {
            if (live(settings, 1 + random.nextInt(25))) {
                break;
            }
        }
        assertThat(live(settings, null)).isTrue();

        List<String> deadLetters = kafka.readValues(dead, 1);
        System.out.println("ends alone " + endsAlone + ", dead letters " + deadLetters);
        assertThat(deadLetters)
                .allSatisfy(
                        value -> assertThat(endsAlone.getOrDefault(value, 0)).isGreaterThanOrEqualTo(cap));
        handled.addAll(deadLetters);
        assertThat(handled).isEqualTo(written);
    }

    /** Writes so many records to each partition; a killer to one partition after the other. */
    private void write(int each, String... killers) {
        for (int partition = 0; partition < PARTITIONS; partition++) {
            List<String> values = new ArrayList<>();
            for (int i = 0; i < each; i++) {
                values.add("v" + partition + "-" + i);
            }
            for (int i = partition; i < killers.length; i += PARTITIONS) {
                values.set(Integer.parseInt(killers[i]), "kill" + i);
            }
            kafka.produce(topic, partition, values.toArray(String[]::new));
            written.addAll(values);
        }
    }

    /**
     * Lets a process live until everything is committed, it ends, or it has said so many lines.
     *
     * @return whether everything is committed
     */
    private boolean live(Settings settings, @Nullable Integer lines) throws Exception {
        Life life = new Life(settings);
        try {
            Map<Integer, Long> ends = kafka.ends(topic, PARTITIONS);
            BooleanSupplier all = () -> kafka.committed(group, topic).equals(ends);
            LiveKafka.eventually(
                    "it has ended, or handled everything",
                    () -> !life.process.isAlive()
                            || (lines != null && life.said.size() >= lines)
                            || all.getAsBoolean());
            if (life.process.isAlive() && lines != null && !all.getAsBoolean()) {
                assertThat(life.process.toHandle().destroyForcibly()).isTrue();
            }
            life.process.getOutputStream().close();
        } catch (IOException e) {
            assertThat(life.process.isAlive()).as(e.toString()).isFalse(); // its input ended with it
        } finally {
            life.end();
        }
        if (life.process.exitValue() == 0) {
            return true;
        }
        if (lines == null) {
            assertThat(life.process.exitValue()).isEqualTo(KillingService.KILLED);
        }
        life.inHandAlone().forEach(value -> endsAlone.merge(value, 1, Integer::sum));
        return false;
    }

    private final class Life {
        private final Process process;
        private final List<String> said = Collections.synchronizedList(new ArrayList<>());
        private final Thread reader;

        Life(Settings settings) throws IOException {
            List<String> command = new ArrayList<>(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-Xshare:auto",
                    "-XX:TieredStopAtLevel=1",
                    "-cp",
                    System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                    KillingService.class.getName()));
            command.addAll(List.of(settings.asArguments()));
            process =
                    new ProcessBuilder(command).redirectError(Redirect.INHERIT).start();
            reader = Thread.ofVirtual().start(() -> {
                try (BufferedReader lines =
                        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
                    lines.lines()
                            .filter(line -> line.matches("(began|handled) .*"))
                            .forEach(said::add);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }

        void end() throws Exception {
            if (!process.waitFor(30, TimeUnit.SECONDS)) {
                process.toHandle().destroyForcibly();
                process.waitFor();
            }
            reader.join();
            said.stream().filter(line -> line.startsWith("handled ")).forEach(line -> handled.add(line.substring(8)));
        }

        /** What was in hand alone at the end, if anything; also what was just handled and not followed by anything. */
        Set<String> inHandAlone() {
            Set<String> inHand = new LinkedHashSet<>();
            String last = "";
            for (String line : said) {
                String value = line.substring(line.indexOf(' ') + 1);
                if (line.startsWith("began ")) {
                    inHand.add(value);
                } else {
                    inHand.remove(value);
                }
                last = value;
            }
            return inHand.isEmpty() ? Set.of(last) : inHand.size() == 1 ? inHand : Set.of();
        }
    }
}
