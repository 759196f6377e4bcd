package io.settlestream.kafka;

import java.util.List;
import java.util.Objects;

/**
 * One topic to subscribe to, as a member of a consumer group.
 *
 * <pre>{@code
 * KafkaTopic.of("payouts").group("bank").commit(Commit.tracked()).startOffset(StartOffset.EARLIEST)
 * }</pre>
 *
 * @since 0.1.0
 */
public final class KafkaTopic extends KafkaSource<KafkaTopic> {

    private final String name;

    private KafkaTopic(String name, SourceOptions options) {
        super(options);
        this.name = name;
    }

    /** A topic by its name. A topic that does not exist yet is joined when it appears; it is never created. */
    public static KafkaTopic of(String name) {
        return new KafkaTopic(Objects.requireNonNull(name, "name"), SourceOptions.NONE);
    }

    @Override
    KafkaTopic with(SourceOptions options) {
        return new KafkaTopic(name, options);
    }

    /** The topic's name. */
    public String name() {
        return name;
    }

    @Override
    public List<String> topics() {
        return List.of(name);
    }

    @Override
    public String toString() {
        return "KafkaTopic[" + name + "]";
    }
}
