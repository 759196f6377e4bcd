package io.settlestream.examples.deadletters;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

/** Which dead letters; mixed into the commands for several. */
final class SelectionOptions {

    @Spec(Target.MIXEE)
    @SuppressWarnings("NullAway.Init") // set by picocli
    private CommandSpec command;

    @Option(
            names = "--id",
            paramLabel = "PARTITION:OFFSET",
            description = "This dead letter, as list shows it. May be given several times.")
    private List<LetterId> ids = new ArrayList<>();

    @Option(names = "--partition", paramLabel = "P", description = "Those on this partition of the topic.")
    private @Nullable Integer partition;

    @Option(names = "--offset", paramLabel = "N", description = "The one at this offset of --partition.")
    private @Nullable Long offset;

    @Option(names = "--origin-topic", paramLabel = "TOPIC", description = "Those that came from this topic.")
    private @Nullable String originTopic;

    @Option(
            names = "--reason",
            paramLabel = "TEXT",
            description = "Those whose reason contains this, in upper or lower case.")
    private @Nullable String reason;

    @Option(names = "--group", paramLabel = "GROUP", description = "Those that this consumer group gave up.")
    private @Nullable String group;

    @Option(
            names = "--since",
            paramLabel = "TIME",
            description =
                    "Those that were given up then or later: 2026-11-30T16:00:00Z, 2026-11-30 (of UTC), or 30m, 2h,"
                            + " 7d for that long ago.")
    private @Nullable Instant since;

    @Option(names = "--until", paramLabel = "TIME", description = "Those that were given up before.")
    private @Nullable Instant until;

    @Option(
            names = "--limit",
            paramLabel = "N",
            description = "At most so many, in the order of partitions and offsets.")
    private @Nullable Integer limit;

    Selection selection() {
        check(limit == null || limit >= 1, "--limit must be 1 or more, but is " + limit);
        check(partition == null || partition >= 0, "--partition must be 0 or more, but is " + partition);
        check(offset == null || offset >= 0, "--offset must be 0 or more, but is " + offset);
        check(offset == null || partition != null, "--offset wants a --partition, as each partition counts its own");
        SortedSet<LetterId> chosen = new TreeSet<>(ids);
        if (partition != null && offset != null) {
            chosen.add(new LetterId(partition, offset));
        }
        return new Selection(
                chosen,
                partition == null || !chosen.isEmpty() ? OptionalInt.empty() : OptionalInt.of(partition),
                Optional.ofNullable(originTopic),
                Optional.ofNullable(reason),
                Optional.ofNullable(group),
                Optional.ofNullable(since),
                Optional.ofNullable(until),
                limit == null ? Integer.MAX_VALUE : limit);
    }

    private void check(boolean fits, String message) {
        if (!fits) {
            throw new ParameterException(command.commandLine(), message);
        }
    }
}
