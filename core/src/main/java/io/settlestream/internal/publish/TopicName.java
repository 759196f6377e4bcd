package io.settlestream.internal.publish;

import io.settlestream.PublishException;
import io.settlestream.PublishException.Reason;

/** Kafka's rules for the name of a topic. */
final class TopicName {

    private static final int MAX_LENGTH = 249;
    private static final int SHOWN = 60;

    private TopicName() {}

    static boolean isLegal(String topic) {
        if (topic.isEmpty() || topic.length() > MAX_LENGTH || topic.equals(".") || topic.equals("..")) {
            return false;
        }
        for (int i = 0; i < topic.length(); i++) {
            if (!isLegal(topic.charAt(i))) {
                return false;
            }
        }
        return true;
    }

    static void requireLegal(String topic) {
        if (!isLegal(topic)) {
            throw new PublishException(Reason.ILLEGAL_TOPIC, topic, illegal(topic), null);
        }
    }

    static String illegal(String topic) {
        return "'" + shown(topic) + "' is not a legal topic name: Kafka takes 1 to " + MAX_LENGTH
                + " of the characters a-z, A-Z, 0-9, '.', '_' and '-', and neither '.' nor '..' alone.";
    }

    /** The name as it may stand in a message: a name taken from data can be anything. */
    static String shown(String topic) {
        if (isLegal(topic)) {
            return topic;
        }
        StringBuilder shown = new StringBuilder();
        for (int i = 0; i < topic.length() && i < SHOWN; i++) {
            char c = topic.charAt(i);
            shown.append(isLegal(c) ? c : '?');
        }
        return topic.length() > SHOWN ? shown.append("...").toString() : shown.toString();
    }

    private static boolean isLegal(char c) {
        return (c >= 'a' && c <= 'z')
                || (c >= 'A' && c <= 'Z')
                || (c >= '0' && c <= '9')
                || c == '.'
                || c == '_'
                || c == '-';
    }
}
