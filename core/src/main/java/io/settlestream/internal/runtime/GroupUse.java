package io.settlestream.internal.runtime;

import io.settlestream.internal.config.ClientProperties;
import io.settlestream.internal.poll.Reading;
import io.settlestream.kafka.KafkaBroker;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * Which subscriptions of an application are in which group, over all its brokers: two that would take records from each
 * other, or whose commits a cluster would refuse, are a mistake.
 */
final class GroupUse {

    private final List<Used> used = new ArrayList<>();

    /** A subscription in a group; a broker is the same as another if its nodes are, in whatever order. */
    private record Used(Set<String> nodes, String group, String subscription, Reading source) {

        boolean sharesGroupWith(Used other) {
            return group.equals(other.group) && nodes.equals(other.nodes);
        }
    }

    /**
     * Notes that a subscription is in a group.
     *
     * @param problems the report, if it cannot be there next to those that were noted before
     */
    void add(
            String where,
            KafkaBroker broker,
            String group,
            String subscription,
            Reading source,
            List<String> problems) {
        Used now = new Used(Set.copyOf(ClientProperties.nodes(broker)), group, subscription, source);
        used.stream()
                .filter(now::sharesGroupWith)
                .map(other -> clash(now, other))
                .flatMap(Optional::stream)
                .findFirst()
                .ifPresent(mistake -> problems.add(where + ": " + mistake));
        used.add(now);
    }

    private static Optional<String> clash(Used now, Used other) {
        if (now.source instanceof Reading.Partitions mine) {
            return other.source instanceof Reading.Partitions theirs
                    ? overlap(mine, theirs)
                            .map(shared -> "partition " + shared + " is read in group " + now.group
                                    + " by subscription " + other.subscription
                                    + " already, and each would overwrite what the"
                                    + " other has committed. Give one of them another KafkaPartitions.group(...)")
                    : Optional.of(notBoth(now.group, "subscription " + other.subscription + " is a member of it"));
        }
        if (other.source instanceof Reading.Partitions) {
            return Optional.of(
                    notBoth(now.group, "subscription " + other.subscription + " commits to it without being a member"));
        }
        return shared(now.source, other.source)
                .map(shared -> shared + " is read in group " + now.group + " by subscription " + other.subscription
                        + " already, so each would get only a part of the records. Give one of them another"
                        + " KafkaTopic.group(...) to have both read all of them; or include one only, with workers(n),"
                        + " to have more handled at a time");
    }

    private static String notBoth(String group, String other) {
        return "KafkaPartitions and a member cannot share group " + group + ", as Kafka refuses commits of what is no"
                + " member to a group that has some, and " + other
                + ". Give the partitions a group of their own with KafkaPartitions.group(...)";
    }

    private static Optional<String> overlap(Reading.Partitions mine, Reading.Partitions theirs) {
        return mine.topic().equals(theirs.topic())
                ? mine.numbers().stream()
                        .filter(theirs.numbers()::contains)
                        .findFirst()
                        .map(number -> mine.topic() + "-" + number)
                : Optional.empty();
    }

    /** What two members both read, in words. Whether two different patterns match one name cannot be told in general. */
    private static Optional<String> shared(Reading mine, Reading theirs) {
        if (mine instanceof Reading.Topics(List<String> topics)) {
            return topics.stream().filter(theirs::reads).findFirst().map(topic -> "topic " + topic);
        }
        if (theirs instanceof Reading.Topics(List<String> topics)) {
            return topics.stream().filter(mine::reads).findFirst().map(topic -> "topic " + topic);
        }
        return Objects.equals(mine, theirs) ? Optional.of("pattern " + mine) : Optional.empty();
    }
}
