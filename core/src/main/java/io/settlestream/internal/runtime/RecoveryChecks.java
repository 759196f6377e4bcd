package io.settlestream.internal.runtime;

import io.settlestream.DecodePolicy;
import io.settlestream.ExceptionPolicy;
import io.settlestream.internal.poll.Reading;
import io.settlestream.internal.publish.TopicName;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What startup can tell about how a subscription deals with records that cannot be handled.
 *
 * @param where the subscription, as the start of a sentence
 * @param options what its mount site has said
 * @param problems every mistake goes in here
 */
record RecoveryChecks(String where, MountOptions options, List<String> problems) {

    private static final String UNDER_AUTO =
            " under Commit.auto(), where nothing comes back. Use Commit.tracked(), or ";

    /** Under Auto: refuses what has records come back. */
    void nothingComesBack() {
        if (options.maxAttempts() != null) {
            problem("maxAttempts(" + options.maxAttempts() + ")" + UNDER_AUTO + "leave it out");
        }
        if (options.retryTopic() != null) {
            problem("retryTopic(" + TopicName.shown(options.retryTopic()) + ")" + UNDER_AUTO + "leave it out");
        }
        ExceptionPolicy said = options.saidOnException();
        if (ExceptionPolicy.RETRY.equals(said) || said instanceof ExceptionPolicy.RetryAfter) {
            problem("onException(" + said + ")" + UNDER_AUTO + "another policy");
        }
        if (DecodePolicy.RETRY.equals(options.saidOnDecodeFailure())) {
            problem("onDecodeFailure(RETRY)" + UNDER_AUTO + "another policy");
        }
    }

    /** Refuses policies that send records where there is no topic. */
    void policies() {
        if (options.deadLetter() != null) {
            return;
        }
        if (ExceptionPolicy.DEAD_LETTER.equals(options.saidOnException())) {
            problem("onException(DEAD_LETTER) without a dead-letter topic. Name one with deadLetter(...), or choose"
                    + " another policy");
        }
        if (DecodePolicy.DEAD_LETTER.equals(options.saidOnDecodeFailure())) {
            problem("onDecodeFailure(DEAD_LETTER) without a dead-letter topic. Name one with deadLetter(...), or choose"
                    + " another policy");
        }
    }

    /** Refuses topics that cannot be, or that would be read as what they are to be kept apart from. */
    void topics(Reading read) {
        String deadLetter = options.deadLetter();
        String retryTopic = options.retryTopic();
        if (deadLetter != null) {
            topic("deadLetter", deadLetter, read, "records that were given up would be handled again, without end");
        }
        if (retryTopic != null) {
            topic("retryTopic", retryTopic, read, "a copy that waits could not be told from a new record");
        }
        if (retryTopic != null && retryTopic.equals(deadLetter)) {
            problem("deadLetter and retryTopic are both " + TopicName.shown(retryTopic)
                    + ", so records that were given up would be handled again. Name two topics");
        }
    }

    /**
     * Refuses a topic that has dead letters of one subscription and retry copies of another, which would handle the dead
     * letters at once, or settle them unseen.
     *
     * @param name of this subscription
     * @param deadLetters topics by those who have named them so far, as {@code retryTopics}
     */
    void keptApart(String name, Map<String, String> deadLetters, Map<String, String> retryTopics) {
        String deadLetter = options.deadLetter();
        String retryTopic = options.retryTopic();
        if (deadLetter != null) {
            deadLetters.putIfAbsent(deadLetter, name);
            clash("deadLetter", deadLetter, name, "retryTopic", retryTopics.get(deadLetter));
        }
        if (retryTopic != null) {
            retryTopics.putIfAbsent(retryTopic, name);
            clash("retryTopic", retryTopic, name, "deadLetter", deadLetters.get(retryTopic));
        }
    }

    private void clash(String option, String topic, String name, String otherOption, @Nullable String other) {
        if (other != null && !other.equals(name)) {
            problem(option + "(" + TopicName.shown(topic) + ") is the " + otherOption + " of subscription " + other
                    + ", so records that were given up would be handled again or settled unseen. Name two topics");
        }
    }

    /** Without a group nothing is committed, so every start would handle what has ever been on the retry topic. */
    void noGroup() {
        if (options.retryTopic() != null) {
            problem("retryTopic(" + TopicName.shown(options.retryTopic())
                    + ") without a consumer group, so nobody would"
                    + " know which copies have been handled. Name a group with KafkaPartitions.group(...), or"
                    + " leave it out");
        }
    }

    private void topic(String option, String topic, Reading read, String why) {
        TopicName.mistake(topic).ifPresent(mistake -> problem(option + ": " + mistake));
        if (read.reads(topic)) {
            problem(option + "(" + TopicName.shown(topic) + ") is a topic that the subscription reads: " + why
                    + ". Name another topic");
        }
    }

    private void problem(String problem) {
        problems.add(where + ": " + problem);
    }
}
