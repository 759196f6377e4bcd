package io.settlestream.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.common.config.ConfigResource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A service whose process is killed loses nothing. */
class KillIT {

    private static final int PARTITIONS = 2;
    private static final int EACH = 300;

    private final LiveKafka kafka = LiveKafka.shared();
    private final String group = LiveKafka.unique("group");

    @ParameterizedTest
    @CsvSource({"classic,1", "consumer,4"})
    @DisplayName("3.1 after SIGKILL at any moment each record is handled, beginning with the committed offset")
    void losesNothing(String protocol, int workers) throws Exception {
        long seed = new Random().nextLong();
        System.out.println("losesNothing(" + protocol + ", " + workers + ") seed " + seed);
        Random random = new Random(seed);
        String topic = kafka.topic("killed", PARTITIONS);
        for (int partition = 0; partition < PARTITIONS; partition++) {
            kafka.produce(
                    topic,
                    partition,
                    IntStream.range(0, EACH).mapToObj(Integer::toString).toArray(String[]::new));
        }
        shortSessions();
        List<BitSet> handled =
                IntStream.range(0, PARTITIONS).mapToObj(i -> new BitSet()).toList();

        for (int kill = 0; kill < 2; kill++) {
            try (Child child = new Child(topic, protocol, workers, seed)) {
                child.begin(handled);
                child.readLines(50 + random.nextInt(150));
                child.kill();
            }
        }
        try (Child child = new Child(topic, protocol, workers, seed)) {
            child.begin(handled);
            LiveKafka.eventually(
                    "all is committed",
                    () -> kafka.committed(group, topic).values().stream().allMatch(offset -> offset == EACH));
            child.end();
        }

        assertThat(handled)
                .allSatisfy(offsets -> assertThat(offsets.nextClearBit(0)).isEqualTo(EACH));
    }

    /** Under the consumer protocol the session is the group's, not the member's. */
    private void shortSessions() {
        LiveKafka.get(kafka.admin()
                .incrementalAlterConfigs(Map.of(
                        new ConfigResource(ConfigResource.Type.GROUP, group),
                        List.of(new AlterConfigOp(
                                new ConfigEntry("consumer.session.timeout.ms", "1000"), AlterConfigOp.OpType.SET))))
                .all());
    }

    private boolean groupIsEmpty() {
        try {
            return kafka.admin()
                    .describeConsumerGroups(List.of(group))
                    .all()
                    .get(30, TimeUnit.SECONDS)
                    .get(group)
                    .members()
                    .isEmpty();
        } catch (java.util.concurrent.ExecutionException e) {
            return true; // it does not exist yet
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private final class Child implements AutoCloseable {
        private final String topic;
        private final int workers;
        private final Process process;
        private final BufferedReader lines;
        private final Map<Integer, Long> committed = new TreeMap<>();
        private final Map<Integer, List<Long>> delivered = new TreeMap<>();
        private List<BitSet> handled = List.of();

        Child(String topic, String protocol, int workers, long seed) throws IOException {
            this.topic = topic;
            this.workers = workers;
            List<String> command = new ArrayList<>(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-Xshare:auto",
                    "-XX:TieredStopAtLevel=1",
                    "-cp",
                    System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                    KilledService.class.getName(),
                    kafka.bootstrap(),
                    topic,
                    group,
                    protocol,
                    Integer.toString(workers),
                    Long.toString(seed)));
            this.process =
                    new ProcessBuilder(command).redirectError(Redirect.INHERIT).start();
            this.lines = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        }

        /** Lets the child read as soon as no member is left that could commit. */
        void begin(List<BitSet> handledSoFar) throws IOException {
            handled = handledSoFar;
            String line = lines.readLine();
            while (line != null && !line.equals("loaded")) {
                line = lines.readLine();
            }
            LiveKafka.eventually("the killed member is out of its group", KillIT.this::groupIsEmpty);
            committed.putAll(kafka.committed(group, topic));
            committed.forEach((partition, offset) -> assertThat(offset)
                    .as("committed of partition %s is at most its lowest open offset", partition)
                    .isLessThanOrEqualTo(handled.get(partition).nextClearBit(0)));
            process.getOutputStream().write('\n');
            process.getOutputStream().flush();
        }

        void readLines(int count) throws IOException {
            for (int i = 0; i < count; ) {
                String line = lines.readLine();
                if (line == null) {
                    return;
                }
                i += note(line) ? 1 : 0;
            }
        }

        private boolean note(String line) {
            String[] words = line.split(" ");
            if (words.length != 3 || !words[0].equals("handled")) {
                return false;
            }
            int partition = Integer.parseInt(words[1]);
            long offset = Long.parseLong(words[2]);
            handled.get(partition).set((int) offset);
            delivered.computeIfAbsent(partition, none -> new ArrayList<>()).add(offset);
            return true;
        }

        void kill() throws Exception {
            // Not by the process, which would close its output too, with what has not been read yet.
            assertThat(process.toHandle().destroyForcibly()).isTrue();
            finish();
        }

        void end() throws Exception {
            process.getOutputStream().close();
            finish();
            assertThat(process.exitValue()).isZero();
        }

        private void finish() throws Exception {
            String last = null;
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (last != null) {
                    note(last);
                }
                last = line;
            }
            // The very last line may be cut: what it says counts only if nothing was lost of it.
            if (last != null && last.matches("handled \\d+ \\d+") && process.waitFor() == 0) {
                note(last);
            }
            process.waitFor();
            delivered.forEach((partition, offsets) -> {
                long begin = committed.getOrDefault(partition, 0L);
                // With workers the first to end need not be the first that was begun.
                List<Long> first = offsets.subList(0, Math.min(offsets.size(), workers == 1 ? 1 : 40));
                assertThat(first)
                        .as("first deliveries of partition %s", partition)
                        .contains(begin);
                assertThat(offsets).allMatch(offset -> offset >= begin);
            });
        }

        @Override
        public void close() {
            try {
                process.destroyForcibly();
                lines.close();
                process.getOutputStream().close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
