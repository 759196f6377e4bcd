package io.settlestream.internal.config;

import java.util.Optional;

/** What Kafka accepts as the name of a topic or group. */
public final class KafkaNames {

    /** The longest topic name that Kafka accepts: a file name less the suffixes it appends. */
    private static final int MAX_TOPIC_LENGTH = 249;

    private KafkaNames() {}

    /** What is wrong with a topic's name, as a half sentence, or empty if Kafka accepts it. */
    public static Optional<String> topicMistake(String topic) {
        if (topic.isEmpty()) {
            return Optional.of("is empty");
        }
        if (topic.equals(".") || topic.equals("..")) {
            return Optional.of("is '.' or '..'");
        }
        if (topic.length() > MAX_TOPIC_LENGTH) {
            return Optional.of("has " + topic.length() + " characters and may have " + MAX_TOPIC_LENGTH);
        }
        for (int i = 0; i < topic.length(); i++) {
            if (!isLegalInTopic(topic.charAt(i))) {
                return Optional.of("has a character other than a-z, A-Z, 0-9, '.', '_' and '-' at index " + i);
            }
        }
        return Optional.empty();
    }

    /** What is wrong with a group's name, as a half sentence, or empty if it is usable. */
    public static Optional<String> groupMistake(String group) {
        if (group.isBlank()) {
            return Optional.of("is empty");
        }
        // The client trims what it is given, so such a name would be another group than the one that reports show.
        if (!group.equals(group.trim())) {
            return Optional.of("begins or ends with white space");
        }
        return Optional.empty();
    }

    private static boolean isLegalInTopic(char c) {
        return (c >= 'a' && c <= 'z')
                || (c >= 'A' && c <= 'Z')
                || (c >= '0' && c <= '9')
                || c == '.'
                || c == '_'
                || c == '-';
    }
}
