package io.settlestream.examples.payouts.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.settlestream.embedded.EmbeddedKafka;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import picocli.CommandLine;

@DisplayName("The demo")
@Timeout(120)
class PayoutsDemoIT {

    @Test
    @DisplayName("confirms every payout once and commits everything, run after run on one cluster")
    void plain() {
        try (EmbeddedKafka kafka = EmbeddedKafka.start()) {
            for (int run = 1; run <= 2; run++) {
                Outcome demo = demo(
                        "--payouts=1000", "--bank-delay=1", "--seed=" + run, "--bootstrap=" + kafka.bootstrapServers());

                assertThat(demo.exit).as(demo.output).isZero();
                assertThat(demo.result())
                        .as(demo.output)
                        .containsAllEntriesOf(Map.of(
                                "payouts", "1000",
                                "valid", "995",
                                "confirmed", "995",
                                "lost", "0",
                                "duplicates", "0",
                                "dropped", "5",
                                "kills", "0",
                                "committed", "end",
                                "lag", "0"));
                assertThat(demo.number("retried")).as(demo.output).isPositive();
            }
        }
    }

    @Test
    @DisplayName("loses nothing when the service is killed with half of the work committed")
    void kill() {
        Outcome demo = demo("--payouts=2000", "--kill=1", "--seed=7");

        assertThat(demo.exit).as(demo.output).isZero();
        assertThat(demo.result())
                .as(demo.output)
                .containsAllEntriesOf(Map.of("confirmed", "1990", "lost", "0", "kills", "1", "committed", "end"));
    }

    @Test
    @DisplayName("loses nothing when members come and go")
    void members() {
        Outcome demo = demo("--payouts=1000", "--bank-delay=10", "--members=2", "--partitions=4", "--seed=7");

        assertThat(demo.exit).as(demo.output).isZero();
        assertThat(demo.result())
                .as(demo.output)
                .containsAllEntriesOf(Map.of("confirmed", "995", "lost", "0", "committed", "end"));
        assertThat(demo.number("rebalances")).as(demo.output).isPositive();
        assertThat(demo.output).contains("joins", "leaves");
    }

    @Test
    @DisplayName("exits with 2 and says why when it is used wrongly")
    void wrongUsage() {
        for (String wrong :
                new String[] {"--payouts=0", "--kill=-1", "--members=none", "--bank-refusals=2", "--nothing"}) {
            Outcome demo = demo(wrong);

            assertThat(demo.exit).as(demo.output).isEqualTo(2);
            assertThat(demo.output)
                    .contains(wrong.substring(0, wrong.contains("=") ? wrong.indexOf('=') : wrong.length()));
        }
    }

    private record Outcome(int exit, String output) {

        /** The numbers of the last line. */
        Map<String, String> result() {
            String last = output.lines().reduce("", (before, line) -> line);
            assertThat(last).startsWith("RESULT ");
            Map<String, String> numbers = new HashMap<>();
            Arrays.stream(last.split(" ")).skip(1).map(pair -> pair.split("=")).forEach(p -> numbers.put(p[0], p[1]));
            return numbers;
        }

        long number(String name) {
            return Long.parseLong(result().get(name));
        }
    }

    private static Outcome demo(String... arguments) {
        StringWriter output = new StringWriter();
        PrintWriter writer = new PrintWriter(output, true);
        CommandLine commandLine =
                new CommandLine(new PayoutsDemo()).setOut(writer).setErr(writer);
        int exit = PayoutsDemo.execute(commandLine, arguments);
        return new Outcome(exit, output.toString());
    }
}
