package io.settlestream.examples.deadletters;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.Reader;
import java.nio.charset.Charset;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.common.KafkaException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** Lists, shows and replays dead letters. */
@Command(
        name = "dead-letters",
        sortOptions = false,
        usageHelpAutoWidth = true,
        subcommands = {ListCommand.class, ShowCommand.class, ReplayCommand.class},
        synopsisSubcommandLabel = "(list | show | replay)",
        description = "Lists the records on a dead-letter topic, shows them, and replays them to where they came from.",
        exitCodeListHeading = "%nExit codes%n",
        exitCodeList = {
            "0:done; of a replay: every letter that was meant is replayed, now or before",
            "1:something could not be replayed, is not there or was not agreed to, or Kafka did not do it",
            "2:wrong usage, or a question and nobody to answer it"
        })
public final class DeadLettersMain implements Runnable {

    private final Reader in;
    private boolean asks;
    private Path directory = Path.of("");

    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec command;

    @Option(names = "--help", usageHelp = true, description = "Show this help.")
    @SuppressWarnings("UnusedVariable") // picocli looks at the annotation alone
    private boolean help;

    private DeadLettersMain(Reader in) {
        this.in = in;
    }

    /** Exits as {@code --help} says. */
    public static void main(String[] args) {
        CommandLine line = commandLine(new InputStreamReader(System.in, Charset.defaultCharset()));
        System.exit(line.execute(args));
    }

    /** The tool, which writes where the command line is told to, and reads answers from {@code in}. */
    static CommandLine commandLine(Reader in) {
        return new CommandLine(new DeadLettersMain(in))
                .setColorScheme(CommandLine.Help.defaultColorScheme(Ansi.OFF))
                .registerConverter(Instant.class, new Moments(Clock.systemUTC()))
                .registerConverter(LetterId.class, DeadLettersMain::id)
                .setParameterExceptionHandler((wrong, parsed) -> {
                    say(
                            wrong.getCommandLine(),
                            // bin/dead-letters puts options of its own in front, so the place says nothing.
                            String.valueOf(wrong.getMessage())
                                            .replaceFirst("^(Unmatched arguments?) (?:at|from) index \\d+", "$1")
                                    + System.lineSeparator() + "--help shows all options.");
                    return CommandLine.ExitCode.USAGE;
                })
                .setExecutionExceptionHandler((exception, line, parsed) -> {
                    switch (exception) {
                        case ToolException told -> say(line, told.message());
                        case KafkaException kafka ->
                            say(line, "Kafka did not do what it was asked to: " + reasons(kafka));
                        default -> throw exception;
                    }
                    return CommandLine.ExitCode.SOFTWARE;
                });
    }

    @Option(names = "--colours", hidden = true, description = "The output is a terminal that shows colours.")
    void colours(boolean colours) {
        command.commandLine().setColorScheme(CommandLine.Help.defaultColorScheme(colours ? Ansi.ON : Ansi.OFF));
    }

    @Option(names = "--asks", hidden = true, description = "Somebody is there to answer questions.")
    void asks(boolean asks) {
        this.asks = asks;
    }

    @Option(names = "--directory", hidden = true, description = "What file names on the command line are relative to.")
    void directory(Path directory) {
        this.directory = directory;
    }

    /** A file that was named on the command line. */
    Path file(Path named) {
        return directory.resolve(named);
    }

    /** The one who called the tool. */
    Terminal terminal() {
        return new Terminal(asks, new BufferedReader(in), command.commandLine().getErr());
    }

    @Override
    public void run() {
        throw new CommandLine.ParameterException(command.commandLine(), "Say what to do: list, show or replay.");
    }

    private static LetterId id(String text) {
        try {
            return LetterId.parse(text);
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(e.getMessage());
        }
    }

    /** Kafka's clients tell what is wrong with a property, or a password, in the cause. */
    private static String reasons(Throwable error) {
        return Stream.iterate(error, Objects::nonNull, Throwable::getCause)
                .map(Throwable::toString)
                .collect(Collectors.joining(", because of "));
    }

    private static void say(CommandLine line, String message) {
        PrintWriter err = line.getErr();
        err.println(message);
        err.flush();
    }
}
