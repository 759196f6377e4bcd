package io.settlestream.examples.deadletters;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code dead-letters show}. */
@Command(
        name = "show",
        sortOptions = false,
        usageHelpAutoWidth = true,
        description = "Shows all of one dead letter: its origin, headers, key, and value, as text or in hexadecimal.")
final class ShowCommand implements Callable<Integer> {

    private static final int MOST_VALUE_BYTES = 4096;
    private static final int LONGEST_LINE = 1000;

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec command;

    @Parameters(paramLabel = "PARTITION:OFFSET", description = "The dead letter, as list shows it.")
    @SuppressWarnings("NullAway.Init") // set by picocli
    private LetterId id;

    @Mixin
    private final ClusterOptions cluster = new ClusterOptions();

    @Option(names = "--all", description = "All of the value, not only its first " + MOST_VALUE_BYTES + " bytes.")
    private boolean all;

    @Override
    public Integer call() {
        try (Cluster kafka = cluster.cluster()) {
            DeadLetterTopic letters = DeadLetterTopic.of(kafka.topic(cluster.topic()));
            Replayed replayed = new Replayed(letters);
            List<DeadLetter> found = new ArrayList<>();
            try (LogReader log = kafka.reader()) {
                kafka.find(replayed.topic()).ifPresent(topic -> replayed.read(log, topic));
                letters.forEach(log, Selection.of(new TreeSet<>(List.of(id))), found::add);
            }
            if (found.isEmpty()) {
                throw new ToolException(
                        "There is no dead letter %s on %s, or no longer; list shows those that are there."
                                .formatted(id, cluster.topic()),
                        null);
            }
            PrintWriter out = command.commandLine().getOut();
            show(found.get(0), out);
            replayed.at(found.get(0).identity(letters.id())).ifPresent(at -> line(out, "replayed", at.toString()));
            value(found.get(0).record().value(), out);
            out.flush();
            return 0;
        }
    }

    private static void show(DeadLetter letter, PrintWriter out) {
        line(out, "id", letter.id().toString());
        line(out, "time", letter.time().toString());
        line(out, "origin", letter.copy().map(Lines::origin).orElse("unknown"));
        letter.copy().ifPresent(copy -> {
            line(out, "written", copy.timestamp().toString());
            line(out, "group", Printable.line(copy.group().orElse("none"), LONGEST_LINE));
            line(out, "attempts", Integer.toString(copy.attempts()));
        });
        if (!letter.reason().isEmpty()) {
            line(out, "reason", Printable.line(letter.reason(), LONGEST_LINE));
        }
        line(out, "key", Printable.bytes(letter.record().key(), LONGEST_LINE));
        letter.record()
                .headers()
                .forEach(header -> line(
                        out,
                        "header",
                        Printable.line(header.key(), LONGEST_LINE) + " = "
                                + Printable.bytes(header.value(), LONGEST_LINE)));
    }

    private void value(byte @Nullable [] value, PrintWriter out) {
        if (value == null) {
            line(out, "value", "null");
            return;
        }
        line(out, "value", "%,d bytes".formatted(value.length));
        int most = all ? value.length : Math.min(value.length, MOST_VALUE_BYTES);
        Optional<String> text = Printable.text(value);
        // The first bytes of a text may end within a character, so it is cut as a text; its bytes are no fewer.
        text.map(whole -> Printable.first(whole, most))
                .ifPresentOrElse(out::println, () -> HexDump.lines(value, most, out::println));
        if (most < value.length) {
            out.println("... --all shows all of it");
        }
    }

    private static void line(PrintWriter out, String name, String value) {
        out.println("%-9s %s".formatted(name, value));
    }
}
