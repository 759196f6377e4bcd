package io.settlestream.examples.deadletters;

import io.settlestream.examples.deadletters.Targets.Target;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.producer.RecordMetadata;

/**
 * One replay. It goes over the dead letters twice: first to find out which ones it will be, so that somebody can be asked,
 * and then to publish them. In between it keeps their ids alone. For one thread.
 */
final class Replay {

    private final Cluster cluster;
    private final DeadLetterTopic letters;
    private final Replayed replayed;
    private final Targets targets;
    private final boolean again;
    private final PrintWriter out;

    private final SortedSet<LetterId> chosen = new TreeSet<>();
    private final SortedMap<String, Integer> chosenByTopic = new TreeMap<>();
    private int meant;
    private int done;
    private int before;
    private int failed;

    /**
     * Nothing is done yet.
     *
     * @param again whether letters that were replayed before are replayed once more
     * @param out is told what becomes of each letter
     */
    Replay(
            Cluster cluster,
            DeadLetterTopic letters,
            Replayed replayed,
            Targets targets,
            boolean again,
            PrintWriter out) {
        this.cluster = cluster;
        this.letters = letters;
        this.replayed = replayed;
        this.targets = targets;
        this.again = again;
        this.out = out;
    }

    /** Finds the letters that are to be replayed. */
    void choose(LogReader log, Selection selection) {
        SortedSet<LetterId> missing = new TreeSet<>(selection.ids());
        Set<String> identities = new HashSet<>();
        letters.forEach(log, selection, letter -> {
            missing.remove(letter.id());
            Optional<Target.Place> place = target(letter, identities);
            place.ifPresent(there -> {
                chosen.add(letter.id());
                chosenByTopic.merge(there.topic(), 1, Integer::sum);
            });
            return place.isPresent();
        });
        if (selection.limit() > chosen.size()) { // else they were not looked for
            missing.forEach(id -> fail(id, "there is no such dead letter, or another option excludes it"));
        }
        meant = chosen.size() + before + failed;
    }

    /** The letters that {@link #choose} found. */
    SortedSet<LetterId> chosen() {
        return chosen;
    }

    /** How many letters go to which topic, such as {@code 12 to charges, 1 to refunds}. */
    String destinations() {
        return chosenByTopic.entrySet().stream()
                .map(entry -> "%,d to %s".formatted(entry.getValue(), Printable.line(entry.getKey(), 249)))
                .collect(Collectors.joining(", "));
    }

    /** Says where each letter would go. */
    void tryOut(LogReader log) {
        Set<String> identities = new HashSet<>();
        letters.forEach(log, Selection.of(chosen), letter -> {
            target(letter, identities).ifPresent(place -> out.println(letter.id() + " would go to " + place));
            return false;
        });
    }

    /** Publishes the chosen letters, but for those that another run has replayed meanwhile. */
    void run(LogReader log, TopicDescription memory) {
        SortedSet<LetterId> missing = new TreeSet<>(chosen);
        Set<String> identities = new HashSet<>();
        try (Transactions transactions = Transactions.begin(cluster, replayed, listener())) {
            replayed.read(log, memory);
            letters.forEach(log, Selection.of(chosen), letter -> {
                missing.remove(letter.id());
                target(letter, identities)
                        .ifPresent(place ->
                                transactions.add(new Transactions.Item(letter, place, letter.identity(letters.id()))));
                return false;
            });
            transactions.commit();
        }
        missing.forEach(id -> fail(id, "it is no longer there"));
    }

    /** Where a letter goes; empty, and reported, if it is not to be replayed. */
    private Optional<Target.Place> target(DeadLetter letter, Set<String> identities) {
        String identity = letter.identity(letters.id());
        Optional<Instant> earlier = replayed.at(identity);
        if (!again && earlier.isPresent()) {
            return skip(letter.id(), "it was at " + earlier.get() + "; --again replays it once more");
        }
        return switch (targets.of(letter)) {
            case Target.Nowhere nowhere -> {
                fail(letter.id(), nowhere.reason());
                yield Optional.empty();
            }
            case Target.Place place -> {
                if (!identities.add(identity) && !again) {
                    yield skip(letter.id(), "another of these is the same record; --again replays both");
                }
                yield Optional.of(place);
            }
        };
    }

    private Optional<Target.Place> skip(LetterId id, String why) {
        before++;
        out.println(id + " not replayed: " + why);
        return Optional.empty();
    }

    private void fail(LetterId id, String why) {
        failed++;
        out.println(id + " not replayed: " + why);
    }

    /** Whether every letter that was meant is replayed, now or before. */
    boolean complete() {
        return failed == 0;
    }

    /** What became of the letters, or would, in one line. */
    String summary(boolean tried) {
        return "%s %,d of %,d dead letters (before: %,d, impossible: %,d)."
                .formatted(tried ? "Would replay" : "Replayed", tried ? chosen.size() : done, meant, before, failed);
    }

    private Transactions.Listener listener() {
        return new Transactions.Listener() {
            @Override
            public void replayed(Transactions.Item item, RecordMetadata written) {
                done++;
                out.println(item.letter().id() + " replayed to " + written);
            }

            @Override
            public void refused(Transactions.Item item, Throwable cause) {
                fail(item.letter().id(), item.place() + " does not take it: " + cause.getMessage());
            }
        };
    }
}
