package io.settlestream.examples.deadletters;

import java.io.PrintWriter;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.apache.kafka.clients.admin.TopicDescription;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code dead-letters replay}. */
@Command(
        name = "replay",
        sortOptions = false,
        usageHelpAutoWidth = true,
        description = {
            "Publishes dead letters to where they came from: key, value and headers as they were, without the framework's"
                    + " headers, with a timestamp of now; to their partition if it still exists, else by key.%n",
            "A letter is replayed once, however often the tool is called, killed, or run by two people at the same time:"
                    + " the topic TOPIC.replayed, which is created if it is missing, remembers it, and is written in the"
                    + " same transaction.%n"
        })
final class ReplayCommand implements Callable<Integer> {

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec command;

    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli
    private DeadLettersMain main;

    @Mixin
    private final ClusterOptions cluster = new ClusterOptions();

    @Mixin
    private final SelectionOptions selection = new SelectionOptions();

    @Option(names = "--all", description = "All dead letters of the topic; else say which.")
    private boolean all;

    @Option(
            names = "--to",
            paramLabel = "TOPIC",
            description = "Publish to this topic, by key, instead of where they came from.")
    private @Nullable String to;

    @Option(names = "--again", description = "Also those that were replayed before.")
    private boolean again;

    @Option(names = "--yes", description = "Ask nothing.")
    private boolean yes;

    @Option(names = "--dry-run", description = "Say what would be done, and do nothing.")
    private boolean dryRun;

    @Override
    public Integer call() {
        Selection selected = selection.selection();
        if (selected.everything() && !all) {
            throw wrong("Say which dead letters: --id, another option that chooses, or --all.");
        }
        try (Cluster kafka = cluster.cluster()) {
            DeadLetterTopic letters = DeadLetterTopic.of(kafka.topic(cluster.topic()));
            if (to != null) {
                kafka.topic(to);
            }
            PrintWriter out = command.commandLine().getOut();
            Replayed replayed = new Replayed(letters);
            Replay replay = new Replay(kafka, letters, replayed, new Targets(kafka, letters, replayed, to), again, out);
            Optional<TopicDescription> memory = kafka.find(replayed.topic());
            try (LogReader log = kafka.reader()) {
                memory.ifPresent(topic -> replayed.read(log, topic));
                replay.choose(log, selected);
                String question = question(replay, memory.isPresent(), replayed.topic());
                if (!dryRun
                        && asks(replay, memory.isPresent())
                        && !main.terminal().present()) {
                    throw wrong(question + " There is no terminal to answer this: --yes does.");
                }
                try {
                    if (dryRun) {
                        replay.tryOut(log);
                    } else if (!replay.chosen().isEmpty()) {
                        if (asks(replay, memory.isPresent()) && !main.terminal().agrees(question)) {
                            return CommandLine.ExitCode.SOFTWARE;
                        }
                        memory.ifPresent(topic -> checkMemory(kafka, topic.name()));
                        replay.run(log, memory.orElseGet(() -> kafka.createCompacted(replayed.topic())));
                    }
                } finally {
                    out.println(replay.summary(dryRun));
                    out.flush();
                }
            }
            return replay.complete() ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
        }
    }

    /** A topic that forgets would have letters replayed twice. */
    private static void checkMemory(Cluster kafka, String topic) {
        String policy = kafka.setting(topic, "cleanup.policy");
        if (!policy.equals("compact")) {
            throw new ToolException(
                    ("Topic %s remembers what was replayed, but its cleanup.policy is %s, so Kafka deletes from it: set it"
                                    + " to compact.")
                            .formatted(topic, policy),
                    null);
        }
    }

    /** Whether somebody has to agree: more than one letter is chosen, or a topic is to be created. */
    private boolean asks(Replay replay, boolean remembered) {
        int letters = replay.chosen().size();
        return !yes && letters > 0 && (letters > 1 || !remembered);
    }

    private static String question(Replay replay, boolean remembered, String memory) {
        int letters = replay.chosen().size();
        return (remembered ? "" : "Topic %s, which remembers what was replayed, will be created. ".formatted(memory))
                + "Replay %,d dead letter%s: %s?".formatted(letters, letters == 1 ? "" : "s", replay.destinations());
    }

    private ParameterException wrong(String message) {
        return new ParameterException(command.commandLine(), message);
    }
}
