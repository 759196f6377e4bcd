package io.settlestream.internal.publish;

import io.settlestream.PublishException;
import io.settlestream.PublishException.Reason;
import io.settlestream.internal.config.KafkaNames;
import java.util.Optional;
import java.util.regex.Pattern;

/** Names of topics as messages bring them: anything, as a message may take its topic from data. */
public final class TopicName {

    private static final Pattern OUT_OF_PLACE = Pattern.compile("[^a-zA-Z0-9._-]");
    /** As long as Kafka accepts them, so that a legal name is shown whole. */
    private static final int SHOWN = 249;

    private TopicName() {}

    static void requireLegal(String topic) {
        Optional<String> mistake = mistake(topic);
        if (mistake.isPresent()) {
            throw new PublishException(Reason.ILLEGAL_TOPIC, topic, mistake.get(), null);
        }
    }

    /** What is wrong with a name, as a sentence, or empty if Kafka accepts it. */
    public static Optional<String> mistake(String topic) {
        return KafkaNames.topicMistake(topic)
                .map(mistake ->
                        "the topic name '" + shown(topic) + "' " + mistake + ". Name a topic that Kafka can have.");
    }

    /** The name as it may stand in a message. */
    public static String shown(String topic) {
        String start = topic.length() <= SHOWN ? topic : topic.substring(0, SHOWN) + "...";
        return OUT_OF_PLACE.matcher(start).replaceAll("?");
    }
}
