package io.settlestream.internal.poll;

import io.settlestream.kafka.KafkaPartitions;
import io.settlestream.kafka.KafkaSource;
import io.settlestream.kafka.KafkaTopic;
import io.settlestream.kafka.KafkaTopics;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** What a subscription reads, as its consumer is told. */
public sealed interface Reading {

    /** In a subscription's name, which is part of those of its threads and clients. */
    int LONGEST_NAME = 100;

    /** What a source reads. */
    static Reading of(KafkaSource<?> source) {
        return switch (source) {
            case KafkaTopic topic -> new Topics(topic.topics());
            case KafkaTopics topics ->
                topics.pattern().<Reading>map(Matching::new).orElseGet(() -> new Topics(topics.topics()));
            case KafkaPartitions partitions -> new Partitions(partitions.topic(), partitions.partitions());
        };
    }

    /** How a subscription is called that is given no name. */
    String name();

    /** What it means that Kafka refuses a commit because the group has members; null if this reads as one of them. */
    default @Nullable String refusal(String group) {
        return null;
    }

    /** Whether records of a topic can come from here. */
    boolean reads(String topic);

    /** What is read of a retry topic next to this. */
    default Reading retried(String retryTopic) {
        return this instanceof Partitions(String topic, List<Integer> numbers)
                ? new Partitions(retryTopic, numbers)
                : new Topics(List.of(retryTopic));
    }

    /** Topics by their names, as a member of a group. */
    record Topics(List<String> topics) implements Reading {

        @Override
        public String name() {
            if (topics.isEmpty()) {
                return "topics"; // a mistake, and reported under this name
            }
            StringBuilder name = new StringBuilder();
            for (int i = 0; i < topics.size(); i++) {
                if (i > 0 && name.length() + 1 + topics.get(i).length() > LONGEST_NAME) {
                    return name.append('+')
                            .append(topics.size() - i)
                            .append("-more")
                            .toString();
                }
                name.append(i == 0 ? "" : "+").append(topics.get(i));
            }
            return name.toString();
        }

        @Override
        public boolean reads(String topic) {
            return topics.contains(topic);
        }

        /** These topics and one more. */
        List<String> and(String topic) {
            Set<String> all = new LinkedHashSet<>(topics);
            all.add(topic);
            return List.copyOf(all);
        }

        @Override
        public String toString() {
            return String.join(", ", topics);
        }
    }

    /** All topics whose whole name a pattern matches, as a member of a group. */
    record Matching(Pattern pattern) implements Reading {

        @Override
        public String name() {
            String text = pattern.pattern();
            if (text.isEmpty()) {
                return "topics"; // a mistake, and reported under this name
            }
            return text.length() <= LONGEST_NAME ? text : text.substring(0, LONGEST_NAME) + "...";
        }

        @Override
        public boolean reads(String topic) {
            return pattern.matcher(topic).matches();
        }

        /** Matches what this pattern does, and one more topic; the flags are those of the given pattern alone. */
        Pattern and(String topic) {
            int flags = pattern.flags();
            String text = pattern.pattern();
            if ((flags & Pattern.LITERAL) != 0) {
                text = Pattern.quote(text);
                flags &= ~Pattern.LITERAL;
            }
            // On a line of its own where a comment may have begun.
            String end = (flags & Pattern.COMMENTS) != 0 ? "\n)" : ")";
            return Pattern.compile("(?:" + text + end + "|(?-i:" + Pattern.quote(topic) + ")", flags);
        }

        /** Two patterns are the same if they are written the same. */
        @Override
        public boolean equals(Object other) {
            return other instanceof Matching(Pattern that)
                    && that.pattern().equals(pattern.pattern())
                    && that.flags() == pattern.flags();
        }

        @Override
        public int hashCode() {
            return Objects.hash(pattern.pattern(), pattern.flags());
        }

        @Override
        public String toString() {
            return pattern.pattern();
        }
    }

    /** Partitions of a topic by their numbers, without being a member of a group. */
    record Partitions(String topic, List<Integer> numbers) implements Reading {

        @Override
        public String name() {
            return topic;
        }

        @Override
        public boolean reads(String other) {
            return topic.equals(other);
        }

        @Override
        public String refusal(String group) {
            return "group " + group + " has members, and Kafka takes no commits of others to it. Give the partitions a"
                    + " group of their own with KafkaPartitions.group(...)";
        }

        /** The same partitions of a topic. */
        List<TopicPartition> of(String ofTopic) {
            List<TopicPartition> partitions = new ArrayList<>();
            numbers.forEach(number -> partitions.add(new TopicPartition(ofTopic, number)));
            return partitions;
        }

        @Override
        public String toString() {
            return of(topic).stream().map(TopicPartition::toString).collect(Collectors.joining(", "));
        }
    }
}
