package io.settlestream.examples.deadletters;

import java.time.Instant;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SortedSet;

/**
 * Which dead letters are meant; what is empty does not matter.
 *
 * @param ids these
 * @param partition those on this partition of the dead-letter topic
 * @param originTopic those from this topic
 * @param reason those whose reason contains this, in upper or lower case
 * @param group those that this consumer group gave up
 * @param since those that are no older
 * @param until those that are older
 * @param limit at most so many
 */
record Selection(
        SortedSet<LetterId> ids,
        OptionalInt partition,
        Optional<String> originTopic,
        Optional<String> reason,
        Optional<String> group,
        Optional<Instant> since,
        Optional<Instant> until,
        int limit) {

    /** These letters. */
    static Selection of(SortedSet<LetterId> ids) {
        return new Selection(
                ids,
                OptionalInt.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Integer.MAX_VALUE);
    }

    /** Whether nothing was said, but for how many at most. */
    boolean everything() {
        return ids.isEmpty()
                && partition.isEmpty()
                && originTopic.isEmpty()
                && reason.isEmpty()
                && group.isEmpty()
                && since.isEmpty()
                && until.isEmpty();
    }

    boolean includes(DeadLetter letter) {
        return (ids.isEmpty() || ids.contains(letter.id()))
                && originTopic.stream()
                        .allMatch(topic -> letter.copy()
                                .filter(copy -> copy.topic().equals(topic))
                                .isPresent())
                && group.stream()
                        .allMatch(name -> letter.copy()
                                .flatMap(copy -> copy.group())
                                .filter(name::equals)
                                .isPresent())
                && reason.stream()
                        .allMatch(text ->
                                letter.reason().toLowerCase(Locale.ROOT).contains(text.toLowerCase(Locale.ROOT)))
                && since.stream().noneMatch(time -> letter.time().isBefore(time))
                && until.stream().allMatch(time -> letter.time().isBefore(time));
    }
}
