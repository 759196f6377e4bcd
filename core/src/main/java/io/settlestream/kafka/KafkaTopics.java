package io.settlestream.kafka;

import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Several topics read by one subscription, as one member of a consumer group: a list, or all that a pattern matches.
 *
 * <pre>{@code
 * KafkaTopics.of("payouts.eu", "payouts.us").commit(Commit.tracked())
 * KafkaTopics.matching(Pattern.compile("payouts\\..*")).commit(Commit.tracked())
 * }</pre>
 *
 * @since 0.1.0
 */
public final class KafkaTopics extends KafkaSource<KafkaTopics> {

    private final List<String> topics;
    private final @Nullable Pattern pattern;

    private KafkaTopics(List<String> topics, @Nullable Pattern pattern, SourceOptions options) {
        super(options);
        this.topics = topics;
        this.pattern = pattern;
    }

    /** Topics by their names. One that does not exist yet is joined when it appears; none is ever created. */
    public static KafkaTopics of(String... topics) {
        return of(List.of(topics));
    }

    /** Topics by their names. One that does not exist yet is joined when it appears; none is ever created. */
    public static KafkaTopics of(List<String> topics) {
        return new KafkaTopics(List.copyOf(topics), null, SourceOptions.NONE);
    }

    /**
     * All topics whose whole name a pattern matches, also those that appear later: a member looks for them every
     * {@code metadata.max.age.ms}, and they are read from their oldest record on. Kafka's internal topics are not among
     * them.
     */
    public static KafkaTopics matching(Pattern pattern) {
        return new KafkaTopics(List.of(), Objects.requireNonNull(pattern, "pattern"), SourceOptions.NONE);
    }

    @Override
    KafkaTopics with(SourceOptions options) {
        return new KafkaTopics(topics, pattern, options);
    }

    @Override
    public List<String> topics() {
        return topics;
    }

    /** The pattern, unless the topics are listed. */
    public Optional<Pattern> pattern() {
        return Optional.ofNullable(pattern);
    }

    @Override
    public boolean reads(String topic) {
        return pattern == null ? topics.contains(topic) : pattern.matcher(topic).matches();
    }

    @Override
    public String toString() {
        return "KafkaTopics[" + (pattern == null ? String.join(", ", topics) : pattern) + "]";
    }
}
