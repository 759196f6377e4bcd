package io.settlestream.internal.runtime;

import io.settlestream.internal.config.ClientProperties;
import io.settlestream.kafka.KafkaPartitions;
import io.settlestream.kafka.KafkaSource;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.kafka.KafkaTopics;
import io.settlestream.kafka.StartOffset;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** What can be wrong with a source by itself; names of topics and groups are checked with the client's properties. */
final class SourceChecks {

    private SourceChecks() {}

    /**
     * Checks a source.
     *
     * @param group the source's own or the broker's default, if one applies
     * @param problems the report
     */
    static void check(String where, KafkaSource<?> source, Optional<String> group, List<String> problems) {
        switch (source) {
            case KafkaTopic topic -> requireGroup(where, source, group, problems);
            case KafkaTopics topics -> {
                checkTopics(where, topics, problems);
                requireGroup(where, source, group, problems);
            }
            case KafkaPartitions partitions -> {
                checkPartitions(where, partitions, problems);
                if (group.isEmpty()) {
                    checkStart(where, partitions, problems);
                }
            }
        }
    }

    private static void requireGroup(
            String where, KafkaSource<?> source, Optional<String> group, List<String> problems) {
        if (group.isEmpty()) {
            problems.add(where + ": no consumer group. Name one for it with " + ClientProperties.type(source)
                    + ".group(...), or one for all subscriptions of the broker with KafkaBroker.defaultGroup(...)");
        }
    }

    private static void checkTopics(String where, KafkaTopics topics, List<String> problems) {
        topics.pattern()
                .ifPresentOrElse(
                        pattern -> {
                            if (pattern.pattern().isEmpty()) {
                                problems.add(
                                        where + ": the pattern of KafkaTopics.matching(...) is empty and matches no"
                                                + " topic. Write one that matches whole names, such as payouts\\..*");
                            }
                        },
                        () -> {
                            if (topics.topics().isEmpty()) {
                                problems.add(where + ": KafkaTopics.of(...) names no topic. Name one or more, or say"
                                        + " which ones with KafkaTopics.matching(...)");
                            }
                        });
        repeated(topics.topics())
                .forEach(topic -> problems.add(
                        where + ": KafkaTopics.of(...) names topic " + topic + " more than once. Name it once"));
    }

    private static void checkPartitions(String where, KafkaPartitions source, List<String> problems) {
        if (source.partitions().isEmpty()) {
            problems.add(where + ": KafkaPartitions.of(...) names no partition of topic " + source.topic()
                    + ". Name one or more, or read all of them with KafkaTopic.of(...)");
        }
        source.partitions().stream()
                .filter(number -> number < 0)
                .distinct()
                .forEach(number -> problems.add(where + ": KafkaPartitions.of(...) names partition " + number
                        + " of topic " + source.topic() + ". Partitions are numbered from 0"));
        repeated(source.partitions())
                .forEach(number -> problems.add(where + ": KafkaPartitions.of(...) names partition " + number
                        + " of topic " + source.topic() + " more than once. Name it once"));
    }

    /** Where nothing is committed, every start needs another place to begin at, and the default would be a guess. */
    private static void checkStart(String where, KafkaPartitions source, List<String> problems) {
        Optional<StartOffset> start = source.startOffset();
        if (start.isPresent() && start.get() == StartOffset.COMMITTED) {
            problems.add(where + ": StartOffset.COMMITTED without a group, in which nothing is ever committed."
                    + " Name a group with KafkaPartitions.group(...), or start at EARLIEST or LATEST");
        } else if (start.isEmpty() && source.startAt().isEmpty()) {
            problems.add(
                    where + ": neither a group to go on in nor a place to start at. Choose one with"
                            + " KafkaPartitions.startOffset(...) or startAt(...), or name a group with KafkaPartitions.group(...);"
                            + " KafkaBroker.defaultGroup(...) does not apply to partitions that are read without being a member");
        }
    }

    private static <T> Set<T> repeated(List<T> all) {
        Set<T> seen = new LinkedHashSet<>();
        Set<T> repeated = new LinkedHashSet<>();
        for (T each : all) {
            if (!seen.add(each)) {
                repeated.add(each);
            }
        }
        return repeated;
    }
}
