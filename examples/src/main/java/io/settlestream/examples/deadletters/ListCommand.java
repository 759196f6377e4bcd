package io.settlestream.examples.deadletters;

import java.io.PrintWriter;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code dead-letters list}. */
@Command(
        name = "list",
        sortOptions = false,
        usageHelpAutoWidth = true,
        description =
                "Lists dead letters, one a line: id, when it was given up, origin, attempts, group, reason, key, and"
                        + " when it was replayed. Values are not shown.")
final class ListCommand implements Callable<Integer> {

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec command;

    @Mixin
    private final ClusterOptions cluster = new ClusterOptions();

    @Mixin
    private final SelectionOptions selection = new SelectionOptions();

    @Option(names = "--not-replayed", description = "Only those that have not been replayed.")
    private boolean notReplayed;

    @Option(names = "--json", description = "A JSON object for each.")
    private boolean json;

    @Override
    public Integer call() {
        Selection selected = selection.selection();
        PrintWriter out = command.commandLine().getOut();
        Ansi ansi = command.commandLine().getColorScheme().ansi();
        int[] count = {0};
        try (Cluster kafka = cluster.cluster()) {
            DeadLetterTopic letters = DeadLetterTopic.of(kafka.topic(cluster.topic()));
            Replayed replayed = new Replayed(letters);
            try (LogReader log = kafka.reader()) {
                kafka.find(replayed.topic()).ifPresent(topic -> replayed.read(log, topic));
                letters.forEach(log, selected, letter -> {
                    Optional<Instant> at = replayed.at(letter.identity(letters.id()));
                    if (notReplayed && at.isPresent()) {
                        return false;
                    }
                    out.println(json ? Lines.json(letter, at) : Lines.text(letter, at, ansi));
                    count[0]++;
                    return true;
                });
            }
        }
        out.flush();
        if (count[0] == 0) {
            PrintWriter err = command.commandLine().getErr();
            err.println(
                    selected.everything() && !notReplayed
                            ? "There are no dead letters on " + cluster.topic() + "."
                            : "No dead letter on " + cluster.topic() + " is like that.");
            err.flush();
        }
        return 0;
    }
}
