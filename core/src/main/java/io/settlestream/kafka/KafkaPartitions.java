package io.settlestream.kafka;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * Named partitions of one topic, read without being a member of a group: nobody takes them away, and nobody takes over
 * when this process is gone.
 *
 * <pre>{@code
 * KafkaPartitions.of("prices", 0, 1).startOffset(StartOffset.EARLIEST)
 * KafkaPartitions.of("payouts", 3).group("payouts-3").commit(Commit.tracked())
 * }</pre>
 *
 * <p>Without {@link #group} nothing is committed, every start begins at {@link #startOffset} or {@link #startAt}, and one of
 * them must be given. {@link KafkaBroker#defaultGroup} does not apply: offsets of partitions that are read like this cannot
 * be committed to a group that has members. With a group of their own they go on where they were.
 *
 * @since 0.1.0
 */
public final class KafkaPartitions extends KafkaSource<KafkaPartitions> {

    private final String topic;
    private final List<Integer> partitions;

    private KafkaPartitions(String topic, List<Integer> partitions, SourceOptions options) {
        super(options);
        this.topic = topic;
        this.partitions = partitions;
    }

    /** Partitions of a topic by their numbers. One that does not exist yet is joined when it appears. */
    public static KafkaPartitions of(String topic, int... partitions) {
        return new KafkaPartitions(
                Objects.requireNonNull(topic, "topic"),
                Arrays.stream(partitions).boxed().toList(),
                SourceOptions.NONE);
    }

    @Override
    KafkaPartitions with(SourceOptions options) {
        return new KafkaPartitions(topic, partitions, options);
    }

    /** The topic's name. */
    public String topic() {
        return topic;
    }

    /** The numbers of the partitions. */
    public List<Integer> partitions() {
        return partitions;
    }

    @Override
    public List<String> topics() {
        return List.of(topic);
    }

    @Override
    public String toString() {
        return "KafkaPartitions[" + topic + " " + partitions + "]";
    }
}
